-- What does the spool cost the thread that inserts?
local measure = require "bench.measure"
local chute = require "chute"
local process = require "spec.support.process"

local COUNT = 100000

local schema = chute.load "examples/pageview.lua"
local event = dofile "examples/pageview_event.lua"

--- Batches go to files that are removed between the runs.
local function case(name, root, opts)
  local dir = root .. "/out"
  opts.url, opts.schema, opts.pending = "file:" .. dir, schema, { overflow = "block" }
  local stream = chute.open(opts)
  return { name = name, against = opts.spool and "in memory", stream = stream, run = function(n)
    for _ = 1, n do assert(stream:insert(event)) end
  end, before = function()
    assert(stream:drain(60))
    os.execute(("rm -f '%s'/*"):format(dir))
  end }
end

local function report(clock, batch, label)
  local root = process.make_dir()
  assert(os.execute(("mkdir '%s/out'"):format(root)) == 0)
  local cases = {
    case("in memory", root, { batch = batch }),
    case("spool", root, { batch = batch, spool = root .. "/a" }),
    case("spool, synced when sealed", root, { batch = batch, spool = root .. "/b", durability = "fsync" }),
  }
  measure.report(("page views, %s: %s time"):format(label, clock), cases,
    { count = COUNT, unit = "row", clock = clock })
  for _, one in ipairs(cases) do assert(one.stream:close(60)) end
  process.remove_dir(root)
end

report("thread", nil, "batches of 100000 rows")
report("wall", nil, "batches of 100000 rows")
report("thread", { rows = 1000 }, "batches of 1000 rows")
