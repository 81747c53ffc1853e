-- What does inserting cost the thread that inserts, and how many rows a second arrive?
local measure = require "bench.measure"
local chute = require "chute"
local process = require "spec.support.process"
local server = require "spec.support.server"

local COUNT, SENT = 100000, 200000

local schema = chute.load "examples/pageview.lua"
local event = dofile "examples/pageview_event.lua"

local function insert(stream) return function(n)
  for _ = 1, n do assert(stream:insert(event)) end
end end

-- ---- the inserting thread --------------------------------------------------------------------

local function into_buffer()
  local buffer = chute.buffer(schema)
  return { name = "buffer:add_row", before = function() buffer:reset() end, run = function(n)
    for _ = 1, n do assert(buffer:add_row(event)) end
  end }
end

--- Batches go to files that are removed between the runs.
local function into_stream(name, dir, opts)
  local stream = chute.open { url = "file:" .. dir, schema = schema, compress = opts.compress,
    batch = { rows = opts.rows } }
  return { name = name, against = "buffer:add_row", run = insert(stream), stream = stream,
    before = function()
      assert(stream:drain(60))
      os.execute(("rm -f '%s'/*"):format(dir))
    end }
end

local function report_thread()
  local dir = process.make_dir()
  local cases = { into_buffer(),
    into_stream("stream:insert, batches of 100000", dir, { compress = "zstd" }),
    into_stream("stream:insert, batches of 1000", dir, { compress = "zstd", rows = 1000 }) }
  measure.report("page views: processor time of the thread that inserts, destination file:", cases,
    { count = COUNT, unit = "row" })
  for _, case in ipairs(cases) do
    if case.stream then assert(case.stream:close(60)) end
  end
  process.remove_dir(dir)
end

-- ---- to the end ------------------------------------------------------------------------------

local DDL = io.open("examples/pageview.sql"):read "*a"

local function create(db, name, engine)
  local ddl = DDL:gsub("TABLE pageviews", "TABLE " .. name)
  if engine then ddl = ddl:gsub("ENGINE = .*", "ENGINE = " .. engine) end
  db:query(ddl)
end

local function deliver(db, table_name, how)
  local stream = chute.open { url = db.url, database = db.name, schema = schema, table = table_name,
    compress = how, pending = { overflow = "block" } }
  return { name = ("%s, into %s"):format(how, table_name), stream = stream, run = function(n)
    for _ = 1, n do assert(stream:insert(event)) end
    assert(stream:drain(120))
  end, before = function()
    if table_name == "a_mergetree" then db:query("TRUNCATE TABLE " .. table_name) end
  end }
end

local function report_delivery()
  local running = server.chdb()
  local db = running:database()
  create(db, "a_null", "Null")
  create(db, "a_mergetree")
  local cases = { deliver(db, "a_null", "zstd"), deliver(db, "a_null", "lz4"),
    deliver(db, "a_mergetree", "zstd") }
  local rows = {}
  for i, case in ipairs(measure.compare(cases, { count = SENT, clock = "wall", second = "process" })) do
    rows[i] = { case.name, ("%.2f M"):format(1e3 / case.ns), measure.duration(case.second_ns) }
    local stats = case.stream:stats()
    assert(stats.acked == stats.accepted and stats.acked == SENT * 32, "rows are missing")
    assert(case.stream:close())
  end
  running:stop()
  measure.print(("page views to the test server's acknowledgement, %d at a time"):format(SENT),
    { "", "rows/s", "this process's time a row" }, rows)
end

report_thread()
report_delivery()
