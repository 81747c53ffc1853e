--- Parameters: values as the text that ClickHouse reads for {name:Type} in a statement.
local sql = require "chute.sql"
local values = require "chute.values"

local M = {}

local TSV = { ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\0"] = "\\0" }

local function fail(message, ...) error("chute: " .. message:format(...), 0) end

-- ---- types ----------------------------------------------------------------------------------

local function trim(text) return text:match "^%s*(.-)%s*$" end

-- The parts of a list, apart by commas that stand in no bracket and no quotes.
local function split(text)
  local parts, depth, start, at = {}, 0, 1, 1
  while at <= #text do
    local c = text:sub(at, at)
    if c == "(" then depth = depth + 1 elseif c == ")" then depth = depth - 1 end
    if c == "'" or c == "`" or c == '"' then
      at = (text:find(c, at + 1, true) or #text)
    elseif c == "," and depth == 0 then
      parts[#parts + 1], start = trim(text:sub(start, at - 1)), at + 1
    end
    at = at + 1
  end
  parts[#parts + 1] = trim(text:sub(start))
  return parts
end

-- A type's name and its arguments' texts, without what changes nothing of how a value is written.
local function open(text)
  local name, inner = text:match "^([%w_]+)%s*%((.*)%)$"
  if name == "Nullable" or name == "LowCardinality" then return open(trim(inner)) end
  return name or text, inner and split(inner) or {}
end

--- The types of a statement's parameters, by name: those of {name:Type}.
function M.types(text)
  local out = {}
  for name, kind in text:gmatch "{%s*([%w_]+)%s*:%s*([^{}]+)}" do out[name] = trim(kind) end
  return out
end

-- ---- values ---------------------------------------------------------------------------------

local function shortest(value)
  for digits = 15, 17 do
    local text = ("%." .. digits .. "g"):format(value)
    if tonumber(text) == value then return text end
  end
end

local function number(value)
  if value ~= value then return "nan" end
  if value == math.huge or value == -math.huge then return value > 0 and "inf" or "-inf" end
  if value % 1 == 0 and value > -2 ^ 63 and value < 2 ^ 63 then return ("%.0f"):format(value) end
  return shortest(value)
end

-- What is no table and no null, bare.
local function plain(value, name)
  local kind = type(value)
  if kind == "string" then return value end
  if kind == "boolean" then return tostring(value) end
  if kind == "cdata" then return (tostring(value):gsub("U?LL$", "")) end
  if kind ~= "number" then fail("a %s is no value of a parameter", kind) end
  if name == "Date" or name == "Date32" then return os.date("!%Y-%m-%d", value) end
  return number(value)
end

local function is_list(value) return #value > 0 or next(value) == nil end

local nested

local function list(value, of)
  local parts = {}
  for i = 1, #value do parts[i] = nested(value[i], of(i)) end
  return table.concat(parts, ",")
end

-- Of a tuple's elements: names (nil where it has none) and types.
local function elements(args)
  local names, types = {}, {}
  for i, arg in ipairs(args) do
    local name, kind = arg:match "^([%a_][%w_]*)%s+(.+)$"
    if not name then
      name, kind = arg:match "^`([^`]*)`%s+(.+)$"
    end
    names[i], types[i] = name, kind or arg
  end
  return names, types
end

local function tuple(value, args)
  local names, types = elements(args)
  local own = value
  if not is_list(value) then
    own = {}
    for i, name in ipairs(names) do
      own[i] = value[name]
      if own[i] == nil then fail("a tuple lacks %s", name) end
    end
  end
  if #own ~= #types then fail("a tuple of %d has %d values", #types, #own) end
  return "(" .. list(own, function(i) return types[i] end) .. ")"
end

local function map(value, args)
  local parts = {}
  local function add(key, item)
    parts[#parts + 1] = nested(key, args[1]) .. ":" .. nested(item, args[2])
  end
  if getmetatable(value) == values.Pairs then
    for _, pair in ipairs(value) do add(pair[1], pair[2]) end
  else
    for key, item in pairs(value) do add(key, item) end
    table.sort(parts)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function composite(value, name, args)
  if name == "Tuple" then return tuple(value, args) end
  if name == "Map" or getmetatable(value) == values.Pairs then return map(value, args) end
  if name == "Array" then
    return "[" .. list(value, function() return args[1] end) .. "]"
  end
  if is_list(value) then return "[" .. list(value, function() end) .. "]" end
  return map(value, {})
end

local NUMERIC = { Int = true, UInt = true, Float = true, Decimal = true }

-- A value inside of another: texts in quotes, but digits where a number is wanted.
function nested(value, kind)
  local name, args = open(kind or "")
  if value == values.null then return "NULL" end
  if type(value) == "table" then return composite(value, name, args) end
  local text = plain(value, name)
  local bare = type(value) ~= "string" or (NUMERIC[name:match "^%a+"] and text:find "^[-+]?%d")
  if bare and not name:find "^Date" and name ~= "String" then return text end
  return sql.text(text)
end

--- A parameter's text. `kind`: the type that the statement gives it, where that is known. Values:
-- texts, numbers (of seconds since the epoch for dates and times), booleans, 64-bit cdata, chute.null,
-- and tables of them: lists for arrays, lists or tables by name for tuples, tables or chute.pairs for
-- maps. Throws, without a position, on others.
function M.text(value, kind)
  if value == values.null then return "\\N" end
  local name, args = open(kind or "")
  if type(value) == "table" then return composite(value, name, args) end
  return (plain(value, name):gsub("[\\\n\r\t%z]", TSV))
end

return M
