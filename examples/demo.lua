-- `make demo`: real flights and bird strikes, by the schema scripts beside this file, into a
-- ClickHouse embedded in this process; then what arrived.
--
-- One process, since an embedded engine belongs to one: `chute insert … --to chdb:PATH` and
-- `chute query chdb:PATH …`, one after the other, do the same.
local chute = require "chute"
local insert = require "chute.cli.insert"

local here = arg[0]:match "^(.*/)[^/]*$" or "./"
local data = here .. "../.cache/vega-datasets/data/"

local sources = {
  { name = "flights", file = data .. "flights-20k.json" },
  { name = "birdstrikes", file = data .. "birdstrikes.csv" },
}

local questions = {
  { "How many arrived?", [[
    SELECT * FROM (
      SELECT 'flights' AS of, count() AS rows, toDate(min(departed)) AS first, toDate(max(departed)) AS last
      FROM flights
      UNION ALL
      SELECT 'birdstrikes', count(), min(date), max(date) FROM birdstrikes
    ) ORDER BY of]] },
  { "Where do flights run late? Airports with 200 flights or more, by median delay in minutes", [[
    SELECT origin, count() AS flights, quantileExact(0.5)(delay) AS median, quantileExact(0.9)(delay) AS p90,
      round(100 * countIf(delay > 15) / count(), 1) AS late_percent
    FROM flights GROUP BY origin HAVING flights >= 200
    ORDER BY median DESC, p90 DESC, origin LIMIT 8]] },
  { "When do birds cost most? Strikes by phase of flight", [[
    SELECT phase, count() AS strikes, round(100 * countIf(damage > 'None') / count(damage), 1) AS damaged_percent,
      round(avg(speed)) AS mean_knots, sum(cost_repair + cost_other) AS dollars,
      if(dollars > 0, argMax(species, cost_repair + cost_other), '') AS costliest
    FROM birdstrikes GROUP BY phase ORDER BY dollars DESC, phase]] },
}

local function read_file(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

local function ask(pool, sql, format)
  local answer, err = pool:query(sql, { format = format })
  if not answer then error(tostring(err), 0) end
  return answer.body
end

local function ingest(pool, source)
  print(("\n%s, by examples/%s.lua"):format(source.file:match "[^/]*$", source.name))
  ask(pool, read_file(here .. source.name .. ".sql"))
  local code = insert.run({ schema = here .. source.name .. ".lua", files = { source.file } }, pool)
  if code ~= 0 then error(("demo: the insert ended with %d"):format(code), 0) end
end

local function run(folder)
  local pool = chute.pool { url = "chdb:" .. folder .. "/clickhouse" }
  local ok, err = pcall(function()
    for _, source in ipairs(sources) do ingest(pool, source) end
    for _, question in ipairs(questions) do
      print("\n" .. question[1])
      io.write(ask(pool, question[2], "PrettyCompactMonoBlock"))
    end
  end)
  pool:close()
  if not ok then error(err, 0) end
end

local function temporary_folder()
  local pipe = io.popen "mktemp -d"
  local folder = pipe:read "*l"
  pipe:close()
  return assert(folder, "demo: no temporary folder can be made")
end

local folder = temporary_folder()
local ok, err = pcall(run, folder)
os.execute("rm -rf '" .. folder .. "'")
if not ok then
  io.stderr:write(tostring(err), "\n")
  os.exit(1)
end
