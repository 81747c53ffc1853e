-- process: children of a spec, by pid, with bounded waits.

local ffi = require "ffi"
local bit = require "bit"
local C = ffi.C

ffi.cdef [[
int posix_spawnp(int *pid, const char *file, const void *actions, const void *attributes,
                 char *const argv[], char *const envp[]);
int posix_spawn_file_actions_init(void *actions);
int posix_spawn_file_actions_destroy(void *actions);
int posix_spawn_file_actions_adddup2(void *actions, int fd, int as);
int posix_spawn_file_actions_addopen(void *actions, int fd, const char *path, int flags, unsigned mode);
int pipe2(int fds[2], int flags);
int close(int fd);
long read(int fd, void *to, size_t len);
int poll(void *fds, unsigned long count, int timeout_ms);
int kill(int pid, int signal);
int waitpid(int pid, int *status, int flags);
long syscall(long number, ...);
char *mkdtemp(char *template);
char *strerror(int number);
extern char **environ;
]]

local pollfd_t = ffi.typeof "struct { int fd; short events, revents; }[1]"
local argv_t = ffi.typeof "const char *[?]"
local int1_t = ffi.typeof "int[1]"
local int2_t = ffi.typeof "int[2]"
local bytes_t = ffi.typeof "char[?]"

local O_WRONLY, O_CREAT, O_APPEND, O_CLOEXEC = 1, 64, 1024, 0x80000
local EINTR, ESRCH, POLLIN, WNOHANG, SYS_PIDFD_OPEN = 4, 3, 1, 1, 434
local SIGKILL, SIGTERM = 9, 15

local process = { SIGKILL = SIGKILL, SIGTERM = SIGTERM, SIGSTOP = 19, SIGCONT = 18 }
local child = {}
child.__index = child

local function check(result, what)
  if result < 0 then error(what .. ": " .. ffi.string(C.strerror(ffi.errno())), 3) end
  return result
end

-- Seconds on a clock that never steps back.
local clock = {}
do
  local timespec_t = ffi.typeof "struct { long s, ns; }[1]"
  ffi.cdef "int clock_gettime(int clock, void *out);"
  function clock.now()
    local t = timespec_t()
    C.clock_gettime(1, t)
    return tonumber(t[0].s) + tonumber(t[0].ns) / 1e9
  end
end
process.now = clock.now

-- Waits until fd can be read or ended; false once `seconds` have passed.
local function readable(fd, seconds)
  local deadline = clock.now() + seconds
  repeat
    local fds = pollfd_t { { fd, POLLIN, 0 } }
    local got = C.poll(fds, 1, math.max(0, math.ceil((deadline - clock.now()) * 1000)))
    if got > 0 then return true end
    if got < 0 and ffi.errno() ~= EINTR then check(got, "poll") end
  until clock.now() >= deadline
  return false
end

local function pipe()
  local fds = int2_t()
  check(C.pipe2(fds, O_CLOEXEC), "pipe2")
  return fds[0], fds[1]
end

local function c_strings(list)
  local out = argv_t(#list + 1)
  for i, text in ipairs(list) do out[i - 1] = text end
  return out
end

-- The environment with `extra` over it, as "NAME=value" texts.
local function environment(extra)
  local out, at = {}, 0
  while C.environ[at] ~= nil do
    local text = ffi.string(C.environ[at])
    if extra[text:match "^([^=]*)="] == nil then out[#out + 1] = text end
    at = at + 1
  end
  for name, value in pairs(extra) do
    if value then out[#out + 1] = name .. "=" .. value end
  end
  return out
end

local function file_actions(stdin, stdout, log)
  local actions = bytes_t(512)
  C.posix_spawn_file_actions_init(actions)
  if stdin then C.posix_spawn_file_actions_adddup2(actions, stdin, 0)
  else C.posix_spawn_file_actions_addopen(actions, 0, "/dev/null", 0, 0) end
  if stdout then C.posix_spawn_file_actions_adddup2(actions, stdout, 1) end
  local flags = bit.bor(O_WRONLY, O_CREAT, O_APPEND)
  if log and not stdout then C.posix_spawn_file_actions_addopen(actions, 1, log, flags, 384) end
  if log then C.posix_spawn_file_actions_addopen(actions, 2, log, flags, 384) end
  return actions
end

local function reap(holder)
  C.kill(holder[0], SIGKILL)
  C.waitpid(holder[0], nil, 0)
end

--- Starts a program.
-- options: argv (list; found in PATH), stdin and stdout (true: a pipe held here, which ends with
-- this process), log (path: where stderr goes, and stdout where that is no pipe), env (name → value,
-- or false to unset), die_with_parent (true: SIGKILLed when this process ends, however it ends).
-- Throws where it cannot be started. A child left to the collector is killed.
function process.spawn(options)
  local argv = {}
  if options.die_with_parent then argv = { "setpriv", "--pdeathsig", "KILL", "--" } end
  for _, arg in ipairs(options.argv) do argv[#argv + 1] = tostring(arg) end
  local env = environment(options.env or {})
  local in_read, in_write, out_read, out_write
  if options.stdin then in_read, in_write = pipe() end
  if options.stdout then out_read, out_write = pipe() end
  local actions = file_actions(in_read, out_write, options.log)
  local pid = int1_t()
  local failed = C.posix_spawnp(pid, argv[1], actions, nil, ffi.cast("char *const *", c_strings(argv)),
    ffi.cast("char *const *", c_strings(env)))
  C.posix_spawn_file_actions_destroy(actions)
  if in_read then C.close(in_read) end
  if out_write then C.close(out_write) end
  local self = setmetatable({ pid = pid[0], stdin = in_write, stdout = out_read, pending = "" }, child)
  if failed ~= 0 then
    self:close()
    error(argv[1] .. ": " .. ffi.string(C.strerror(failed)), 2)
  end
  self.holder = ffi.gc(int1_t(pid[0]), reap)
  return self
end

--- The next line of its stdout, without the newline; nil and "timeout" or "end".
function child:read_line(seconds)
  local deadline = clock.now() + seconds
  while true do
    local line, rest = self.pending:match "^([^\n]*)\n(.*)$"
    if line then
      self.pending = rest
      return line
    end
    if not readable(self.stdout, math.max(0, deadline - clock.now())) then return nil, "timeout" end
    local bytes = bytes_t(4096)
    local got = tonumber(check(C.read(self.stdout, bytes, 4096), "read"))
    if got == 0 then return nil, "end" end
    self.pending = self.pending .. ffi.string(bytes, got)
  end
end

--- Sends a signal (a number; process.SIGTERM …). False where the child has been waited for.
function child:kill(signal)
  if self.code then return false end
  check(C.kill(self.pid, signal), "kill")
  return true
end

local function take_status(self, status)
  local signal = bit.band(status, 0x7f)
  self.code = signal == 0 and bit.band(bit.rshift(status, 8), 0xff) or 128 + signal
  ffi.gc(self.holder, nil)
  self:close()
end

-- Waits for the end of any process; false where it is still there after `seconds`.
local function await_end(pid, seconds)
  local fd = tonumber(C.syscall(SYS_PIDFD_OPEN, ffi.cast("long", pid), ffi.cast("long", 0)))
  if fd < 0 and ffi.errno() == ESRCH then return true end
  local ended = readable(check(fd, "pidfd_open"), seconds)
  C.close(fd)
  return ended
end
process.await_end = await_end

--- Waits for its end: the exit code (128 + signal where one ended it), or nil and "timeout".
function child:wait(seconds)
  if self.code then return self.code end
  if not await_end(self.pid, seconds) then return nil, "timeout" end
  local status = int1_t()
  check(C.waitpid(self.pid, status, 0), "waitpid")
  take_status(self, status[0])
  return self.code
end

--- Whether it still runs.
function child:alive()
  if self.code then return false end
  local status = int1_t()
  if C.waitpid(self.pid, status, WNOHANG) == 0 then return true end
  take_status(self, status[0])
  return false
end

--- Closes the pipes. The child goes on unless it minds.
function child:close()
  if self.stdin then C.close(self.stdin) end
  if self.stdout then C.close(self.stdout) end
  self.stdin, self.stdout = nil, nil
end

--- Ends it by SIGTERM, or after `seconds` (5) by SIGKILL: its exit code, and whether it had to be
-- killed.
function child:stop(seconds)
  if self.code then return self.code, false end
  self:kill(SIGTERM)
  local code = self:wait(seconds or 5)
  if code then return code, false end
  self:kill(SIGKILL)
  return assert(self:wait(5)), true
end

--- Runs a program to its end, at most `options.timeout` (30) seconds: its exit code, or an error.
function process.run(options)
  local self = process.spawn(options)
  local code = self:wait(options.timeout or 30)
  if code then return code end
  self:stop(0)
  error(options.argv[1] .. " did not end in time", 2)
end

--- Makes a folder that is nobody else's.
function process.make_dir()
  local path = (os.getenv "TMPDIR" or "/tmp") .. "/chute-spec-XXXXXX"
  local template = bytes_t(#path + 1, path)
  if C.mkdtemp(template) == nil then check(-1, path) end
  return ffi.string(template)
end

--- Removes a folder and what is in it.
function process.remove_dir(path)
  local argv = { "rm", "-rf", "--", path }
  assert(process.run { argv = argv, env = { LD_PRELOAD = false }, timeout = 120 } == 0, "cannot remove " .. path)
end

return process
