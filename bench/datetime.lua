-- What does a timestamp as text cost, near the last one seen (the same hour) and far from it?
local measure = require "bench.measure"
local chute = require "chute"
local errors = require "chute.errors"
local lib = require "chute.lib"
local C, ffi = lib.C, lib.ffi

local COUNT = 200000

--- Cells of one row of one column with that value, a number or text; the text is kept alive.
local kept = {}
local function cells_of(value)
  local cells = ffi.gc(C.chute_cells_new(1), C.chute_cells_free)
  local cell = cells.at[0]
  if type(value) == "number" then
    cell.num, cell.kind = value, C.CHUTE_CELL_NUMBER
  else
    kept[#kept + 1] = value
    cell.ptr, cell.len, cell.kind = value, #value, C.CHUTE_CELL_STRING
  end
  return cells
end

--- Rows that take turns between two values.
local function case(name, ctype, one, other)
  local buffer = chute.buffer { columns = { { "at", ctype } } }
  local a, b = cells_of(one), cells_of(other)
  for _ = 1, COUNT do assert(C.chute_buffer_add(buffer.ptr, a, errors.raw) == 0) end
  return { name = name, against = name ~= "DateTime, a number" and "DateTime, a number" or nil,
    before = function() buffer:reset() end,
    run = function(n)
      local ptr, raw = buffer.ptr, errors.raw
      for _ = 1, n / 2 do
        C.chute_buffer_add(ptr, a, raw)
        C.chute_buffer_add(ptr, b, raw)
      end
    end }
end

local NEW_YORK = "DateTime('America/New_York')"
measure.report("rows of one timestamp, from cells", {
  case("DateTime, a number", "DateTime", 1734094439, 1734094440),
  case("DateTime, the same hour", "DateTime", "2024-12-13 12:53:59", "2024-12-13 12:54:07"),
  case("DateTime, another hour", "DateTime", "2024-12-13 12:53:59", "2024-12-13 13:54:07"),
  case("New York, the same hour", NEW_YORK, "2024-12-13 12:53:59", "2024-12-13 12:54:07"),
  case("New York, another hour", NEW_YORK, "2024-12-13 12:53:59", "2024-12-13 13:54:07"),
  case("DateTime64(3), the same hour", "DateTime64(3)", "2024-12-13T12:53:59.123Z", "2024-12-13T12:54:07.456Z"),
  case("DateTime64(3), another hour", "DateTime64(3)", "2024-12-13T12:53:59.123Z", "2024-12-13T13:54:07.456Z"),
  case("Date, text", "Date", "2024-12-13", "2024-12-14"),
}, { count = COUNT, unit = "row" })
