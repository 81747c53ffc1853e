-- Every type that has an encoder: values in from Lua, and out of ClickHouse 26.5 and 18.16 as text
-- and as bytes; alone, and inside every type that may hold it. The values: spec/support/cases.

local chute = require "chute"
local judge = require "spec.support.judge"

local FAMILIES = { "number", "text", "time", "wide", "duration", "shape", "choice" }

local function map(list, change)
  local out = {}
  for i, item in ipairs(list) do out[i] = change(item, i) end
  return out
end

local function with(list, item)
  local out = map(list, function(each) return each end)
  table.insert(out, item)
  return out
end

-- The ways a value of a type T travels. type: of the column; rows: of the values; select: what
-- shows them one a line again; bad: a row with a bad value after a good one; path: of the bad one
-- in the message; null: what a NULL in the bad one's place is told.
local NEEDED = "NULL where a value of %s is needed"
local REFUSED = "NULL, and the column has neither a default nor NULL"

local function alone(value) return value end
local function after(value, good) return { good, value } end
local function one_list(list) return { list } end
local function pairs_of(list)
  return chute.pairs(map(list, function(value, i) return { i, value } end))
end

local WAYS = {
  { type = "%s", rows = alone, select = "$v FROM $t", bad = alone, path = "", null = REFUSED },
  { type = "Nullable(%s)", nulls = true, rows = alone, select = "$v FROM $t", bad = alone, path = "" },
  { type = "LowCardinality(%s)", low = true, rows = alone, select = "$v FROM $t", bad = alone,
    path = "", null = REFUSED },
  { type = "LowCardinality(Nullable(%s))", low = true, nulls = true, rows = alone,
    select = "$v FROM $t", bad = alone, path = "" },
  { type = "Array(%s)", rows = function(list) return { list, {}, { n = 0 } } end,
    select = "arrayJoin($v) FROM $t", bad = after, path = "[2]", null = NEEDED },
  { type = "Array(Nullable(%s))", nulls = true, rows = one_list, select = "arrayJoin($v) FROM $t",
    bad = after, path = "[2]" },
  { type = "Array(LowCardinality(%s))", low = true, rows = one_list,
    select = "arrayJoin($v) FROM $t", bad = after, path = "[2]", null = NEEDED },
  { type = "Array(Array(%s))", rows = function(list) return { { {}, list, {} } } end,
    select = "arrayJoin(arrayJoin($v)) FROM $t", bad = function(value) return { {}, { value } } end,
    path = "[2][1]", null = NEEDED },
  { type = "Tuple(UInt8, %s)",
    rows = function(list) return map(list, function(value) return { 7, value } end) end,
    select = "$v.2 FROM $t", bad = function(value) return { 7, value } end, path = "[2]", null = NEEDED },
  { type = "Tuple(a UInt8, b %s)", new = true,
    rows = function(list) return map(list, function(value) return { b = value, a = 7 } end) end,
    select = "$v.2 FROM $t", bad = function(value) return { a = 7, b = value } end, path = ".b", null = NEEDED },
  { type = "Map(String, %s)", new = true, rows = function(list) return { {}, pairs_of(list) } end,
    select = "arrayJoin(mapValues($v)) FROM $t", bad = function(value) return { key = value } end,
    path = "['key']", null = NEEDED },
  { type = "Array(Map(UInt32, Nullable(%s)))", new = true, nulls = true,
    rows = function(list) return { { {}, pairs_of(list) } } end,
    select = "arrayJoin(mapValues(arrayJoin($v))) FROM $t",
    bad = function(value) return { {}, chute.pairs { { 9, value } } } end, path = "[2][9]" },
}

local function first(pair) return pair[1] end

local function travels(way, case, version)
  return not (way.new and version == "18.16")
    and (not way.low or case.low == true or case.low == version)
    and not (way.nulls and case.bare)
end

local function ways_of(case, version)
  local ways = {}
  for _, way in ipairs(WAYS) do
    if travels(way, case, version) then table.insert(ways, way) end
  end
  return ways
end

-- All ways of a case are columns of one table; one with fewer rows than another repeats its first.
local function table_of(case, ways)
  local def, values, count = { timezone = case.timezone, columns = {} }, {}, 0
  for w, way in ipairs(ways) do
    def.columns[w] = { "v" .. w, way.type:format(case.type), unit = case.unit }
    local list = map(case.good, first)
    values[w] = way.rows(way.nulls and with(list, chute.null) or list)
    count = math.max(count, #values[w])
  end
  local rows = {}
  for n = 1, count do
    rows[n] = map(ways, function(_, w)
      local value = values[w][n]
      if value == nil then return values[w][1] end
      return value
    end)
  end
  return def, rows
end

local function check_good(court, case, version)
  local ways = ways_of(case, version)
  local name = court:round_trip(table_of(case, ways))
  for w, way in ipairs(ways) do
    local texts = map(case.good, function(pair) return version == "18.16" and pair.old or pair[2] end)
    if way.nulls then texts = with(texts, "\\N") end
    local shown = court:lines("SELECT " .. way.select:gsub("%$v", "v" .. w):gsub("%$t", name))
    for n = #shown, #texts + 1, -1 do shown[n] = nil end -- repeated ones
    assert.same(texts, shown, way.type:format(case.type))
  end
end

-- The error of a bad value names row, column, place, type and value, and leaves no byte behind.
local function check_bad(way, case)
  local name = way.type:format(case.type)
  local buf = chute.buffer { timezone = case.timezone,
    columns = { { "n", "UInt32" }, { "v", name, unit = case.unit } } }
  local good = case.good[1][1]
  assert.is_true(buf:add_row { 1, way.rows { good }[1] })
  local bytes = buf:tostring()
  local function refused(value, reason)
    local ok, err = buf:add_row { 2, way.bad(value, good) }
    local wanted = ("row 2, column 'v'%s (%s): %s"):format(way.path, name, reason)
    assert.same({ nil, wanted }, { ok, tostring(err) })
    assert.same({ "row", "v", 2 }, { err.kind, err.column, err.row })
    assert.equal(bytes, buf:tostring())
  end
  for _, pair in ipairs(case.bad) do refused(pair[1], pair[2]) end
  if way.null and not case.takes_null then refused(chute.null, way.null:format(case.family or case.type)) end
end

for _, family in ipairs(FAMILIES) do
  local cases = require("spec.support.cases." .. family)

  for _, version in ipairs { "26.5", "18.16" } do
    describe(("%s values in ClickHouse %s"):format(family, version), function()
      local court
      setup(function() court = judge.new(version) end)
      teardown(function() court:drop() end)

      for _, case in ipairs(cases) do
        if version == "26.5" or case.old then
          it(("arrive: %s %s"):format(case.type, case.unit or ""), function()
            check_good(court, case, version)
          end)
        end
      end
    end)
  end

  describe(family .. " values", function()
    for _, case in ipairs(cases) do
      it(("out of bounds are refused: %s %s"):format(case.type, case.unit or ""), function()
        for _, way in ipairs(ways_of(case, "26.5")) do check_bad(way, case) end
      end)
    end
  end)
end
