--- Shards: one stream for each, behind the calls of a stream. Each row goes, whole, to the shard that
-- its key chooses; the hosts of a shard are its replicas.
local clock = require "chute.clock"
local errors = require "chute.errors"
local lib = require "chute.lib"
local options = require "chute.options"
local bit = require "bit"
local C = lib.C

local M = {}

local Shards = {}
Shards.__index = Shards

local CLOSE_MS = 5000
local COUNTED = { "lost", "pending" }

-- ---- choosing -------------------------------------------------------------------------------

--- FNV-1a of 32 bits. Its factor is 2^24 + 403, in two parts that a double holds exactly.
local function hash(text)
  local h = -2128831035
  for i = 1, #text do
    h = bit.bxor(h, text:byte(i))
    h = bit.tobit(h * 403 + bit.lshift(h, 24))
  end
  return h
end

--- Which of `count` shards a key chooses, from 1 on; nil where it is none.
local function choose(key, count)
  local kind = type(key)
  if kind == "string" then return hash(key) % count + 1 end
  if kind == "cdata" then
    local ok, left = pcall(function() return tonumber(key % count) end)
    return ok and left and (left + count) % count + 1 or nil
  end
  if kind ~= "number" or key % 1 ~= 0 then return nil end
  return key % count + 1
end

--- The function from a row to its key.
local function key_of(by, schema, level)
  if type(by) == "function" then return by end
  for i, column in ipairs(schema.columns) do
    if column.name == by then
      local from = column.from
      return function(row)
        local key = row[from]
        if key == nil then return row[i] end
        return key
      end
    end
  end
  errors.throw(("shard_by must be a column or a function, not %s"):format(tostring(by)), level)
end

-- ---- opening --------------------------------------------------------------------------------

local function check(opts, level)
  local shards = opts.shards
  if type(shards) ~= "table" or #shards == 0 then errors.throw("shards must be a list of addresses", level) end
  for _, key in ipairs { "url", "pool" } do
    if opts[key] ~= nil then errors.throw(("shards cannot be together with %s"):format(key), level) end
  end
  if opts.shard_by == nil then errors.throw("shards need shard_by: a column or a function", level) end
end

--- Opens a stream a shard. opts: as chute.open takes them, with shards (a list of what `url` may be) in
-- url's place, and shard_by: a column, whose value in the row as it is given decides (a whole number by
-- its remainder, text by its FNV-1a hash), or a function from a row to such a value. Each shard's spool is
-- a folder of its own, `spool` with "-shard1" behind it, "-shard2" … `open(opts, level)` opens one stream,
-- `schema` is compiled.
function M.open(opts, schema, open, level)
  check(opts, level + 1)
  local self = setmetatable({ key = key_of(opts.shard_by, schema, level + 1), streams = {}, schema = schema }, Shards)
  for i, url in ipairs(opts.shards) do
    local own = {}
    for key, value in pairs(opts) do own[key] = value end
    own.shards, own.shard_by, own.url, own.schema = nil, nil, url, schema
    own.spool = opts.spool and ("%s-shard%d"):format(opts.spool, i)
    self.streams[i] = open(own, level)
  end
  return self
end

-- ---- using ----------------------------------------------------------------------------------

local function refuse(self)
  local first = self.streams[1]
  if first.closed then return nil, errors.new("closed", "the stream is closed") end
  C.chute_stream_count(first.ptr, C.CHUTE_E_ROW, 1)
  return nil, errors.new("row", "the row has no key that chooses a shard: a whole number, or text")
end

--- As a stream's.
function Shards:insert(row)
  local shard = type(row) == "table" and choose(self.key(row), #self.streams)
  if not shard then return refuse(self) end
  return self.streams[shard]:insert(row)
end

--- As a stream's.
function Shards:insert_many(rows)
  local accepted, failed = 0, nil
  for index = 1, #rows do
    local ok, err = self:insert(rows[index])
    if not ok then
      failed = failed or {}
      failed[#failed + 1] = { index, err }
    elseif not err then
      accepted = accepted + 1
    end
  end
  return accepted, failed
end

--- As a stream's: all shards' open batches are sealed.
function Shards:flush()
  local ok, err = true, nil
  for _, stream in ipairs(self.streams) do
    local flushed, why = stream:flush()
    if not flushed then ok, err = nil, why end
  end
  return ok, err
end

--- Calls a method of each stream with what is left of the time; the first error of them, its counts
-- those of all.
local function each_in_time(self, method, ms)
  local ends = ms and clock() + ms / 1000
  local first
  self:flush()
  for _, stream in ipairs(self.streams) do
    local left = ends and math.max(ends - clock(), 0)
    local ok, err = stream[method](stream, left)
    if not ok and first then
      for _, name in ipairs(COUNTED) do
        if err[name] then first[name] = (first[name] or 0) + err[name] end
      end
    end
    first = first or (not ok and err or nil)
  end
  if first then return nil, first end
  return true
end

--- As a stream's, for all shards together.
function Shards:drain(timeout)
  return each_in_time(self, "drain", timeout and options.duration(timeout, "timeout"))
end

--- As a stream's, for all shards together.
function Shards:sync(timeout)
  return each_in_time(self, "sync", timeout and options.duration(timeout, "timeout"))
end

--- As a stream's, for all shards together.
function Shards:close(timeout)
  return each_in_time(self, "close", timeout and options.duration(timeout, "timeout") or CLOSE_MS)
end

--- The sums of the streams' counters, and `shards`, a list of each one's.
function Shards:stats()
  local sums = { shards = {} }
  for i, stream in ipairs(self.streams) do
    local own = stream:stats()
    sums.shards[i] = own
    for name, value in pairs(own) do sums[name] = (sums[name] or 0) + value end
  end
  return sums
end

--- As a stream's: that of the first shard that has one.
function Shards:last_error()
  for _, stream in ipairs(self.streams) do
    local err = stream:last_error()
    if err then return err end
  end
end

--- As a stream's, each batch with its `shard`'s number.
function Shards:parked()
  local all = {}
  for i, stream in ipairs(self.streams) do
    for _, batch in ipairs(stream:parked()) do
      batch.shard = i
      all[#all + 1] = batch
    end
  end
  return all
end

--- As a stream's.
function Shards:retry_parked()
  local count = 0
  for _, stream in ipairs(self.streams) do count = count + stream:retry_parked() end
  return count
end

Shards.__tostring = function(self)
  return ("chute.stream: %s, %d shards"):format(tostring(self.schema), #self.streams)
end

return M
