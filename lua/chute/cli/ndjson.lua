--- Rows as lines of JSON, each value in a form that `chute insert` takes.
local cjson = require "cjson"
local ffi = require "ffi"
local values = require "chute.values"

local EXACT = 2 ^ 53

local encode

local function number(value)
  if value ~= value or value == math.huge or value == -math.huge then
    return '"' .. (value ~= value and "nan" or value > 0 and "inf" or "-inf") .. '"'
  end
  return ("%.17g"):format(value)
end

-- Beyond 2^53 as text: most readers of JSON have doubles for numbers.
local function integer(value)
  local digits = tostring(value):match "^%-?%d+"
  return math.abs(tonumber(value)) <= EXACT and digits or '"' .. digits .. '"'
end

local function array(list)
  local out = {}
  for i = 1, #list do out[i] = encode(list[i]) end
  return "[" .. table.concat(out, ",") .. "]"
end

local function object(map)
  local keys, out = {}, {}
  for key in pairs(map) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for i, key in ipairs(keys) do out[i] = cjson.encode(tostring(key)) .. ":" .. encode(map[key]) end
  return "{" .. table.concat(out, ",") .. "}"
end

function encode(value)
  local kind = type(value)
  if value == values.null then return "null" end
  if kind == "number" then return number(value) end
  if kind == "cdata" and (ffi.istype("int64_t", value) or ffi.istype("uint64_t", value)) then
    return integer(value)
  end
  if kind ~= "table" then return cjson.encode(value) end
  local meta = getmetatable(value)
  if meta == values.Typed then return encode(value.value) end
  if meta == values.Pairs or #value > 0 or next(value) == nil then return array(value) end
  return object(value)
end

--- A row as one line of JSON, its columns in their order. columns: a list of { name, type }.
return function(row, columns)
  local out = {}
  for i, column in ipairs(columns) do
    local value = row[column.name]
    local empty = type(value) == "table" and next(value) == nil and column.type:match "^Map%("
    out[i] = cjson.encode(column.name) .. ":" .. (empty and "{}" or encode(value))
  end
  return "{" .. table.concat(out, ",") .. "}"
end
