-- server: the ClickHouse servers that specs talk to, on free ports of the loopback.
--
--   local server = require "spec.support.server"
--   local s = server.chdb()              -- build/spec/chserver: ClickHouse 26.5 by libchdb
--   local s = server.clickhouse18()      -- Debian's clickhouse-server 18.16
--   s:query "SELECT 1" --> "1\n"         s.url, s.port, s.pid         s:stop()
--   local db = server.shared.chdb():database()   -- one server a process, one database a spec
--   db.name, db:query "CREATE TABLE t …"         db:drop()
--
-- A server has a folder of its own and ends with this process, however that ends.

local http = require "spec.support.http"
local process = require "spec.support.process"

local START_SECONDS, STOP_SECONDS = 60, 20

local server = { shared = {} }
local instance, database = {}, {}
instance.__index, database.__index = instance, database

-- ---- asking -------------------------------------------------------------------------------------

-- "Code: 60. DB::Exception: … (UNKNOWN_TABLE)", or 18.16's "Code: 60, e.displayText() = …".
local function read_exception(answer)
  local code = answer.headers["x-clickhouse-exception-code"]
  if answer.status ~= 200 then code = code or answer.body:match "^Code: (%d+)[.,]" end
  if not code then return end
  answer.code = tonumber(code)
  answer.name = answer.body:match ".*%(([A-Z][A-Z0-9_]+)%)"
end

local function http_options(self, sql, options)
  options = options or {}
  local params = {}
  for name, value in pairs(options.params or {}) do params[name] = value end
  local body = options.body
  if body then params.query = sql else body = sql end
  return {
    port = self.port, headers = options.headers, timeout = options.timeout,
    method = options.method, path = (options.path or "/") .. "?" .. http.query_string(params),
    body = options.method ~= "GET" and body or nil,
  }
end

--- Sends SQL without waiting; :finish() on what it returns gives what request would.
-- Throws where there is no connection.
function instance:start(sql, options)
  local started = assert(http.start(http_options(self, sql, options)))
  local pending = {}
  function pending.finish()
    local answer = assert(started:finish())
    read_exception(answer)
    return answer
  end
  return pending
end

--- Sends SQL: an answer with status, headers, body, and code and name where it is an exception.
-- options: body (the SQL goes to the URL then), params (the URL's: settings, param_…, database …),
-- headers, method, path, timeout (seconds). Throws where there is no answer.
function instance:request(sql, options)
  return self:start(sql, options):finish()
end

--- As request, but the body alone; throws on any other status than 200, or an exception.
function instance:query(sql, options)
  local answer = self:request(sql, options)
  if answer.status ~= 200 or answer.code then
    error(("HTTP %d for %s: %s"):format(answer.status, sql:sub(1, 200), answer.body:sub(1, 2000)), 2)
  end
  return answer.body
end

--- Waits for /ping; false where it does not come within `seconds` or the server ended.
function instance:ping(seconds)
  local deadline = process.now() + seconds
  repeat
    local answer = http.request { port = self.port, path = "/ping", timeout = 1 }
    if answer and answer.status == 200 and answer.body == "Ok.\n" then return true end
    if not self.child:alive() then return false end
    self.child:wait(0.01)
  until process.now() >= deadline
  return false
end

local names = 0

--- A fresh database, empty, with a name nobody else uses.
function instance:database()
  names = names + 1
  local name = ("spec_%d_%d_%d"):format(require("ffi").C.getpid(), names, math.random(1e9))
  self:query("CREATE DATABASE " .. name)
  return setmetatable({ server = self, name = name, url = self.url, port = self.port }, database)
end

local function within(self, options)
  local out, params = {}, { database = self.name }
  for key, value in pairs(options or {}) do out[key] = value end
  for key, value in pairs(out.params or {}) do params[key] = value end
  out.params = params
  return out
end

--- The server's start, request and query, inside this database.
function database:start(sql, options) return self.server:start(sql, within(self, options)) end
function database:request(sql, options) return self.server:request(sql, within(self, options)) end
function database:query(sql, options) return self.server:query(sql, within(self, options)) end

--- Drops it with all that is in it.
function database:drop()
  self.server:query("DROP DATABASE IF EXISTS " .. self.name)
end

-- ---- starting and stopping ----------------------------------------------------------------------

require("ffi").cdef "int getpid(void);"

local function read_file(path)
  local file = io.open(path, "rb")
  if not file then return "" end
  local text = file:read "*a"
  file:close()
  return text
end

local function write_file(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local function fail(self, what)
  self.stopped = true
  self.child:stop(0)
  local log = read_file(self.dir .. "/log"):sub(-4000)
  process.remove_dir(self.dir)
  return nil, ("%s\n%s"):format(what, log)
end

--- What the server has printed so far.
function instance:log()
  return read_file(self.dir .. "/log")
end

--- Ends the server and removes its folder. Throws where it did not end by itself, and cleanly.
function instance:stop()
  if self.stopped then return end
  self.stopped = true
  if not self.child:alive() and self.killed then return process.remove_dir(self.dir) end
  local code, killed = self.child:stop(STOP_SECONDS)
  local log = self:log():sub(-4000)
  process.remove_dir(self.dir)
  if killed then error(self.what .. " did not end in time\n" .. log, 2) end
  if code ~= 0 then error(("%s ended with %d\n%s"):format(self.what, code, log), 2) end
end

--- Ends it by SIGKILL, as a machine that dies would. The folder stays, for restart.
function instance:kill()
  self.killed = true
  self.child:kill(process.SIGKILL)
  assert(self.child:wait(STOP_SECONDS))
end

--- Starts it again with its folder and ports. Throws, with its log, where it does not come up.
function instance:restart()
  self.child = self.spawn(self)
  self.pid, self.killed = self.child.pid, nil
  if self:ping(START_SECONDS) then return end
  error(select(2, fail(self, self.what .. " does not come back")), 2)
end

-- What a sanitizer run preloads into this process is not for theirs.
local CLEAN = { LD_PRELOAD = false, PATH = os.getenv "PATH" .. ":/usr/sbin" }

-- One that nobody stopped, as where a script broke off, ends with the Lua state.
local function guard(self)
  local proxy = newproxy(true)
  getmetatable(proxy).__gc = function()
    if self.stopped then return end
    self.child:stop(0)
    process.remove_dir(self.dir)
  end
  return proxy
end

-- spawn(self): starts the process, again where there was one.
local function new(what, child, dir, port, spawn)
  local self = setmetatable({
    what = what, child = child, spawn = spawn, pid = child.pid, dir = dir, port = port,
    url = port and "http://127.0.0.1:" .. port,
  }, instance)
  self.guard = guard(self)
  return self
end

local function chserver_argv(dir, options)
  local program = (os.getenv "CHUTE_BUILD" or "build") .. "/spec/chserver"
  local argv = { program, "--path", dir .. "/data", "--exit-with-stdin" }
  local function add(flag, value)
    if value then argv[#argv + 1], argv[#argv + 2] = flag, value end
  end
  add("--libchdb", options.libchdb or os.getenv "CHUTE_LIBCHDB" or ".cache/chdb/libchdb.so")
  add("--port", options.port)
  add("--user", options.user)
  add("--password", options.password)
  add("--keep-alive", options.keep_alive)
  return argv
end

--- Starts ClickHouse 26.5 (libchdb behind the specs' own HTTP server).
-- options: user, password (demanded then), keep_alive (seconds; 30), port (any free one), libchdb
-- (path; else CHUTE_LIBCHDB, else .cache/chdb/libchdb.so). Throws, with its log, where it does not
-- come up.
function server.chdb(options)
  local dir = process.make_dir()
  local function spawn(self)
    local again = setmetatable({ port = self and self.port }, { __index = options })
    return process.spawn {
      argv = chserver_argv(dir, again), stdin = true, stdout = true, log = dir .. "/log",
      die_with_parent = true, env = CLEAN,
    }
  end
  local child = spawn()
  local self = new("chserver", child, dir, nil, spawn)
  local line, why = child:read_line(START_SECONDS)
  local port = line and tonumber(line:match "^listening (%d+)$")
  if not port then error(select(2, fail(self, "chserver does not listen: " .. (line or why))), 2) end
  self.port, self.url = port, "http://127.0.0.1:" .. port
  return self
end

local CONFIG_18 = [[
<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>%d</http_port>
  <tcp_port>%d</tcp_port>
  <interserver_http_port>%d</interserver_http_port>
  <path>%s/data/</path>
  <tmp_path>%s/tmp/</tmp_path>
  <users_config>%s/users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <mark_cache_size>268435456</mark_cache_size>
  <timezone>UTC</timezone>
  %s
</yandex>
]]

local USERS_18 = [[
<yandex>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users><default>
    <password></password><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota>
  </default></users>
</yandex>
]]

local function start_18(options)
  local dir = process.make_dir()
  local http_port, tcp_port, peer_port = http.free_port(), http.free_port(), http.free_port()
  write_file(dir .. "/config.xml",
    CONFIG_18:format(http_port, tcp_port, peer_port, dir, dir, dir, options.config or ""))
  write_file(dir .. "/users.xml", USERS_18)
  local function spawn()
    return process.spawn {
      argv = { "clickhouse-server", "--config-file=" .. dir .. "/config.xml" }, log = dir .. "/log",
      die_with_parent = true, env = CLEAN,
    }
  end
  local self = new("clickhouse-server 18.16", spawn(), dir, http_port, spawn)
  if self:ping(START_SECONDS) then return self end
  return fail(self, "clickhouse-server 18.16 does not answer")
end

--- Starts clickhouse-server 18.16. options: config (XML put into its configuration, such as
-- "<keep_alive_timeout>3</keep_alive_timeout>"). Throws, with its log, where it does not come up.
function server.clickhouse18(options)
  local self, why
  for _ = 1, 5 do -- a port that was free may be taken by now
    self, why = start_18(options or {})
    if self then return self end
  end
  error(why, 2)
end

-- ---- shared ones --------------------------------------------------------------------------------

-- busted reloads modules for each file, but not the registry.
local function shared_state()
  local registry = debug.getregistry()
  local state = registry["chute.spec.servers"]
  if state then return state end
  state = {}
  registry["chute.spec.servers"] = state
  local busted = package.loaded.busted
  if busted then
    busted.subscribe({ "exit" }, function()
      for _, running in pairs(state) do running:stop() end
      return nil, true
    end)
  end
  return state
end

local function share(name)
  server.shared[name] = function()
    local state = shared_state()
    if not state[name] or state[name].stopped then state[name] = server[name]() end
    return state[name]
  end
end

--- server.shared.chdb() and server.shared.clickhouse18(): one for all specs of a process, started
-- when first asked for and stopped at the end of the run. Never stop it; use :database().
share "chdb"
share "clickhouse18"

return server
