-- generator: types and values by chance, in the form that decoding gives them, and smaller ones
-- instead. Repeatable by math.randomseed.
--
-- A type is a node: text, make() → a value, same(sent, got), simpler(value) → a list of smaller
-- values, parts → a list of { node, of(value) → a value of that node } to stand in its place.

local ffi = require "ffi"
local chute = require "chute"
local nodes = require "spec.support.generator_typed"
local show = require "spec.support.show"

local generator = {}

local random = math.random
local NAN, INF = 0 / 0, 1 / 0

local function any(list) return list[random(#list)] end
local function chance(n) return random(n) == 1 end

-- ---- leaves -------------------------------------------------------------------------------------

local function digits(n)
  local out = { tostring(random(1, 9)) }
  for i = 2, n do out[i] = tostring(random(0, 9)) end
  return table.concat(out)
end

-- A whole number of Lua between two, mostly near the ends or 0.
local function whole(low, high)
  return function()
    local kind = random(6)
    if kind == 1 then return low end
    if kind == 2 then return high end
    if kind == 3 then return math.max(low, math.min(high, random(-3, 3))) end
    return low + math.floor(random() * (high - low))
  end
end

local word = ffi.typeof "union { uint32_t half[2]; int64_t i; uint64_t u; double d; float f; }"

local function bits64()
  local w = word()
  w.half[0], w.half[1] = random(0, 0x7FFFFFFF) * 2 + random(0, 1), random(0, 0x7FFFFFFF) * 2 + random(0, 1)
  return w
end

-- A double of any bits but those of a NaN, which LuaJIT might take for an object.
local function double_of_bits()
  local w = bits64()
  local upper = math.floor(w.half[1] / 2 ^ 20) % 2048
  return upper == 2047 and NAN or w.d
end

local function float_of_bits()
  local w = bits64()
  local upper = math.floor(w.half[0] / 2 ^ 23) % 256
  return upper == 255 and NAN or tonumber(w.f)
end

local function int64()
  return any { 0LL, -1LL, 9223372036854775807LL, -9223372036854775807LL - 1, bits64().i, bits64().i }
end
local function uint64() return any { 0ULL, 18446744073709551615ULL, 9007199254740993ULL, bits64().u, bits64().u } end
local function float64()
  return any { 0, -0.0, 0.1, -1e300, 5e-324, NAN, INF, -INF, double_of_bits(), random() * 1000 }
end
local function float32() return any { 0, -0.0, 0.5, NAN, INF, -INF, float_of_bits(), random(-1000, 1000) } end

local function bytes(n)
  local out = {}
  for i = 1, n do out[i] = string.char(random(0, 255)) end
  return table.concat(out)
end

local function text()
  return any { "", "a", "\0", "é", "it's `q` \"d\"\\\n\t", bytes(random(0, 20)), ("long "):rep(random(1, 300)) }
end

local function fixed(n)
  return function() return any { ("\0"):rep(n), bytes(n), ("x"):rep(n) } end
end

local function decimal(precision, scale)
  return function()
    local whole_digits = random(0, precision - scale)
    local part = scale > 0 and digits(random(1, scale)):gsub("0+$", "") or ""
    local number = (whole_digits > 0 and digits(whole_digits) or "0") .. (part ~= "" and "." .. part or "")
    if number == "0" then return number end
    local most = ("9"):rep(precision - scale) .. (scale > 0 and "." .. ("9"):rep(scale) or "")
    return any { "0", number, "-" .. number, most }
  end
end

local function hex(n)
  local out = {}
  for i = 1, n do out[i] = ("%x"):format(random(0, 15)) end
  return table.concat(out)
end

local function uuid()
  return any { "00000000-0000-0000-0000-000000000000",
    ("%s-%s-%s-%s-%s"):format(hex(8), hex(4), hex(4), hex(4), hex(12)) }
end

local function ipv4()
  return ("%d.%d.%d.%d"):format(random(0, 255), random(0, 255), random(0, 255), random(0, 255))
end

local function ipv6()
  return any { "::", "::1", "::ffff:" .. ipv4(), "2001:db8::" .. digits(4), "ff02::1:ff00:1" }
end

local function wide(most, signed)
  return function()
    local number = any { "0", digits(random(1, most)), digits(20) }
    return signed and number ~= "0" and chance(2) and "-" .. number or number
  end
end

-- Those whose Float32 has no more bits.
local function bfloat16()
  return any { 0, -0.0, NAN, INF, -INF, random(-128, 127) * 2 ^ random(-100, 100), 3.3895313892515355e38 }
end

local function duration(scale)
  return function()
    local part = scale > 0 and "." .. digits(scale) or ""
    local hour = any { 0, 23, 999, random(0, 999) }
    return ("%s%02d:%02d:%02d%s"):format(any { "", "-" }, hour, random(0, 59), random(1, 59), part)
  end
end

local function point() return { float64(), random(-180, 180) } end

local function many(make)
  return function()
    local list = {}
    for i = 1, random(0, 3) do list[i] = make() end
    return list
  end
end

-- ---- days and instants ----------------------------------------------------------------------------

local function is_leap(year) return year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0) end
local MONTHS = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

local function day(first, last)
  return function()
    local year, month = random(first, last), random(12)
    local most = MONTHS[month] + (month == 2 and is_leap(year) and 1 or 0)
    return ("%04d-%02d-%02d"):format(year, month, random(most))
  end
end

local function clock(scale)
  local part = scale > 0 and "." .. (digits(scale)) or ""
  return ("%02d:%02d:%02d%s"):format(random(0, 23), random(0, 59), random(0, 59), part)
end

local function instant(first, last, scale, offset)
  local some_day = day(first, last)
  return function() return ("%s %s%s"):format(some_day(), clock(scale), offset) end
end

-- Seconds since year 0 and the fraction's text, in UTC, by counting.
local function parse(instant_text)
  local year, month, date, hour, minute, second, rest = instant_text:match "^(%d+)-(%d+)-(%d+) (%d+):(%d+):(%d+)(.*)$"
  local part, sign, hours, minutes = rest:match "^([%.%d]*)([+-])(%d%d):(%d%d)$"
  local days = 0
  for y = 1800, year - 1 do days = days + (is_leap(y) and 366 or 365) end
  for m = 1, month - 1 do days = days + MONTHS[m] + (m == 2 and is_leap(tonumber(year)) and 1 or 0) end
  local seconds = (((days + date) * 24 + hour) * 60 + minute) * 60 + second
  local offset = hours and (hours * 60 + minutes) * 60 or 0
  return seconds - (sign == "-" and -offset or offset), part or rest
end

local function same_instant(sent, got)
  local a, part = parse(sent)
  local b, other = parse(got)
  return a == b and part == other
end

local ENUM = "Enum8('' = -128, 'a' = 0, 'it''s' = 127)"
local ENUM16 = "Enum16('x' = -32768, 'y' = 300)"

-- text, make; low: inside of LowCardinality; key: "table" where a map by it is a plain table, "pairs"
-- where it is a list of pairs; same: where it is not the value itself that comes back.
local LEAVES = {
  { "UInt8", whole(0, 255), low = true, key = "table" }, { "UInt16", whole(0, 65535), key = "table" },
  { "UInt32", whole(0, 4294967295), low = true, key = "table" }, { "UInt64", uint64, low = true, key = "pairs" },
  { "Int8", whole(-128, 127), key = "table" }, { "Int16", whole(-32768, 32767) },
  { "Int32", whole(-2147483648, 2147483647), key = "table" }, { "Int64", int64, key = "pairs" },
  { "Float32", float32 }, { "Float64", float64, low = true },
  { "Bool", function() return chance(2) end, key = "table" },
  { "String", text, low = true, key = "table" }, { "FixedString(5)", fixed(5), low = true, key = "table" },
  { "Date", day(1970, 2148), low = true, key = "table" }, { "Date32", day(1900, 2299), key = "table" },
  { "DateTime('UTC')", instant(1970, 2105, 0, ""), low = true, key = "table" },
  { "DateTime", instant(1970, 2105, 0, "+00:00"), same = same_instant },
  { "DateTime('Europe/Berlin')", instant(1970, 2105, 0, "+00:00"), same = same_instant },
  { "DateTime64(0, 'UTC')", instant(1900, 2299, 0, "") }, { "DateTime64(3, 'UTC')", instant(1900, 2299, 3, "") },
  { "DateTime64(6, 'America/New_York')", instant(1900, 2299, 6, "+00:00"), same = same_instant },
  { "DateTime64(9, 'UTC')", instant(1900, 2261, 9, "") },
  { "Decimal(9, 4)", decimal(9, 4) }, { "Decimal(18, 0)", decimal(18, 0) }, { "Decimal(38, 19)", decimal(38, 19) },
  { "UInt128", wide(38, false) }, { "Int128", wide(38, true) }, { "UInt256", wide(76, false) },
  { "Int256", wide(76, true) }, { "BFloat16", bfloat16 }, { "Decimal(76, 30)", decimal(76, 30) },
  { "Time", duration(0) }, { "Time64(0)", duration(0) }, { "Time64(3)", duration(3) }, { "Time64(9)", duration(9) },
  { "IntervalSecond", int64 }, { "Point", point }, { "Ring", many(point) }, { "Polygon", many(many(point)) },
  { "MultiPolygon", many(many(many(point))) },
  { "QBit(Float32, 3)", function() return { float32(), float32(), float32() } end },
  { "SimpleAggregateFunction(max, UInt64)", uint64 },
  { "UUID", uuid, key = "table" }, { "IPv4", ipv4, key = "table" }, { "IPv6", ipv6 },
  { ENUM, function() return any { "", "a", "it's" } end, key = "table" },
  { ENUM16, function() return any { "x", "y" } end },
}

local function simpler_leaf(value)
  if type(value) == "string" and #value > 40 then return { value:sub(1, math.floor(#value / 2)) } end
  return {}
end

local function same_value(sent, got) return show(sent) == show(got) end

local function leaf_of(leaf)
  return { text = leaf[1], make = leaf[2], same = leaf.same or same_value, low = leaf.low, key = leaf.key,
    simpler = simpler_leaf, parts = {}, leaf = true }
end

local ALL, KEYS, LOW, NULLABLE = {}, {}, {}, {}
for _, leaf in ipairs(LEAVES) do
  local node = leaf_of(leaf)
  ALL[#ALL + 1] = node
  if node.key then KEYS[#KEYS + 1] = node end
  if node.low then LOW[#LOW + 1] = node end
  if not node.text:find "^[PRQM]" and not node.text:find "^Simple" then NULLABLE[#NULLABLE + 1] = node end
end

-- ---- types of types -------------------------------------------------------------------------------

local function without(list, i)
  local out = {}
  for k, item in ipairs(list) do
    if k ~= i then out[#out + 1] = item end
  end
  return out
end

local function with(list, i, item)
  local out = {}
  for k, each in ipairs(list) do out[k] = each end
  out[i] = item
  return out
end

local function nullable(child)
  return {
    text = ("Nullable(%s)"):format(child.text),
    make = function() return chance(4) and chute.null or child.make() end,
    same = function(sent, got)
      if sent == chute.null or got == chute.null then return sent == got end
      return child.same(sent, got)
    end,
    simpler = function(value) return value == chute.null and {} or child.simpler(value) end,
    parts = { { child, function(value)
      if value == chute.null then return nil end
      return value
    end } },
  }
end

local function low_cardinality(child)
  return { text = ("LowCardinality(%s)"):format(child.text), make = child.make, same = child.same,
    simpler = child.simpler, parts = { { child, function(value) return value end } } }
end

local function array(child)
  return {
    text = ("Array(%s)"):format(child.text),
    make = function()
      local list = {}
      for i = 1, any { 0, 1, 2, random(0, 6) } do list[i] = child.make() end
      return list
    end,
    same = function(sent, got)
      if type(got) ~= "table" or #sent ~= #got then return false end
      for i = 1, #sent do
        if not child.same(sent[i], got[i]) then return false end
      end
      return true
    end,
    simpler = function(value)
      local out = {}
      for i = 1, #value do out[#out + 1] = without(value, i) end
      for i = 1, #value do
        for _, smaller in ipairs(child.simpler(value[i])) do out[#out + 1] = with(value, i, smaller) end
      end
      return out
    end,
    parts = { { child, function(value) return value[1] end } },
  }
end

local function map(key, child)
  local function make_pairs(n)
    local list, seen = {}, {}
    for _ = 1, n do
      local k = key.make()
      if key.key == "pairs" or not seen[k] then
        seen[k] = true
        list[#list + 1] = { k, child.make() }
      end
    end
    return list
  end
  local function same_pairs(sent, got)
    if getmetatable(got) ~= getmetatable(sent) or #sent ~= #got then return false end
    for i = 1, #sent do
      if not key.same(sent[i][1], got[i][1]) or not child.same(sent[i][2], got[i][2]) then return false end
    end
    return true
  end
  return {
    text = ("Map(%s, %s)"):format(key.text, child.text),
    make = function()
      local list = make_pairs(any { 0, 1, 2, random(0, 6) })
      if key.key == "pairs" then return chute.pairs(list) end
      if #list > 0 and chance(8) then -- a key that comes twice
        list[#list + 1] = { list[1][1], child.make() }
        return chute.pairs(list)
      end
      local out = {}
      for _, pair in ipairs(list) do out[pair[1]] = pair[2] end
      return out
    end,
    same = function(sent, got)
      if type(got) ~= "table" then return false end
      if getmetatable(sent) then return same_pairs(sent, got) end
      for k, value in pairs(sent) do
        if got[k] == nil or not child.same(value, got[k]) then return false end
      end
      for k in pairs(got) do
        if sent[k] == nil then return false end
      end
      return getmetatable(got) == nil
    end,
    simpler = function(value)
      local out = {}
      if getmetatable(value) then
        -- down to one: without a key that comes twice it would come back in another form
        if key.key == "pairs" then
          for i = 1, #value do out[#out + 1] = chute.pairs(without(value, i)) end
        end
        return out
      end
      for k in pairs(value) do
        local fewer = {}
        for other, item in pairs(value) do
          if other ~= k then fewer[other] = item end
        end
        out[#out + 1] = fewer
      end
      return out
    end,
    parts = { { child, function(value)
      if getmetatable(value) then return value[1] and value[1][2] end
      return (select(2, next(value)))
    end } },
  }
end

local NAMES = { "a", "b c", "é", "it's", "`q`", '"d"', "back\\slash", "type", "1x", "NULL" }

local function tuple(children, names)
  local parts, texts = {}, {}
  for i, child in ipairs(children) do
    local key = names and names[i] or i
    parts[i] = { child, function(value) return value[key] end, key }
    texts[i] = (names and ("`%s` "):format((names[i]:gsub("[`\\]", "\\%0"))) or "") .. child.text
  end
  return {
    text = ("Tuple(%s)"):format(table.concat(texts, ", ")),
    make = function()
      local out = {}
      for _, part in ipairs(parts) do out[part[3]] = part[1].make() end
      return out
    end,
    same = function(sent, got)
      if type(got) ~= "table" then return false end
      for _, part in ipairs(parts) do
        if got[part[3]] == nil or not part[1].same(sent[part[3]], got[part[3]]) then return false end
      end
      return true
    end,
    simpler = function(value)
      local out = {}
      for _, part in ipairs(parts) do
        for _, smaller in ipairs(part[1].simpler(value[part[3]])) do
          local other = {}
          for key, item in pairs(value) do other[key] = item end
          other[part[3]] = smaller
          out[#out + 1] = other
        end
      end
      return out
    end,
    parts = parts,
  }
end

local function names_of(n)
  local pool, out = {}, {}
  for i, name in ipairs(NAMES) do pool[i] = name end
  for i = 1, n do out[i] = table.remove(pool, random(#pool)) end
  return out
end

local function wrapped_leaf()
  local kind = random(5)
  if kind == 1 then return nullable(any(NULLABLE)) end
  if kind == 2 then return low_cardinality(any(LOW)) end
  if kind == 3 then return low_cardinality(nullable(any(LOW))) end
  return any(ALL)
end

--- A type that has others inside of it at most `depth` deep.
function generator.type(depth)
  if depth <= 1 or chance(2) then return wrapped_leaf() end
  local function some() return generator.type(depth - 1) end
  local kind = random(8)
  if kind == 6 then return nodes.variant(some) end
  if kind == 7 then return nodes.dynamic(some) end
  if kind == 8 then return nodes.json(some) end
  if kind == 1 then return array(generator.type(depth - 1)) end
  if kind == 2 then return map(any(KEYS), generator.type(depth - 1)) end
  local children = {}
  for i = 1, random(3) do children[i] = generator.type(depth - 1) end
  return tuple(children, kind == 3 and names_of(#children) or nil)
end

--- Columns and rows (lists of values): { columns = { { name, node } … }, rows = { … } }.
function generator.case(depth)
  local case = { columns = {}, rows = {} }
  for i = 1, random(6) do case.columns[i] = { any(NAMES) .. i, generator.type(depth) } end
  for n = 1, random(40) do
    case.rows[n] = {}
    for i, column in ipairs(case.columns) do case.rows[n][i] = column[2].make() end
  end
  return case
end

-- ---- smaller cases --------------------------------------------------------------------------------

local function without_column(case, i)
  local rows = {}
  for n, row in ipairs(case.rows) do rows[n] = without(row, i) end
  return { columns = without(case.columns, i), rows = rows }
end

-- Column i as one of what it is made of; rows that have none of it are left out.
local function with_part(case, i, part)
  local rows = {}
  for _, row in ipairs(case.rows) do
    local value = part[2](row[i])
    if value ~= nil then rows[#rows + 1] = with(row, i, value) end
  end
  return { columns = with(case.columns, i, { case.columns[i][1], part[1] }), rows = rows }
end

local function cut_rows(case, from, to)
  local rows = {}
  for n, row in ipairs(case.rows) do
    if n < from or n > to then rows[#rows + 1] = row end
  end
  return { columns = case.columns, rows = rows }
end

--- Calls try(case) with smaller cases, the largest steps first, until it says true.
local function try_smaller(case, try)
  local half = math.floor(#case.rows / 2)
  if half > 0 and (try(cut_rows(case, 1, half)) or try(cut_rows(case, half + 1, #case.rows))) then return true end
  if #case.columns > 1 then
    for i = 1, #case.columns do
      if try(without_column(case, i)) then return true end
    end
  end
  for i, column in ipairs(case.columns) do
    for _, part in ipairs(column[2].parts) do
      local smaller = with_part(case, i, part)
      if #smaller.rows > 0 and try(smaller) then return true end
    end
  end
  for n, row in ipairs(case.rows) do
    for i, column in ipairs(case.columns) do
      for _, value in ipairs(column[2].simpler(row[i])) do
        if try { columns = case.columns, rows = with(case.rows, n, with(row, i, value)) } then return true end
      end
    end
  end
  return false
end

--- The smallest case found for which fails(case) still has something to say, and that; after at most
-- `tries` of them.
function generator.shrink(case, problem, fails, tries)
  local function try(smaller)
    if tries == 0 then return false end
    tries = tries - 1
    local found = fails(smaller)
    if found then case, problem = smaller, found end
    return found ~= nil
  end
  repeat until tries == 0 or not try_smaller(case, try)
  return case, problem
end

--- A case as text: columns, then rows.
function generator.describe(case)
  local lines = {}
  for _, column in ipairs(case.columns) do lines[#lines + 1] = ("  %q %s"):format(column[1], column[2].text) end
  for _, row in ipairs(case.rows) do lines[#lines + 1] = "  " .. show(row) end
  return table.concat(lines, "\n")
end

return generator
