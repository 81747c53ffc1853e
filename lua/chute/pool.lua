--- Pools: connections to a destination, and the threads that serve them.
local access = require "chute.access"
local errors = require "chute.errors"
local lib = require "chute.lib"
local options = require "chute.options"
local query = require "chute.query"
local sql_text = require "chute.sql"
local C, ffi = lib.C, lib.ffi

local M = {}

local Pool = {}
Pool.__index = Pool

local TIMEOUT_MS = 300000
local STRATEGIES = { round_robin = C.CHUTE_HOSTS_ROUND_ROBIN, random = C.CHUTE_HOSTS_RANDOM,
  in_order = C.CHUTE_HOSTS_IN_ORDER, least_busy = C.CHUTE_HOSTS_LEAST_BUSY }
local REASONS = { network = C.CHUTE_RETRY_NETWORK, timeout = C.CHUTE_RETRY_TIMEOUT,
  busy = C.CHUTE_RETRY_BUSY, server = C.CHUTE_RETRY_SERVER }
local KEYS = { url = true, strategy = true, size = true, compressors = true, timeout = true,
  libchdb = true }
for name in pairs(access.KEYS) do KEYS[name] = true end
local INSERT_KEYS = { table = true, settings = true, compress = true, headers = true,
  timeout = true, sql = true }
local raw = errors.raw

local function fail(message, ...) error("chute: " .. message:format(...), 0) end

-- ---- opening --------------------------------------------------------------------------------

--- The addresses as a C array that borrows their texts, and how many.
local function read_urls(url)
  local urls = type(url) == "table" and url or { url }
  if #urls == 0 then fail "url must be text such as \"http://localhost:8123\", or a list" end
  local array = ffi.new("const char *[?]", #urls)
  for i, one in ipairs(urls) do
    if type(one) ~= "string" then fail "url must be text such as \"http://localhost:8123\", or a list" end
    array[i - 1] = options.c_text(one, "url")
  end
  return array, #urls
end

local function read_strategy(value)
  if value == nil then return C.CHUTE_HOSTS_ROUND_ROBIN end
  return STRATEGIES[value]
    or fail("strategy %q is none of round_robin, random, in_order, least_busy", tostring(value))
end

local function read_count(value, name)
  if value == nil then return 0 end
  if type(value) ~= "number" or value % 1 ~= 0 or value < 1 or value > 1024 then
    fail("%s must be a whole number from 1 to 1024, not %s", name, tostring(value))
  end
  return value
end

local function open(opts)
  if type(opts) ~= "table" then fail "a pool takes a table of options" end
  for key in pairs(opts) do
    if not KEYS[key] then fail("a pool has no option %s", tostring(key)) end
  end
  local config = ffi.new "chute_pool_config"
  local urls, count = read_urls(opts.url)
  config.urls, config.urls_count = urls, count
  config.strategy = read_strategy(opts.strategy)
  config.libchdb = opts.libchdb ~= nil and options.c_text(opts.libchdb, "libchdb") or nil
  local held = {}
  access.read(config, opts, held)
  config.size = read_count(opts.size, "size")
  config.compressors = read_count(opts.compressors, "compressors")
  local timeout_ms = opts.timeout and options.duration(opts.timeout, "timeout") or TIMEOUT_MS
  config.timeout_ms = timeout_ms
  local ptr = C.chute_pool_open(config, raw)
  held[1] = nil -- till here it kept texts alive
  if ptr == nil then fail("%s", ffi.string(raw[0].message)) end
  return setmetatable({ ptr = ffi.gc(ptr, C.chute_pool_close), timeout_ms = timeout_ms,
    streams = setmetatable({}, { __mode = "k" }) }, Pool)
end

--- Opens a pool; nothing is sent yet. opts: url ("http://host:8123", "https://…", "chdb:PATH",
-- "file:DIR"; or a list of http and https ones, the replicas that a batch may go to), strategy (which
-- of them is next: "round_robin" unless given, "random", "in_order", "least_busy"), size
-- (connections, 4), compressors (threads, 1), timeout (of a whole request, 5m),
-- libchdb (path of libchdb.so), and how to come there: connect_timeout (5s), stall_timeout (30s in
-- which no byte of a body can be sent), user, password, database, auth ("headers", "basic",
-- "bearer"), token, tls ({ ca, cert, key, server_name, verify }), proxy, unix, roles, settings: see
-- docs/http.md. Throws at the caller's level where an option is wrong or the destination cannot be
-- opened.
function M.open(opts, level)
  local ok, pool = pcall(open, opts)
  if not ok then errors.throw((tostring(pool):gsub("^chute: ", "")), (level or 1) + 1) end
  return pool
end

--- Whether it is a pool, and open.
function M.is(value) return getmetatable(value) == Pool and value.ptr ~= nil end

-- ---- using ----------------------------------------------------------------------------------

local function closed() return nil, errors.new("closed", "the pool is closed") end

--- Sends a statement and waits for its outcome: see chute.query for opts. A result; or nil, err.
function Pool:query(sql, opts, level)
  if not self.ptr then return closed() end
  local answer, err = query.send(self.ptr, self.timeout_ms, sql, opts, (level or 1) + 1)
  return answer, err -- no tail call: it would take the caller's level away
end

--- Sends a statement and does not wait: a request, with :done(), :result() and :cancel(). Or nil, err.
function Pool:request(sql, opts, level)
  if not self.ptr then return closed() end
  local request, err = query.start(self.ptr, self.timeout_ms, sql, opts, (level or 1) + 1)
  return request, err
end

local function insert_options(buf, opts)
  local given = {}
  for key, value in pairs(opts or {}) do
    if not INSERT_KEYS[key] then fail("insert has no option %s", tostring(key)) end
    given[key] = value
  end
  local name = given.table or buf.schema.table
  given.table, given.compress = nil, given.compress or "zstd"
  if type(name) ~= "string" then fail "insert needs a table: opts.table, or the schema's" end
  if buf.schema.json_text then
    local settings = {}
    for key, value in pairs(given.settings or {}) do settings[key] = value end
    settings.input_format_binary_read_json_as_string = 1
    given.settings = settings
  end
  local sql = sql_text.insert(name, buf.schema.names, buf.schema.format)
  if not sql then fail("%q is no table name", name) end
  return sql, given
end

--- Inserts the rows of a buffer and waits for the acknowledgement; the buffer stays as it was.
-- opts: table (the schema's unless given), settings, compress ("zstd" unless given), headers,
-- timeout, sql ("body"). A result; or nil, err. Throws on wrong arguments.
function Pool:insert(buf, opts)
  if not require("chute.buffer").is(buf) then errors.throw("insert takes a buffer", 2) end
  local ok, sql, given = pcall(insert_options, buf, opts)
  if not ok then errors.throw((tostring(sql):gsub("^chute: ", "")), 2) end
  if not self.ptr then return closed() end
  local answer, err = query.send_rows(self.ptr, self.timeout_ms, sql, buf.ptr, given, 2)
  return answer, err
end

--- Asks whether the server answers. true; or nil, err.
function Pool:ping()
  if not self.ptr then return closed() end
  return query.ping(self.ptr, self.timeout_ms)
end

-- A chute_histogram: count, seconds (all together), up_to[i] (how many took at most bounds[i] seconds).
local function histogram(of)
  local out = { count = tonumber(of.count), seconds = tonumber(of.total_ms) / 1000, bounds = {},
    up_to = {} }
  for i = 1, C.CHUTE_TIME_BUCKETS do
    out.bounds[i], out.up_to[i] = 4 ^ (i - 1) / 1000, tonumber(of.up_to[i - 1])
  end
  return out
end

--- Counters: retries (attempts to deliver a batch that were repeated, by reason: network, timeout,
-- busy, server), hosts_up, hosts, a list of { place, up, in_flight, sent, failed }, requests (attempts
-- over: query and insert, each { ok, failed }), bytes_raw and bytes_sent (of bodies taken, before and
-- after compression), and histograms of times: wait (for being sent), compress, send (to the outcome).
function Pool:stats()
  if not self.ptr then return closed() end
  local pool_stats, host = ffi.new "chute_pool_stats", ffi.new "chute_host_stats"
  C.chute_pool_stats_read(self.ptr, pool_stats)
  local out = { retries = {}, hosts = {}, hosts_up = pool_stats.hosts_up }
  local requests = pool_stats.requests
  out.requests = {
    query = { ok = tonumber(requests[C.CHUTE_METER_QUERY_OK]),
      failed = tonumber(requests[C.CHUTE_METER_QUERY_FAILED]) },
    insert = { ok = tonumber(requests[C.CHUTE_METER_INSERT_OK]),
      failed = tonumber(requests[C.CHUTE_METER_INSERT_FAILED]) },
  }
  out.bytes_raw, out.bytes_sent = tonumber(pool_stats.bytes_raw), tonumber(pool_stats.bytes_sent)
  for _, name in ipairs { "wait", "compress", "send" } do out[name] = histogram(pool_stats[name]) end
  for name, at in pairs(REASONS) do out.retries[name] = tonumber(pool_stats.retries[at]) end
  for i = 1, pool_stats.hosts do
    C.chute_pool_host_stats(self.ptr, i - 1, host)
    out.hosts[i] = { place = ffi.string(host.place), up = host.up == 1, in_flight = host.in_flight,
      sent = tonumber(host.sent), failed = tonumber(host.failed) }
  end
  return out
end

--- The batches that its streams keep because they could not be delivered: see stream:parked().
function Pool:parked()
  local all = {}
  for stream in pairs(self.streams) do
    for _, batch in ipairs(stream:parked()) do all[#all + 1] = batch end
  end
  return all
end

local SERVER_QUESTION = [[SELECT version(), timezone(), max(value)
  FROM system.settings WHERE name = 'async_insert' FORMAT TabSeparated]]

--- What a server of the pool says of itself: { version, timezone, async_insert } (the last: its
-- default, true or false; nil where it knows no such setting). Asked once. Or nil, err.
function Pool:server()
  if not self.ptr then return closed() end
  if self.told then return self.told end
  local answer, err = query.send(self.ptr, self.timeout_ms, SERVER_QUESTION, nil, 2)
  if not answer then return nil, err end
  local version, zone, async = answer.body:match "^([^\t]*)\t([^\t]*)\t([^\n]*)\n"
  self.told = { version = version, timezone = zone }
  if async and async ~= "" then self.told.async_insert = async == "1" end
  return self.told
end

--- Closes the pool; streams that share it keep it going for themselves. Later calls find it
-- closed. Always true.
function Pool:close()
  local ptr = self.ptr
  if ptr then
    self.ptr = nil
    C.chute_pool_close(ffi.gc(ptr, nil))
  end
  return true
end

Pool.__tostring = function(self) return self.ptr and "chute.pool" or "chute.pool: closed" end

return M
