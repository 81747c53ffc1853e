--- SIGINT and SIGTERM as something to look at between rows.
--
-- The signals are blocked and read from a signalfd: a handler in Lua could run at any instant,
-- and none is allowed inside LuaJIT's compiled code. To be made before threads start, so that
-- they inherit the mask.
local ffi = require "ffi"
local bit = require "bit"

ffi.cdef [[
int sigemptyset(void *set);
int sigaddset(void *set, int number);
int pthread_sigmask(int how, const void *set, void *old);
int signalfd(int fd, const void *mask, int flags);
int poll(void *fds, unsigned long count, int timeout_ms);
ssize_t read(int fd, void *out, size_t count);
int close(int fd);
]]

local C = ffi.C
local SIGINT, SIGTERM = 2, 15
local SIG_BLOCK, SIG_SETMASK = 0, 2
local SFD_FLAGS = bit.bor(0x80000, 0x800) -- close on exec, non-blocking
local POLLIN, EINTR = 1, 4
local INFO_BYTES = 128 -- a signalfd_siginfo; the signal's number is its first word

local sigset_t = ffi.typeof "struct { unsigned long bits[16]; }"
local pollfds_t = ffi.typeof "struct { int fd; short events; short revents; } [2]"
local info_t = ffi.typeof "uint32_t[32]"

local Interrupt = {}
Interrupt.__index = Interrupt

--- Looks whether a signal has come. Returns its number, from then on again each time, or nil.
function Interrupt:check()
  if self.fd >= 0 and C.read(self.fd, self.info, INFO_BYTES) == INFO_BYTES then
    self.signal = self.info[0]
    self.count = self.count + 1
  end
  return self.signal
end

--- Waits until `fd` can be read or a signal comes. False where one has come.
function Interrupt:wait(fd)
  local fds = self.fds
  fds[0].fd, fds[1].fd = fd, self.fd
  fds[0].events, fds[1].events = POLLIN, POLLIN
  repeat
    local ready = C.poll(fds, 2, -1)
  until ready >= 0 or ffi.errno() ~= EINTR
  return not self:check()
end

--- Sleeps for some seconds, or until a signal comes.
function Interrupt:pause(seconds)
  self.fds[0].fd, self.fds[0].events = self.fd, POLLIN
  C.poll(self.fds, 1, seconds * 1000)
end

--- Gives the signals back to what they did before.
function Interrupt:close()
  if self.fd < 0 then return end
  C.close(self.fd)
  self.fd = -1
  C.pthread_sigmask(SIG_SETMASK, self.before, nil)
end

--- Takes the two signals over. `count` says how many have come, `signal` which the last was.
return function()
  local set, before = sigset_t(), sigset_t()
  C.sigemptyset(set)
  C.sigaddset(set, SIGINT)
  C.sigaddset(set, SIGTERM)
  C.pthread_sigmask(SIG_BLOCK, set, before)
  return setmetatable({
    fd = C.signalfd(-1, set, SFD_FLAGS), before = before, count = 0, info = info_t(), fds = pollfds_t(),
  }, Interrupt)
end
