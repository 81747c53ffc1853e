--- Schemas: the columns of a table as rows bring them, compiled to an encoder.
local errors = require "chute.errors"
local filler = require "chute.filler"
local lib = require "chute.lib"
local policy = require "chute.policy"
local row = require "chute.row"
local C, ffi = lib.C, lib.ffi

local M = {}

local Schema = {}
Schema.__index = Schema

local UNITS = { s = 0, ms = 3, us = 6, ns = 9 }
local KEYS = { table = "string", columns = "table", format = "string", timezone = "string",
  strict = "boolean", watch = "table", map = "function" }
local COLUMN_KEYS = { default = true, from = true, json = true, unit = true, value = true }
local SCRATCH_CEILING = 256 * 1024 * 1024
local raw = errors.raw

-- ---- reading the definition -----------------------------------------------------------------

local function fail(message, ...) error({ schema = message:format(...) }, 0) end

local function check_keys(def)
  for key, value in pairs(def) do
    local wanted = KEYS[key]
    if not wanted and not policy.KEYS[key] then fail("unknown key %q", tostring(key)) end
    if wanted and type(value) ~= wanted then
      fail("%s must be a %s, not a %s", key, wanted, type(value))
    end
  end
end

local function check_column(index, spec)
  if type(spec) ~= "table" then fail("column %d: not a table { name, type }", index) end
  local name, ctype = spec[1], spec[2]
  if type(name) ~= "string" then fail("column %d: no name", index) end
  if type(ctype) ~= "string" then fail("column '%s': no type", name) end
  for key in pairs(spec) do
    if key ~= 1 and key ~= 2 and not COLUMN_KEYS[key] then
      fail("column '%s': unknown key %s", name, tostring(key))
    end
  end
  if spec.unit ~= nil and not UNITS[spec.unit] then
    fail("column '%s': unit %q is none of s, ms, us, ns", name, tostring(spec.unit))
  end
  if spec.json ~= nil and spec.json ~= "text" and spec.json ~= "paths" then
    fail("column '%s': json %q is neither text nor paths", name, tostring(spec.json))
  end
  if spec.from ~= nil and type(spec.from) ~= "string" then
    fail("column '%s': from must be the name of a key", name)
  end
  if spec.value ~= nil and type(spec.value) ~= "function" then
    fail("column '%s': value must be a function of the row", name)
  end
end

--- The number of columns, each of which stands at its position.
local function check_columns(columns)
  local count = 0
  for key in pairs(columns) do
    if type(key) ~= "number" or key < 1 or key % 1 ~= 0 then
      fail("columns: '%s' is no position of a list", tostring(key))
    end
    count = math.max(count, key)
  end
  if count == 0 then fail "no columns" end
  for index = 1, count do check_column(index, columns[index]) end
end

local function find_format(name)
  name = name or "RowBinaryWithNamesAndTypes"
  local format = C.chute_format_find(name, #name)
  if format < 0 then
    fail("format %q is none of RowBinary, RowBinaryWithNames, RowBinaryWithNamesAndTypes, "
      .. "RowBinaryWithDefaults", name)
  end
  return format, name
end

local function take() fail("%s", ffi.string(raw[0].message)) end

-- ---- compiling ------------------------------------------------------------------------------

-- Dynamic may hold a time as well: what chute.typed makes one.
local TIMES = { [C.CHUTE_TYPE_DATE] = true, [C.CHUTE_TYPE_DATE32] = true,
  [C.CHUTE_TYPE_DATETIME] = true, [C.CHUTE_TYPE_DATETIME64] = true, [C.CHUTE_TYPE_TIME] = true,
  [C.CHUTE_TYPE_TIME64] = true, [C.CHUTE_TYPE_DYNAMIC] = true, [C.CHUTE_TYPE_JSON] = true }

local function holds(kinds, ctype)
  if kinds[C.chute_type_kind(ctype)] then return true end
  for child = 0, tonumber(C.chute_type_count(ctype)) - 1 do
    if holds(kinds, C.chute_type_child(ctype, child)) then return true end
  end
  return false
end

local JSON = { [C.CHUTE_TYPE_JSON] = true }

--- Settles how JSON goes: every JSON in one INSERT is read in one way.
local function settle_json(self, columns)
  local settled, first
  for index, spec in ipairs(columns) do
    if holds(JSON, self.fields[index].ctype) then
      local way = spec.json or "text"
      if settled and settled ~= way then
        fail("column '%s': JSON goes as %s here and as %s in column '%s': one INSERT has one way",
          spec[1], way, settled, first)
      end
      settled, first = way, spec[1]
    elseif spec.json then
      fail("column '%s': json is for JSON, not for %s", spec[1], spec[2])
    end
  end
  self.json_text = settled == "text"
  C.chute_schema_set_json_text(self.ptr, self.json_text)
end

local function add_columns(self, columns)
  for index, spec in ipairs(columns) do
    local name, ctype = spec[1], spec[2]
    if C.chute_schema_add(self.ptr, name, #name, ctype, #ctype, UNITS[spec.unit or "s"], raw) < 0 then
      fail("%s", ffi.string(raw[0].message))
    end
    self.fields[index] = { name = name, key = spec.from or name, index = index - 1,
      value = spec.value, ctype = C.chute_schema_type(self.ptr, index - 1) }
    if spec.unit and not holds(TIMES, self.fields[index].ctype) then
      fail("column '%s': unit is for dates and times, not for %s", name, ctype)
    end
  end
end

--- Encodes a default through the same reader as rows, in cells of its own.
local function set_default(self, field, value)
  local cells = ffi.gc(C.chute_cells_new(1), C.chute_cells_free)
  local one = { name = field.name, key = "value", index = 0, ctype = field.ctype }
  local reader = row.generate(cells, { one })
  local given, turn = reader.begin { value = value }
  reader.named(given)
  reader.finish(turn)
  if C.chute_schema_set_default(self.ptr, field.index, cells, raw) < 0 then take() end
end

local function set_defaults(self, columns)
  for index, spec in ipairs(columns) do
    if spec.default ~= nil then set_default(self, self.fields[index], spec.default) end
  end
end

local function describe_columns(self)
  local out = ffi.new("char[?]", 4096)
  for index, field in ipairs(self.fields) do
    local size = tonumber(C.chute_type_print(field.ctype, out, 4096)) + 1
    if size > 4096 then
      out = ffi.new("char[?]", size)
      C.chute_type_print(field.ctype, out, size)
    end
    self.columns[index] = { name = field.name, type = ffi.string(out), from = field.key,
      computed = field.value ~= nil }
    self.names[index] = field.name
  end
end

local function compile(def)
  check_keys(def)
  check_columns(def.columns or {})
  local zone = def.timezone or "UTC"
  local format, format_name = find_format(def.format)
  local ptr = C.chute_schema_new(format, zone, #zone, raw)
  if ptr == nil then take() end
  local self = setmetatable({ ptr = ffi.gc(ptr, C.chute_schema_free), fields = {}, columns = {},
    names = {}, table = def.table, format = format_name, strict = def.strict == true,
    map = def.map, policy = policy.read(def, fail) }, Schema)
  add_columns(self, def.columns)
  settle_json(self, def.columns)
  set_defaults(self, def.columns)
  if C.chute_schema_compile(self.ptr, raw) < 0 then take() end
  describe_columns(self)
  self.cells = ffi.gc(C.chute_cells_new(#self.fields), C.chute_cells_free)
  if self.cells == nil then fail "out of memory" end
  self.reader = row.generate(self.cells, self.fields)
  self.fill = filler.new(self)
  return self
end

--- What went wrong, as one line, where it was the definition's fault; else rethrown.
local function complaint(problem)
  if type(problem) == "table" and problem.schema then return problem.schema end
  error(problem, 0)
end

--- Compiles a definition (a table as a schema script returns it). Throws at the caller's level,
-- naming the column.
function M.new(def, level)
  level = (level or 1) + 1
  if M.is(def) then return def end
  if type(def) ~= "table" then errors.throw("a schema is a table, not a " .. type(def), level) end
  local ok, result = pcall(compile, def)
  if not ok then errors.throw("schema: " .. complaint(result), level) end
  return result
end

function M.is(value) return getmetatable(value) == Schema end

-- ---- scripts --------------------------------------------------------------------------------

--- The line of the script that most likely holds what a complaint names: the quoted column name,
-- on a line of its own spec (the last one where it is there twice). Tables do not know the lines
-- that made them.
local function find_line(path, complaint_text)
  local name = complaint_text:match "^column '(.-)'"
  local file = name and io.open(path)
  if not file then return nil end
  local twice = complaint_text:find "is there twice$"
  local found, number = nil, 0
  for line in file:lines() do
    number = number + 1
    if line:find('"' .. name .. '"', 1, true) or line:find("'" .. name .. "'", 1, true) then
      found = number
      if line:find "{" and not twice then break end
    end
  end
  file:close()
  return found
end

--- Loads and compiles a schema script. Throws with file, line and column named.
function M.load(path, level)
  level = (level or 1) + 1
  if type(path) ~= "string" then errors.throw("load takes the path of a schema script", level) end
  local chunk, syntax = loadfile(path)
  if not chunk then errors.throw(syntax, level) end
  local ran, def = pcall(chunk)
  if not ran then errors.throw(def, level) end
  if type(def) ~= "table" then
    errors.throw(("%s: the script returns a %s, not a schema table"):format(path, type(def)), level)
  end
  local ok, result = pcall(compile, def)
  if not ok then
    local text = complaint(result)
    local line = find_line(path, text)
    errors.throw(("%s:%s %s"):format(path, line and line .. ":" or "", text), level)
  end
  result.path = path
  return result
end

-- ---- methods --------------------------------------------------------------------------------

--- The bytes of one row as RowBinary, without the format's header; or nil, err.
function Schema:encode(values)
  local scratch = self.scratch
  if not scratch then
    scratch = C.chute_buffer_new(self.ptr, SCRATCH_CEILING, raw)
    if scratch == nil then return nil, errors.take() end
    self.scratch = ffi.gc(scratch, C.chute_buffer_free)
  end
  C.chute_buffer_reset(scratch)
  local len = ffi.new "size_t[1]"
  C.chute_buffer_data(scratch, len)
  local header = tonumber(len[0])
  local mapped, filtered, err = self:read(values)
  if not mapped then return nil, err or filtered end
  if C.chute_buffer_add(scratch, self.cells, raw) < 0 then
    return nil, errors.take(nil, self.names)
  end
  local data = C.chute_buffer_data(scratch, len)
  return ffi.string(data + header, tonumber(len[0]) - header)
end

--- Reads a row into the cells. true; or nil, "filtered"; or nil, nil, err.
function Schema:read(values)
  local problem, column = self.fill(values)
  if problem == nil then return true end
  if problem == filler.FILTERED then return nil, "filtered" end
  return nil, nil, M.row_error(self, problem, column, 1)
end

--- A row's error found in Lua, before the encoder saw it.
-- `number`: the row's, where it has one.
function M.row_error(self, problem, column, number)
  local name = column and self.names[column + 1]
  local message = tostring(problem)
  if name then message = ("column '%s': %s"):format(name, message) end
  if number then message = ("row %d, %s"):format(number, message) end
  return errors.new("row", message, { column = name, row = number })
end

--- The generated Lua that reads a row's values into cells.
function Schema:source() return self.reader.source end

--- The compiled chain of closures, one link a line.
function Schema:explain()
  local size = tonumber(C.chute_schema_explain(self.ptr, nil, 0)) + 1
  local out = ffi.new("char[?]", size)
  C.chute_schema_explain(self.ptr, out, size)
  return ffi.string(out)
end

Schema.__tostring = function(self)
  return ("chute.schema: %s, %d columns, %s"):format(self.table or "no table", #self.columns,
    self.format)
end

return M
