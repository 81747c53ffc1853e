--- Measures cases side by side and prints a table.
--
-- A machine changes its speed as it goes, so the cases take turns: A B C A, A B C A … in one
-- process, and what is compared is the ratio within one turn. A case that others are compared
-- with runs twice a turn, first and last: how far those two are apart is how far two cases must
-- be apart before it means anything.
local ffi = require "ffi"

local M = {}

ffi.cdef "int clock_gettime(int clock, void *out);"
local timespec = ffi.new "struct { long s, ns; }[1]"
local CLOCKS = { wall = 1, process = 2, thread = 3 }

--- Seconds of a clock: "wall"; or the processor time of this "thread" or of the whole "process".
function M.now(clock)
  ffi.C.clock_gettime(CLOCKS[clock], timespec)
  return tonumber(timespec[0].s) + tonumber(timespec[0].ns) / 1e9
end

--- The value below which `share` (0 to 1) of the values are.
local function quantile(values, share)
  local sorted = { unpack(values) }
  table.sort(sorted)
  return sorted[math.max(1, math.ceil(share * #sorted))]
end
M.quantile = quantile

--- Nanoseconds of one time by the clock, and by a second one.
local function time(case, clock, second)
  if case.before then case.before() end
  local also, started = M.now(second or clock), M.now(clock)
  case.run(case.count)
  local ended = M.now(clock)
  return (ended - started) / case.count * 1e9, (M.now(second or clock) - also) / case.count * 1e9
end

local function find_bases(cases)
  local bases = {}
  for _, case in ipairs(cases) do
    if case.against then bases[case.against] = true end
  end
  return bases
end

local function turn(cases, bases, clock, second)
  for _, case in ipairs(cases) do
    local i = #case.times + 1
    case.times[i], case.seconds[i] = time(case, clock, second)
  end
  for _, case in ipairs(cases) do
    if bases[case.name] then case.again[#case.again + 1] = (time(case, clock)) end
  end
end

local function ratios(above, below)
  local out = {}
  for i = 1, #above do out[i] = above[i] / below[i] end
  return out
end

local function by_name(cases, name)
  for _, case in ipairs(cases) do
    if case.name == name then return case end
  end
  error("no case is named " .. name)
end

--- Times the cases by turns. A case: name; run(count), which does it `count` times; before(), not
-- timed; against, the name of the case to compare with.
-- opts: count (of a case that has none), repeats (31), clock ("thread"), second (another clock).
-- Fills in each case's ns and second_ns (medians, of one time), and where it has an `against`: ratio (median) and
-- spread ({ low, high }: 90% of the ratios of that other case to itself).
function M.compare(cases, opts)
  local clock, bases = opts.clock or "thread", find_bases(cases)
  for _, case in ipairs(cases) do
    case.times, case.again, case.seconds, case.count = {}, {}, {}, case.count or opts.count
    time(case, clock)
  end
  for _ = 1, opts.repeats or 31 do
    collectgarbage()
    turn(cases, bases, clock, opts.second)
  end
  for _, case in ipairs(cases) do
    case.ns, case.second_ns = quantile(case.times, 0.5), quantile(case.seconds, 0.5)
    if case.against then
      local base = by_name(cases, case.against)
      local itself = ratios(base.again, base.times)
      case.ratio = quantile(ratios(case.times, base.times), 0.5)
      case.spread = { quantile(itself, 0.05), quantile(itself, 0.95) }
    end
  end
  return cases
end

-- ---- printing -------------------------------------------------------------------------------

--- Prints a table: `columns` are headings, the first to the left, the others to the right.
function M.print(title, columns, rows)
  local widths = {}
  for c, heading in ipairs(columns) do
    widths[c] = #heading
    for _, row in ipairs(rows) do widths[c] = math.max(widths[c], #row[c]) end
  end
  print("\n" .. title)
  local function line(row)
    local cells = {}
    for c, text in ipairs(row) do cells[c] = ("%" .. (c == 1 and "-" or "") .. widths[c] .. "s"):format(text) end
    print("  " .. table.concat(cells, "  "))
  end
  line(columns)
  for _, row in ipairs(rows) do line(row) end
end

--- A duration in a unit that suits it, from nanoseconds.
function M.duration(ns)
  if ns < 1e4 then return ("%.1f ns"):format(ns) end
  if ns < 1e7 then return ("%.1f us"):format(ns / 1e3) end
  return ("%.1f ms"):format(ns / 1e6)
end

--- The ratio, what it is to, and that case to itself: three texts, empty without a ratio.
function M.ratio(case)
  if not case.ratio then return "", "", "" end
  return ("%.2f"):format(case.ratio), case.against,
    ("%.2f-%.2f"):format(case.spread[1], case.spread[2])
end

--- Compares and prints: time, times a second, ratio. opts as for compare; unit: what one is.
function M.report(title, cases, opts)
  local rows = {}
  for i, case in ipairs(M.compare(cases, opts)) do
    rows[i] = { case.name, M.duration(case.ns), ("%.2f M"):format(1e3 / case.ns), M.ratio(case) }
  end
  M.print(title, { "", "a " .. opts.unit, opts.unit .. "s/s", "ratio", "to", "that to itself" }, rows)
  return cases
end

return M
