-- How many page views of 29 columns a second: from a Lua table, from cells that are ready, and
-- through C unrolled by hand from the same cells?
local measure = require "bench.measure"
local native = require "bench.native"
local chute = require "chute"
local errors = require "chute.errors"
local C = require "chute.lib".C

local COUNT, ROWS = 100000, 1024

local schema = chute.load "examples/pageview.lua"
local event = dofile "examples/pageview_event.lua"
local buffer = chute.buffer(schema)

local function reset() buffer:reset() end

-- ---- rows ------------------------------------------------------------------------------------

-- What a column has that the event lacks.
local function value_of(column)
  local name = column.name
  if column.type == "Array(String)" then return { "author", "tags" } end
  if column.type:find "Decimal" then return "12.5" end
  if column.type:find "FixedString" then return "EUR" end
  if column.type:find "^UInt" then return 1814991 end
  return name:find "code" and "TH-10" or "some text"
end

local full, positions = {}, {}
for i, column in ipairs(schema.columns) do
  full[column.name] = event[column.name] or value_of(column)
  positions[i] = full[column.name]
end

--- Rows as JSON brings them: keys in any order, each there with the probability `share`.
local function varied(share)
  local rows, keys = {}, {}
  for _, column in ipairs(schema.columns) do keys[#keys + 1] = column.name end
  for r = 1, ROWS do
    for i = #keys, 2, -1 do
      local k = math.random(i)
      keys[i], keys[k] = keys[k], keys[i]
    end
    local row = {}
    for _, key in ipairs(keys) do
      if math.random() < share then row[key] = full[key] end
    end
    row["meta.value"] = row["meta.key"] and full["meta.value"] -- of one Nested: both or none
    rows[r] = row
  end
  return rows
end

-- ---- cases -----------------------------------------------------------------------------------

local function add_rows(rows)
  return { before = reset, run = function(n)
    for i = 1, n do buffer:add_row(rows[i % #rows + 1]) end
  end }
end

local function add_row(row)
  return { before = reset, run = function(n)
    for _ = 1, n do buffer:add_row(row) end
  end }
end

local function fill(row) return { run = function(n)
  local read = schema.fill
  for _ = 1, n do read(row) end
end } end

local function ready(row)
  reset()
  assert(schema.fill(row) == nil)
end

local function closure(row) return { before = function() ready(row) end, run = function(n)
  local ptr, cells, raw = buffer.ptr, schema.cells, errors.raw
  for _ = 1, n do C.chute_buffer_add(ptr, cells, raw) end
end } end

local function unrolled(row) return { before = function() ready(row) end, run = function(n)
  local ptr, cells = buffer.ptr, schema.cells
  for _ = 1, n do native.unrolled_add(ptr, cells) end
end } end

--- Both must write the same bytes, or they do not do the same work.
local function check(rows)
  for _, row in ipairs(rows) do
    ready(row)
    assert(C.chute_buffer_add(buffer.ptr, schema.cells, errors.raw) == 0)
    local expected = buffer:tostring()
    reset()
    assert(native.unrolled_add(buffer.ptr, schema.cells) == 0)
    assert(buffer:tostring() == expected, "unrolled C writes other bytes")
  end
end

-- Memory that was never touched costs more than writing to it: it has to be there first.
local function grow()
  for _ = 1, COUNT do assert(buffer:add_row(full)) end
  reset()
end

local function named(name, against, case)
  case.name, case.against = name, against
  return case
end

local function report(what, row)
  measure.report(what, {
    named("cells, unrolled C", nil, unrolled(row)),
    named("cells, the schema's closure", "cells, unrolled C", closure(row)),
    named("filling the cells", "cells, the schema's closure", fill(row)),
    named("Lua table", "cells, the schema's closure", add_row(row)),
  }, { count = COUNT, unit = "row" })
end

grow()
check { event, full }
check(varied(0.5))
report("page view: 29 columns, 13 of them in the row, 110 bytes", event)
report(("page view: 29 columns, all in the row, %d bytes"):format(#schema:encode(full)), full)
measure.report(("page views from Lua, %d rows in turn"):format(ROWS), {
  named("the one event", nil, add_row(event)),
  named("all columns, by position", "the one event", add_row(positions)),
  named("keys in an order of their own", "the one event", add_rows(varied(1))),
  named("the same, 10% absent", "the one event", add_rows(varied(0.9))),
  named("the same, 40% absent", "the one event", add_rows(varied(0.6))),
  named("the same, 60% absent", "the one event", add_rows(varied(0.4))),
  named("the same, 90% absent", "the one event", add_rows(varied(0.1))),
}, { count = COUNT, unit = "row" })
