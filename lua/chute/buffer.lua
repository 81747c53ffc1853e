--- Buffers: rows gathered as bytes.
local errors = require "chute.errors"
local lib = require "chute.lib"
local options = require "chute.options"
local schema = require "chute.schema"
local C, ffi = lib.C, lib.ffi
local FILTERED = require("chute.filler").FILTERED

local M = {}

local Buffer = {}

local CEILING = 256 * 1024 * 1024
local raw = errors.raw
local len = ffi.new "size_t[1]"
local out = ffi.new "const char *[1]"

--- A userdata in front of a buffer's state: a table cannot say what # is of it in Lua 5.1.
local function wrap(state)
  local proxy = newproxy(true)
  local meta = getmetatable(proxy)
  meta.__index, meta.__len, meta.__tostring = state, Buffer.__len, Buffer.__tostring
  meta.kind = Buffer
  return proxy
end

local function read_ceiling(opts, level)
  if not opts or opts.bytes == nil then return CEILING end
  local ok, bytes = pcall(options.bytes, opts.bytes, "bytes")
  if not ok then errors.throw((tostring(bytes):gsub("^chute: ", "")), level + 1) end
  return bytes
end

--- A buffer for the rows of `of`: a schema, or a definition of one (which needs no table).
-- opts.bytes: the most bytes of rows it may hold, 256 MiB unless given.
function M.new(of, opts, level)
  level = (level or 1) + 1
  local self = { schema = schema.new(of, level), compressors = {} }
  local ptr = C.chute_buffer_new(self.schema.ptr, read_ceiling(opts, level), raw)
  if ptr == nil then errors.throw(ffi.string(raw[0].message), level) end
  self.ptr = ffi.gc(ptr, C.chute_buffer_free)
  self.cells, self.fill, self.names = self.schema.cells, self.schema.fill, self.schema.names
  return wrap(setmetatable(self, Buffer))
end

function M.is(value)
  local meta = type(value) == "userdata" and getmetatable(value)
  return type(meta) == "table" and meta.kind == Buffer
end

local methods = {}

--- Adds a row, by name or by position. true; true, "filtered"; or nil, err.
function methods:add_row(row)
  local problem, column = self.fill(row)
  if problem == nil then
    if C.chute_buffer_add(self.ptr, self.cells, raw) == 0 then return true end
    return nil, errors.take(raw[0], self.names)
  end
  if problem == FILTERED then return true, "filtered" end
  local number = tonumber(C.chute_buffer_rows(self.ptr)) + 1
  return nil, schema.row_error(self.schema, problem, column, number)
end

--- Adds rows one by one. Returns how many were added, and a list of { index, err } of those that
-- were not, nil where all were.
function methods:add_rows(rows)
  local added, failed = 0, nil
  for index = 1, #rows do
    local ok, err = self:add_row(rows[index])
    if ok then
      added = added + (err and 0 or 1)
    else
      failed = failed or {}
      failed[#failed + 1] = { index, err }
    end
  end
  return added, failed
end

--- The format's header and the rows, as they are sent.
function methods:tostring()
  local data = C.chute_buffer_data(self.ptr, len)
  return ffi.string(data, len[0])
end

local function compressor(self, method, level)
  local key = method .. ":" .. level
  local found = self.compressors[key]
  if not found then
    found = C.chute_compressor_new(method, level, raw)
    if found == nil then return nil end
    found = ffi.gc(found, C.chute_compressor_free)
    self.compressors[key] = found
  end
  return found
end

--- The same bytes compressed in one go: how is "zstd", "lz4", "none", "block-lz4" or
-- "block-zstd"; level the method's own unless given. A string; or nil, err.
function methods:compress(how, level)
  if level then how = ("%s:%s"):format(tostring(how), tostring(level)) end
  local ok, method, wanted = pcall(options.compress, how)
  if not ok then errors.throw((tostring(method):gsub("^chute: ", "")), 2) end
  local with = compressor(self, method, wanted)
  if with == nil then return nil, errors.take() end
  local data = C.chute_buffer_data(self.ptr, len)
  if C.chute_compress(with, data, len[0], out, len, raw) < 0 then return nil, errors.take() end
  return ffi.string(out[0], len[0])
end

--- Forgets the rows and keeps the memory.
function methods:reset() C.chute_buffer_reset(self.ptr) end

Buffer.__index = function(self, key)
  if key == "rows" then return tonumber(C.chute_buffer_rows(rawget(self, "ptr"))) end
  return methods[key]
end

Buffer.__len = function(self)
  C.chute_buffer_data(self.ptr, len)
  return tonumber(len[0])
end

Buffer.__tostring = function(self)
  return ("chute.buffer: %d rows, %s"):format(self.rows, self.schema.format)
end

return M
