--- Streams: what a program inserts into.
local errors = require "chute.errors"
local lib = require "chute.lib"
local options = require "chute.options"
local policy = require "chute.policy"
local pool = require "chute.pool"
local schema = require "chute.schema"
local shards = require "chute.shards"
local C, ffi = lib.C, lib.ffi
local FILTERED = require("chute.filler").FILTERED

local M = {}

local Stream = {}
Stream.__index = Stream

local CLOSE_MS = 5000
local FOREVER_MS = 0xFFFFFFFF
local raw = errors.raw
local open_batch = ffi.new "chute_stream_open_batch[1]"
local stats = ffi.new "chute_stream_stats[1]"
local STATS = { "offered", "accepted", "rejected", "filtered", "refused", "acked", "dropped",
  "parked", "pending", "open_rows", "batches_sealed", "batches_acked", "batches_parked",
  "batches_in_flight", "pending_bytes", "bytes_raw", "bytes_sent", "retries",
  "recovered", "unspooled" }
local DURABILITY = { process = 0, fsync = 1 }
local OVERFLOW_BLOCK = C.CHUTE_OVERFLOW_BLOCK

-- ---- opening --------------------------------------------------------------------------------

-- What open takes besides policy and what a pool takes.
local OWN = { schema = true, pool = true, table = true, spool = true, spool_fallback = true,
  durability = true }

local function fail(message, ...) error({ open = message:format(...) }, 0) end

local function find_schema(of, level)
  if of == nil then errors.throw("open needs a schema: a path, a definition or a schema", level) end
  local own = (type(of) == "string" and schema.load or schema.new)(of, level)
  return own -- no tail call: it would take the caller's level away
end

local function split_options(opts)
  local for_pool, for_policy = {}, {}
  for key, value in pairs(opts) do
    if policy.KEYS[key] then
      for_policy[key] = value
    elseif not OWN[key] then
      for_pool[key] = value
    end
  end
  return for_pool, for_policy
end

--- Name and value texts as a C array, and how many. `values` keeps the texts alive.
local function pairs_array(values)
  local names = {}
  for name in pairs(values or {}) do names[#names + 1] = name end
  table.sort(names)
  local array = ffi.new("chute_pair[?]", #names + 1)
  for i, name in ipairs(names) do
    array[i - 1].name, array[i - 1].value = name, values[name]
  end
  return array, #names
end

--- Puts spool, spool_fallback and durability into the config; a message where one is wrong.
local function set_spool(config, opts)
  local spool, fallback, durability = opts.spool, opts.spool_fallback, opts.durability
  if spool ~= nil and (type(spool) ~= "string" or spool == "") then
    return "spool must be the path of a folder"
  elseif fallback ~= nil and fallback ~= "memory" and fallback ~= "error" then
    return "spool_fallback is neither \"error\" nor \"memory\""
  elseif durability ~= nil and not DURABILITY[durability] then
    return "durability is neither \"process\" nor \"fsync\""
  elseif spool == nil and (fallback or durability) then
    return (durability and "durability" or "spool_fallback") .. " is of a spool: there is none"
  end
  config.spool, config.durability = spool, DURABILITY[durability or "process"]
  config.spool_fallback = fallback == "memory" and 1 or 0
end

-- A text that goes to C; throws at `level` of its caller.
local function c_text(value, name, level)
  local ok, problem = pcall(options.c_text, value, name)
  if not ok then errors.throw((problem:gsub("^chute: ", "")), level + 1) end
  return value
end

local function open_stream(self, opts, level)
  local rules = self.policy
  local settings, count = pairs_array(rules.settings)
  local config = ffi.new "chute_stream_config"
  local table_name = opts.table or self.schema.table
  if type(table_name) ~= "string" then errors.throw("the schema names no table", level) end
  config.table = c_text(table_name, "table", level)
  config.settings, config.settings_count = settings, count
  config.batch_rows, config.batch_bytes = rules.rows or 0, rules.bytes or 0
  config.age_ms = rules.age_ms or 0
  config.pending_bytes, config.overflow = rules.pending_bytes or 0, rules.overflow or 0
  config.compression, config.level = rules.method or C.CHUTE_COMPRESS_ZSTD, rules.level or 0
  config.attempts, config.deadline_ms = rules.attempts or 0, rules.deadline_ms or 0
  config.base_ms, config.max_ms = rules.base_ms or 0, rules.max_ms or 0
  config.sql_in_body = rules.sql == "body" and 1 or 0
  local complaint = set_spool(config, opts)
  if complaint then errors.throw(complaint, level) end
  if opts.spool then c_text(opts.spool, "spool", level) end
  local ptr = C.chute_stream_open(self.schema.ptr, self.pool.ptr, config, raw)
  if ptr == nil then errors.throw(ffi.string(raw[0].message), level) end
  return ffi.gc(ptr, C.chute_stream_free)
end

--- Opens a stream. opts: schema (a path, a definition or a schema) and url (and what chute.pool
-- takes besides), or pool (one opened before, to share), or shards and shard_by (see chute.shards);
-- policy keys win over the schema's.
-- spool: the folder where batches live (see docs/delivery.md); with it durability ("process", or
-- "fsync") and spool_fallback ("error", or "memory": where the spool refuses).
-- Throws at the caller's level where the schema or an option is wrong.
function M.open(opts, level)
  level = (level or 1) + 1
  if type(opts) ~= "table" then errors.throw("open takes a table of options", level) end
  if opts.shards ~= nil then
    local all = shards.open(opts, find_schema(opts.schema, level + 1), M.open, level + 1)
    return all -- no tail call: it would take the caller's level away
  end
  local for_pool, for_policy = split_options(opts)
  local own = find_schema(opts.schema, level + 1)
  local ok, rules = pcall(policy.read, for_policy, fail)
  if not ok then errors.throw(type(rules) == "table" and rules.open or rules, level) end
  local self = setmetatable({ schema = own, policy = policy.merge(own.policy, rules),
    cells = own.cells, fill = own.fill, names = own.names, spool = opts.spool, closed = false },
    Stream)
  if opts.pool then
    if not pool.is(opts.pool) then errors.throw("pool must be one that chute.pool opened", level) end
    local other = next(for_pool)
    if other ~= nil then errors.throw(("%s cannot stand beside pool"):format(tostring(other)), level) end
    self.pool = opts.pool
  else
    self.pool, self.owns_pool = pool.open(for_pool, level), true
  end
  self.ptr = open_stream(self, opts, level + 1)
  self.when = self.policy.when
  self.table = opts.table or own.table
  self.pool.streams[self] = true
  return self
end

local function read_stats(self)
  C.chute_stream_stats_read(self.ptr, stats)
  return stats[0]
end

-- ---- inserting ------------------------------------------------------------------------------

--- A complaint found in Lua: counted, and told.
local function refuse(self, problem, column)
  if self.closed then
    C.chute_stream_count(self.ptr, C.CHUTE_E_CLOSED, 1)
    return nil, errors.new("closed", "the stream is closed")
  elseif problem == FILTERED then
    C.chute_stream_count(self.ptr, C.CHUTE_OK, 1)
    return true, "filtered"
  end
  C.chute_stream_count(self.ptr, C.CHUTE_E_ROW, 1)
  C.chute_stream_stats_read(self.ptr, stats)
  return nil, schema.row_error(self.schema, problem, column, tonumber(stats[0].offered))
end

--- Waits for room and tries again, as long as something is in flight that may give it.
local function insert_blocking(self)
  local hope
  repeat
    hope = read_stats(self).batches_in_flight > 0
    C.chute_stream_wait(self.ptr, 1, FOREVER_MS)
    local code = C.chute_stream_insert(self.ptr, self.cells, raw)
    if code > 0 then return true end
    if code ~= C.CHUTE_E_BUSY then return nil, errors.take(raw[0], self.names) end
  until not hope
  C.chute_stream_count(self.ptr, C.CHUTE_E_BUSY, 1)
  return nil, errors.take()
end

--- Seals the open batch where the policy's `when` says so.
local function seal_when(self)
  C.chute_stream_peek(self.ptr, open_batch)
  local b = open_batch[0]
  local rows = tonumber(b.rows)
  if rows == 0 then return end
  local view = self.view or {}
  self.view = view
  view.rows, view.bytes, view.age = rows, tonumber(b.bytes), tonumber(b.age_ms) / 1000
  local ok, seal = pcall(self.when, view)
  if not ok and not self.when_failed then -- the row is accepted: what is wrong is told once, and not as its error
    self.when_failed = true
    io.stderr:write("chute: batch.when: ", tostring(seal), "\n")
  end
  if ok and seal then C.chute_stream_flush(self.ptr, raw) end
end

local function insert_failed(self, code)
  if code == C.CHUTE_E_BUSY and self.policy.overflow == OVERFLOW_BLOCK then
    return insert_blocking(self)
  end
  return nil, errors.take(raw[0], self.names)
end

--- Accepts a row, by name or by position; never waits, unless overflow is "block".
-- true; true, "filtered"; or nil, err (kind "row", "busy" or "closed").
function Stream:insert(row)
  local problem, column = self.fill(row)
  if problem ~= nil then return refuse(self, problem, column) end
  local code = C.chute_stream_insert(self.ptr, self.cells, raw)
  if code < 0 then
    local ok, err = insert_failed(self, code)
    if not ok then return nil, err end
  end
  if self.when then seal_when(self) end
  return true
end

--- Accepts rows one by one. Returns how many were accepted (filtered ones are not), and a list of
-- { index, err } of those that were not, nil where none failed.
Stream.insert_many = function(self, rows)
  if type(rows) ~= "table" then errors.throw("insert_many takes a list of rows", 2) end
  local accepted, failed = 0, nil
  for index = 1, #rows do
    local ok, err = self:insert(rows[index])
    if ok then
      accepted = accepted + (err and 0 or 1)
    else
      failed = failed or {}
      failed[#failed + 1] = { index, err }
    end
  end
  return accepted, failed
end

-- ---- moving on ------------------------------------------------------------------------------

--- Seals the open batch without waiting. true; or nil, err.
function Stream:flush()
  if C.chute_stream_flush(self.ptr, raw) < 0 then return nil, errors.take() end
  return true
end

--- A timeout of the caller's caller in milliseconds.
local function wait_ms(timeout, name, default)
  if timeout == nil then return default end
  local ok, ms = pcall(options.duration, timeout, name)
  if not ok then errors.throw((ms:gsub("^chute: ", "")), 3) end
  return ms
end

local function timed_out(self)
  local pending = tonumber(read_stats(self).pending)
  local message, why = ("%d rows were still on their way"):format(pending), self:last_error()
  if why then message = message .. ", and the last failure was: " .. why.message end
  return errors.new("timeout", message, { pending = pending, retryable = true, cause = why })
end

--- Seals the open batch and waits until every batch is acknowledged or parked; forever unless a
-- timeout is given. true; or nil, err (err.pending: rows still on their way).
function Stream:drain(timeout)
  local ms = wait_ms(timeout, "timeout", FOREVER_MS)
  if C.chute_stream_flush(self.ptr, raw) < 0 then return nil, errors.take() end
  if C.chute_stream_wait(self.ptr, 0, ms) == 1 then return true end
  return nil, timed_out(self)
end

--- Seals the open batch and waits until all that was accepted is on the disk; forever unless a
-- timeout is given. true; or nil, err (kind "spool", "timeout").
function Stream:sync(timeout)
  local ms = wait_ms(timeout, "timeout", FOREVER_MS)
  if self.closed then return nil, errors.new("closed", "the stream is closed") end
  if C.chute_stream_sync(self.ptr, ms, raw) < 0 then return nil, errors.take() end
  return true
end

--- The error of the attempt to deliver a batch that failed last; nil where none has.
function Stream:last_error()
  if C.chute_stream_last_error(self.ptr, raw) == 0 then return nil end
  return errors.take()
end

--- The batches that are kept because they could not be delivered (refused for good, or retry's
-- limits were reached), the oldest first: a list of { rows, bytes, attempts, token, table, error }.
function Stream:parked()
  local out, batch = {}, ffi.new "chute_parked"
  while C.chute_stream_parked(self.ptr, #out, batch) == 1 do
    out[#out + 1] = { rows = tonumber(batch.rows), bytes = tonumber(batch.bytes),
      attempts = batch.attempts, token = ffi.string(batch.token), table = self.table,
      error = errors.take(batch.error) }
  end
  return out
end

--- Sends all parked batches once more, each with its token. Returns how many.
function Stream:retry_parked() return tonumber(C.chute_stream_retry_parked(self.ptr)) end

local function lost_error(self, lost)
  local why = self:last_error()
  local message = ("%d rows were not delivered"):format(lost)
  if why then message = message .. ": " .. why.message end
  return errors.new(why and why.kind or "timeout", message, { lost = lost, cause = why,
    code = why and why.code, name = why and why.name, host = why and why.host })
end

--- Delivers what is accepted, within 5 s unless a timeout is given, and ends the stream. With a
-- spool, what is not delivered stays there. true; or nil, err with err.lost, the rows that neither
-- arrived nor are in the spool. Later calls find it closed.
function Stream:close(timeout)
  local ms = wait_ms(timeout, "timeout", CLOSE_MS)
  if self.closed then return self.lost == nil or nil, self.lost end
  self.closed = true
  C.chute_stream_shut(self.ptr)
  C.chute_stream_wait(self.ptr, 0, ms)
  local now = read_stats(self)
  local lost = tonumber(now.pending + now.parked)
  if now.pending > 0 then C.chute_stream_give_up(self.ptr) end
  if self.owns_pool then self.pool:close(0) end
  C.chute_stream_leave(self.ptr)
  if self.spool then lost = tonumber(read_stats(self).unspooled) end
  if lost == 0 then return true end
  self.lost = lost_error(self, lost)
  return nil, self.lost
end

--- Counters as a table of numbers: see the guide, "Operations".
function Stream:stats()
  local now, out = read_stats(self), {}
  for _, name in ipairs(STATS) do out[name] = tonumber(now[name]) end
  return out
end

Stream.__tostring = function(self)
  return ("chute.stream: %s%s"):format(tostring(self.schema), self.closed and ", closed" or "")
end

return M
