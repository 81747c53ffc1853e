-- replicated: two clickhouse-server 18.16 that replicate each other's tables, and Debian's ZooKeeper.
--
--   local replicated = require "spec.support.replicated"
--   local r = replicated.start()
--   local a, b = r.servers[1], r.servers[2]              -- as spec.support.server's
--   r:create "t (n UInt64) ORDER BY n"                   -- on both
--   b:kill()  …  b:restart()  r:sync "t"  r:stop()
--
-- Wants the packages libzookeeper-java and default-jre-headless; nothing of them runs by itself.

local http = require "spec.support.http"
local process = require "spec.support.process"
local server = require "spec.support.server"

local START_SECONDS = 30

local replicated = {}
local set = {}
set.__index = set

-- ---- ZooKeeper ----------------------------------------------------------------------------------

-- Sessions of a killed server end after at most 20 ticks, so they are short.
local ZOO_CFG = [[
tickTime=200
dataDir=%s/zookeeper
clientPort=%d
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=srvr
]]

-- It listens before it serves, and says so to srvr: until then it hangs up on clients.
local function answers(child, port)
  local deadline = process.now() + START_SECONDS
  repeat
    if (http.talk(port, "srvr", 1) or ""):find("Mode:", 1, true) then return true end
    child:wait(0.02)
  until not child:alive() or process.now() > deadline
  return false
end

local function start_zookeeper(dir)
  local port = http.free_port()
  local config = dir .. "/zoo.cfg"
  local file = assert(io.open(config, "w"))
  file:write(ZOO_CFG:format(dir, port))
  file:close()
  local child = process.spawn {
    argv = {
      "java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", "/usr/share/java/zookeeper.jar",
      "org.apache.zookeeper.server.ZooKeeperServerMain", config,
    },
    log = dir .. "/log", die_with_parent = true, env = { LD_PRELOAD = false },
  }
  return child, port
end

-- ---- the servers --------------------------------------------------------------------------------

local CONFIG = [[
  <zookeeper>
    <node><host>127.0.0.1</host><port>%d</port></node>
    <session_timeout_ms>2000</session_timeout_ms>
  </zookeeper>
  <macros><replica>%d</replica></macros>
  <interserver_http_host>127.0.0.1</interserver_http_host>
  <keep_alive_timeout>3</keep_alive_timeout>
]]

local function read_log(dir)
  local file = io.open(dir .. "/log", "rb")
  if not file then return "" end
  local text = file:read "*a"
  file:close()
  return text
end

--- Starts ZooKeeper and two servers: an object with servers (two of spec.support.server's) and zookeeper
-- ({ port, child }). Throws, with ZooKeeper's log, where it does not come up.
function replicated.start()
  local dir = process.make_dir()
  local child, port = start_zookeeper(dir)
  local self = setmetatable({ dir = dir, servers = {}, zookeeper = { child = child, port = port } }, set)
  if not answers(child, port) then
    local log = read_log(dir)
    self:stop()
    error("ZooKeeper does not answer\n" .. log, 2)
  end
  for i = 1, 2 do self.servers[i] = server.clickhouse18 { config = CONFIG:format(port, i) } end
  return self
end

--- Creates a table on both: "NAME (columns) ORDER BY …", with a window of `window` blocks (100) in
-- which a block inserted again is dropped.
function set:create(definition, window)
  local name, columns, rest = definition:match "^(%S+)%s*(%b())%s*(.*)$"
  for _, each in ipairs(self.servers) do
    each:query(("CREATE TABLE %s %s ENGINE = ReplicatedMergeTree('/tables/%s', '{replica}') %s %s"):format(
      name, columns, name, rest, "SETTINGS replicated_deduplication_window = " .. (window or 100)))
  end
end

--- Waits until both have all of a table's rows.
function set:sync(name)
  for _, each in ipairs(self.servers) do each:query("SYSTEM SYNC REPLICA " .. name, { timeout = 60 }) end
end

--- Ends all of it.
function set:stop()
  if self.stopped then return end
  self.stopped = true
  for _, each in ipairs(self.servers) do each:stop() end
  self.zookeeper.child:stop()
  process.remove_dir(self.dir)
end

return replicated
