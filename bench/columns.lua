-- What does a column cost in a narrow schema and in a wide one?
local measure = require "bench.measure"
local chute = require "chute"
local errors = require "chute.errors"
local C = require "chute.lib".C

local COUNTS, BASE, VALUES = { 10, 30, 100, 200, 400 }, 30, 1000000

local TYPES = { "UInt32", "String", "DateTime", "Float64", "LowCardinality(String)", "Int64",
  "Nullable(String)", "Bool", "UInt8", "Date" }
local SAMPLES = { 123456, "some text", "2024-12-13 12:53:59", 1.5, "word", -77, "perhaps", true, 7,
  "2024-12-13" }

local function mixed(count)
  local columns, row = {}, {}
  for i = 1, count do
    local k = (i - 1) % #TYPES + 1
    columns[i], row["column_" .. i] = { "column_" .. i, TYPES[k] }, SAMPLES[k]
  end
  local buffer = chute.buffer { columns = columns }
  for _ = 1, VALUES / count do assert(buffer:add_row(row)) end
  return buffer, row
end

local function from_lua(buffer, row) return function(n)
  for _ = 1, n do buffer:add_row(row) end
end end

local function from_cells(buffer) return function(n)
  local ptr, cells, raw = buffer.ptr, buffer.schema.cells, errors.raw
  for _ = 1, n do C.chute_buffer_add(ptr, cells, raw) end
end end

local function cases(what, make)
  local list = {}
  for i, count in ipairs(COUNTS) do
    local buffer, row = mixed(count)
    list[i] = { name = ("%s, %d columns"):format(what, count), columns = count,
      against = ("%s, %d columns"):format(what, BASE), count = VALUES / count,
      before = function()
        buffer:reset()
        buffer.schema.fill(row)
      end, run = make(buffer, row) }
  end
  return measure.compare(list, {})
end

local rows = {}
for _, case in ipairs(cases("cells", from_cells)) do rows[#rows + 1] = case end
for _, case in ipairs(cases("Lua table", from_lua)) do rows[#rows + 1] = case end
for i, case in ipairs(rows) do
  case.ratio = case.ratio * BASE / case.columns
  rows[i] = { case.name, measure.duration(case.ns), measure.duration(case.ns / case.columns),
    measure.ratio(case) }
end
measure.print("ten types in turn, every column in the row",
  { "", "a row", "a column", "ratio of columns", "to", "that to itself" }, rows)
