-- Rows by chance, of types by chance: encoded, sent to ClickHouse 26.5, read back and decoded, they are
-- what they were.
--
-- CHUTE_PROPERTY_CASES (200): tables of up to 40 rows; CHUTE_PROPERTY_SECONDS: as many as go in that
-- time instead. CHUTE_PROPERTY_SEED: of the first case, to repeat one; else by the clock.

local chute = require "chute"
local generator = require "spec.support.generator"
local judge = require "spec.support.judge"
local process = require "spec.support.process"
local rows = require "chute.rows"
local show = require "spec.support.show"

local CASES = tonumber(os.getenv "CHUTE_PROPERTY_CASES") or 200
local SECONDS = tonumber(os.getenv "CHUTE_PROPERTY_SECONDS")
local SEED = tonumber(os.getenv "CHUTE_PROPERTY_SEED") or os.time() % 1e6 * 1000
local DEPTH, TRIES = 4, 400

local function buffer_of(case)
  local def = { columns = {}, format = "RowBinaryWithNamesAndTypes" }
  for i, column in ipairs(case.columns) do
    local text = column[2].text
    def.columns[i] = { column[1], text, json = text:find "JSON" and "paths" or nil }
  end
  local buf = chute.buffer(def)
  for n, row in ipairs(case.rows) do
    local ok, err = buf:add_row(row)
    if not ok then error(("row %d is refused: %s"):format(n, tostring(err)), 0) end
  end
  return buf
end

local function decode(body)
  local list = {}
  for row in rows.iterate(rows.decoder {}, rows.slices(body)) do list[#list + 1] = row end
  return list
end

local function compare(case, got)
  if #got ~= #case.rows then error(("%d rows became %d"):format(#case.rows, #got), 0) end
  for n, row in ipairs(case.rows) do
    for i, column in ipairs(case.columns) do
      local value = got[n][column[1]]
      if not column[2].same(row[i], value) then
        error(("row %d, %q: %s became %s"):format(n, column[1], show(row[i]), show(value)), 0)
      end
    end
  end
end

describe("rows by chance", function()
  local court
  setup(function() court = judge.new "26.5" end)
  teardown(function() court:drop() end)

  -- What is wrong with a case, or nil.
  local function fails(case)
    local ok, problem = pcall(function()
      local buf = buffer_of(case)
      local bytes = buf:tostring()
      compare(case, decode(bytes))
      local name = court:insert(buf)
      local body = court:query(("SELECT * FROM %s FORMAT RowBinaryWithNamesAndTypes"):format(name))
      court:query("DROP TABLE " .. name)
      compare(case, decode(body))
      -- only ClickHouse knows in which order the paths of JSON come
      local ordered = not generator.describe(case):find "JSON"
      if body ~= bytes and ordered then error("the bytes that come back are others", 0) end
    end)
    if not ok then return tostring(problem) end
  end

  local function check(seed)
    math.randomseed(seed)
    local case = generator.case(DEPTH)
    local problem = fails(case)
    if not problem then return #case.rows end
    case, problem = generator.shrink(case, problem, fails, TRIES)
    error(("CHUTE_PROPERTY_SEED=%d: %s\n%s"):format(seed, problem, generator.describe(case)), 0)
  end

  it("come back as they were", function()
    local seed, count, deadline = SEED, 0, SECONDS and process.now() + SECONDS
    while deadline and process.now() < deadline or not deadline and seed < SEED + CASES do
      count, seed = count + check(seed), seed + 1
    end
    io.write(("(%d rows, %d tables, seeds %d to %d) "):format(count, seed - SEED, SEED, seed - 1))
  end)

  it("would be told apart, and made small", function()
    math.randomseed(1)
    local function wrong(case)
      for _, row in ipairs(case.rows) do
        for _, value in ipairs(row) do
          if (" " .. show(value)):find "[ {]NULL" then return "a NULL" end
        end
      end
    end
    local case
    repeat case = generator.case(DEPTH) until wrong(case) and not generator.describe(case):find "Variant"
      and not generator.describe(case):find "Dynamic"
    local small, problem = generator.shrink(case, "a NULL", wrong, 10000)
    assert.same({ "a NULL", 1, 1 }, { problem, #small.columns, #small.rows })
    assert.matches("Nullable%([^%(]*.*%)\n  {NULL}$", generator.describe(small))
  end)
end)
