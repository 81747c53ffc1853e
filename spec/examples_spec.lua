-- The example schemas, and the demo's numbers against the files themselves.
local cjson = require "cjson"
local process = require "spec.support.process"
local server = require "spec.support.server"

local DATA = ".cache/vega-datasets/data/"

local dir

setup(function() dir = process.make_dir() end)
teardown(function() process.remove_dir(dir) end)

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

-- Runs a program: its exit code, output and errors.
local function run(argv)
  os.remove(dir .. "/stderr")
  local child = process.spawn { argv = argv, stdout = true, log = dir .. "/stderr" }
  local lines = {}
  while true do
    local line, why = child:read_line(120)
    if not line then
      assert.are.equal("end", why)
      break
    end
    lines[#lines + 1] = line
  end
  return assert(child:wait(60)), table.concat(lines, "\n") .. "\n", read(dir .. "/stderr")
end

-- As quantileExact has it: the element at level * n of the sorted list, counted from 0.
local function quantile(list, level)
  table.sort(list)
  return list[math.floor(#list * level) + 1]
end

-- The airports where flights run latest, from the file as a whole.
local function latest_airports(flights)
  local delays, airports = {}, {}
  for _, flight in ipairs(flights) do
    local list = delays[flight.origin] or {}
    delays[flight.origin] = list
    list[#list + 1] = flight.delay
  end
  for origin, list in pairs(delays) do
    if #list >= 200 then
      airports[#airports + 1] =
        { origin = origin, flights = #list, median = quantile(list, 0.5), p90 = quantile(list, 0.9) }
    end
  end
  table.sort(airports, function(a, b)
    if a.median ~= b.median then return a.median > b.median end
    if a.p90 ~= b.p90 then return a.p90 > b.p90 end
    return a.origin < b.origin
  end)
  return airports
end

-- Strikes and dollars while approaching: a file without quotes splits at its commas.
local function approaches()
  local rows, strikes, dollars = 0, 0, 0
  for line in io.lines(DATA .. "birdstrikes.csv") do
    local fields = {}
    for field in (line:gsub("\r$", "") .. ","):gmatch "([^,]*)," do fields[#fields + 1] = field end
    rows = rows + 1
    if fields[7] == "Approach" then
      strikes = strikes + 1
      dollars = dollars + tonumber(fields[11]) + tonumber(fields[12])
    end
  end
  return rows - 1, strikes, dollars
end

describe("the demo #chdb", function()
  it("prints what the files hold", function()
    local code, out, err = run { "luajit", "examples/demo.lua" }
    assert.are.equal("", err)
    assert.are.equal(0, code)
    local flights = cjson.decode(read(DATA .. "flights-20k.json"))
    local rows, strikes, dollars = approaches()
    assert.matches("flights +│ +" .. #flights .. " ", out)
    assert.matches("birdstrikes +│ +" .. rows .. " ", out)
    local airports = latest_airports(flights)
    for rank = 1, 8 do
      local a = airports[rank]
      assert.matches(("\n%d%%. │ %s +│ +%d │ +%d │ +%d │"):format(rank, a.origin, a.flights, a.median, a.p90), out)
    end
    assert.matches(("│ Approach +│ +%d │.*│ +%d │"):format(strikes, dollars), out)
    for _, count in ipairs { #flights, rows } do
      assert.matches("offered +" .. count .. "\nacked +" .. count .. "\nrejected +0\n", out)
    end
  end)
end)

describe("the page view example", function()
  it("is a row whatever the event leaves out", function()
    local database = server.shared.chdb():database()
    finally(function() database:drop() end)
    database:query(read "examples/pageview.sql")
    local script = read "examples/pageview.lua":gsub('"pageviews"', ('"%s.pageviews"'):format(database.name))
    local events = '{"name":"pageview"}\n{"user_id":18167959095776540841}\n'
    for name, text in pairs { ["s.lua"] = script, ["e.ndjson"] = events } do
      local file = assert(io.open(dir .. "/" .. name, "w"))
      file:write(text)
      file:close()
    end
    local code, _, err = run { "bin/chute", "insert", dir .. "/s.lua", dir .. "/e.ndjson", "--to", database.url }
    assert.are.equal("", err)
    assert.are.equal(0, code)
    assert.are.equal("\t18167959095776540841\t[]\t\\N\npageview\t0\t[]\t\\N\n", database:query [[
      SELECT name, user_id, meta.key, revenue_source_amount FROM pageviews ORDER BY name FORMAT TabSeparated]])
  end)

  it("has the columns of its table", function()
    local code, out = run { "bin/chute", "check", "examples/pageview.lua" }
    assert.are.equal(0, code)
    assert.matches("ok: 29 columns of pageviews\n$", out)
    local table_columns = {}
    for name, kind in read "examples/pageview.sql":gmatch "\n    `?([%w_.]+)`? ([^\n]+)" do
      table_columns[#table_columns + 1] = name .. " " .. kind:gsub(",$", ""):gsub("Decimal64%(3%)", "Decimal(18, 3)")
    end
    local columns = {}
    for name, kind in out:gmatch "([%w_.]+)  +([^\n]+)\n" do columns[#columns + 1] = name .. " " .. kind end
    assert.are.same(table_columns, columns)
  end)
end)
