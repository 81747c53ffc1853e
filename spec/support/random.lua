-- random: types and values for them by chance, some of them wrong; repeatable by math.randomseed.

local chute = require "chute"

local random = {}

local function any(list) return list[math.random(#list)] end

local LEAVES = {
  UInt8 = { 0, 255, "7", 9ULL }, Int16 = { -32768, 32767, "-1",
    -5LL }, UInt64 = { 2 ^ 53, 18446744073709551615ULL, "0" },
  Float32 = { 0.5, -1e30, "2.5" }, Float64 = { 1e300, 0, "-0.25" }, Bool = { true, false, 0, 1 },
  String = { "", "x", ("long"):rep(100), "\0\255", 5, 0.1 }, ["FixedString(3)"] = { "", "ab", "abc", 12 },
  Date = { "2024-02-29", 86400 }, ["DateTime('UTC')"] = { "2024-02-29 01:02:03", 0 },
  ["DateTime64(3, 'UTC')"] = { "1960-02-29 01:02:03.004", -0.5 }, UUID = { "61f0c404-5cb3-11e7-907b-a6006ad3dba0" },
  IPv4 = { "1.2.3.4", "\1\2\3\4" }, IPv6 = { "::1", "1.2.3.4" }, ["Enum8('a' = 1, 'b' = 2)"] = { "a", 2 },
  ["Decimal(38, 10)"] = { "-1.5", 0.1, 7 },
}
local NAMES, KEYS = {}, { "String", "UInt8", "UInt64", "Date", "UUID" }
for name in pairs(LEAVES) do table.insert(NAMES, name) end
table.sort(NAMES)

local JUNK = { 256, -1, 1e400, 0 / 0, "junk", true, {}, { 1 }, { a = 1 }, { n = 3 }, print, chute.null, -1LL,
  ("x"):rep(70000), { {} }, chute.pairs { 1 } }

local function nested(make, depth)
  local kind = math.random(3)
  if kind == 1 then return { array = make(depth - 1) } end
  if kind == 2 then return { key = { leaf = any(KEYS) }, value = make(depth - 1) } end
  local elements = {}
  for i = 1, math.random(3) do elements[i] = make(depth - 1) end
  return { elements = elements }
end

--- A type, nested up to `depth` deep.
function random.type(depth)
  if depth > 0 and math.random(2) == 1 then return nested(random.type, depth) end
  local leaf = { leaf = any(NAMES) }
  if math.random(3) == 1 then return { nullable = leaf } end
  return leaf
end

--- Its name, as ClickHouse writes it.
function random.name(kind)
  if kind.leaf then return kind.leaf end
  if kind.nullable then return "Nullable(" .. random.name(kind.nullable) .. ")" end
  if kind.array then return "Array(" .. random.name(kind.array) .. ")" end
  if kind.key then return ("Map(%s, %s)"):format(random.name(kind.key), random.name(kind.value)) end
  local names = {}
  for i, element in ipairs(kind.elements) do names[i] = random.name(element) end
  return "Tuple(" .. table.concat(names, ", ") .. ")"
end

local function many(make)
  local list = { n = 0 }
  for i = 1, math.random(0, 4) do list[i], list.n = make(), i end
  return list
end

--- A value for it; one part in `odds` is likely wrong (never where odds is nil).
function random.value(kind, odds)
  if odds and math.random(odds) == 1 then return any(JUNK) end
  if kind.leaf then return any(LEAVES[kind.leaf]) end
  if kind.nullable then return math.random(2) == 1 and chute.null or random.value(kind.nullable, odds) end
  if kind.array then return many(function() return random.value(kind.array, odds) end) end
  if kind.key then
    local pairs_of = many(function() return { random.value(kind.key, odds), random.value(kind.value, odds) } end)
    pairs_of.n = nil
    return chute.pairs(pairs_of)
  end
  local tuple = {}
  for i, element in ipairs(kind.elements) do tuple[i] = random.value(element, odds) end
  return tuple
end

return random
