-- Several hosts: which one serves, what becomes of one that dies, and that no row is lost or doubled meanwhile.

local chute = require "chute"
local defer = require "spec.support.defer"
local faults = require "spec.support.faults"
local http = require "spec.support.http"
local process = require "spec.support.process"
local server = require "spec.support.server"

local WAIT, HOSTS = 30, 4
local SOAK_SECONDS = tonumber(os.getenv "CHUTE_SOAK_SECONDS") or 8

describe("a pool of several hosts", function()
  local db, proxies, tables, streams

  setup(function()
    db, proxies, tables = server.shared.chdb():database(), {}, 0
    for i = 1, HOSTS do proxies[i] = faults.proxy { upstream = server.shared.chdb() } end
  end)
  teardown(function()
    for _, proxy in ipairs(proxies) do proxy:stop() end
    db:drop()
  end)
  before_each(function()
    streams = {}
    for _, proxy in ipairs(proxies) do
      proxy:up()
      proxy:clear()
      proxy:reset()
      proxy:await_most("open", 0)
      proxy:forget()
    end
  end)
  after_each(function()
    for _, s in ipairs(streams) do s:close(0) end
  end)

  local function urls(count)
    local out = {}
    for i = 1, count or HOSTS do out[i] = proxies[i].url end
    return out
  end

  local function open(opts)
    tables = tables + 1
    opts.table = ("%s.t%d"):format(db.name, tables)
    db:query(("CREATE TABLE %s (n UInt64) ENGINE = MergeTree ORDER BY n SETTINGS "
      .. "non_replicated_deduplication_window = 100000"):format(opts.table))
    opts.url = opts.url or urls()
    opts.schema = { columns = { { "n", "UInt64" } } }
    opts.retry = { base = "5ms", max = "50ms" }
    local s = chute.open(opts)
    streams[#streams + 1] = s
    return s, opts.table
  end

  local function inserts()
    local out = {}
    for i, proxy in ipairs(proxies) do out[i] = #proxy:requests { kind = "insert" } end
    return out
  end

  -- One batch after the other, each of ten rows.
  local function send(s, batches)
    for _ = 1, batches do
      for _ = 1, 10 do
        s.sent = (s.sent or 0) + 1
        assert.is_true(s:insert { s.sent })
      end
      assert.is_true(s:drain(WAIT))
    end
  end

  local function await(s, wanted)
    local deadline = process.now() + WAIT
    while not wanted(s.pool:stats()) do
      assert.is_true(process.now() < deadline, "the pool does not come to it")
      s:flush()
      process.run { argv = { "sleep", "0.01" } }
    end
  end

  it("serves by round robin", function()
    send(open {}, 8)
    assert.same({ 2, 2, 2, 2 }, inserts())
  end)

  it("serves in order", function()
    send(open { strategy = "in_order" }, 8)
    assert.same({ 8, 0, 0, 0 }, inserts())
  end)

  it("serves by chance", function()
    send(open { strategy = "random" }, 60)
    for _, count in ipairs(inserts()) do assert.is_true(count > 0 and count < 45, count) end
  end)

  it("serves by the least busy", function()
    proxies[1]:rule { kind = "insert", at = "request", action = "hold" }
    local s = open { strategy = "least_busy", url = urls(2), batch = { rows = 10 }, size = 4 }
    for i = 1, 200 do assert.is_true(s:insert { i }) end
    local deadline = process.now() + WAIT
    while s:stats().acked < 180 do
      assert.is_true(process.now() < deadline, "the idle host does not serve")
      s:drain(0.01)
    end
    assert.is_true(inserts()[1] <= 2, inserts()[1])
    proxies[1]:clear()
    proxies[1]:release()
    assert.is_true(s:drain(WAIT))
  end)

  it("asks each host once what it knows", function()
    send(open {}, 12)
    for _, proxy in ipairs(proxies) do assert.equal(1, #proxy:requests { kind = "query" }) end
  end)

  it("repeats at another host", function()
    proxies[1]:rule { kind = "insert", status = 503 }
    local s, name = open { strategy = "in_order", url = urls(2) }
    send(s, 1)
    assert.same({ 1, 1, 0, 0 }, inserts())
    assert.equal("10\n", db:query("SELECT count() FROM " .. name))
  end)

  it("ejects a host that died, probes it, and has it back", function()
    local s, name = open { strategy = "in_order", url = urls(2) }
    send(s, 1)
    proxies[1]:down { reset = true }
    send(s, 4)
    await(s, function(stats) return stats.hosts_up == 1 and not stats.hosts[1].up end)
    local before = s.pool:stats().retries.network
    send(s, 4)
    assert.equal(before, s.pool:stats().retries.network) -- nothing went to it
    proxies[1]:up()
    await(s, function(stats) return stats.hosts_up == 2 end)
    assert.is_true(#proxies[1]:requests { kind = "ping" } > 0)
    local had = inserts()[1]
    send(s, 4)
    assert.equal(had + 4, inserts()[1])
    assert.equal("130\t130\n", db:query("SELECT count(), uniqExact(n) FROM " .. name))
  end)

  it("goes on trying where all are ejected", function()
    local s, name = open { url = urls(2) }
    proxies[1]:down { reset = true }
    proxies[2]:down { reset = true }
    for i = 1, 10 do assert.is_true(s:insert { i }) end
    s:flush()
    await(s, function(stats) return stats.hosts_up == 0 end)
    proxies[2]:up()
    assert.is_true(s:drain(WAIT))
    assert.equal("10\n", db:query("SELECT count() FROM " .. name))
  end)

  it("asks and inserts elsewhere where a host takes no connection", function()
    local dead = ("http://127.0.0.1:%d"):format(http.free_port())
    local pool = chute.pool { url = { dead, proxies[1].url }, strategy = "in_order" }
    defer(function() pool:close() end)
    assert.is_true(pool:ping())
    assert.equal("1\n", assert(pool:query "SELECT 1 FORMAT TSV").body)
    local both = chute.pool { url = { dead, dead } }
    defer(function() both:close() end)
    local answer, err = both:query "SELECT 1"
    assert.is_nil(answer)
    assert.same({ "network", false }, { err.kind, err.uncertain })
  end)

  it("delivers every row once while hosts die and return at random", function()
    local s, name = open { batch = { rows = 1000, age = "20ms" }, size = 8, pending = { overflow = "block" } }
    local ends, turn, down = process.now() + SOAK_SECONDS, process.now(), nil
    math.randomseed(SOAK_SECONDS * 1000)
    local count, deaths = 0, 0
    while process.now() < ends do
      for _ = 1, 500 do
        count = count + 1
        assert.is_true(s:insert { count })
      end
      s:drain(0.002) -- a stream of rows, not a flood
      if process.now() > turn then
        if down then down:up() end
        down = not down and proxies[math.random(HOSTS)] or nil
        if down then
          deaths = deaths + 1
          down:down { reset = true }
        end
        turn = process.now() + 0.1 + math.random() * 0.6
      end
    end
    if down then down:up() end
    assert.is_true(s:drain(60))
    local stats, retries = s:stats(), s.pool:stats().retries
    assert.same({ count, 0, 0 }, { stats.acked, stats.parked, stats.pending })
    assert.equal(("%d\t%d\t%d\n"):format(count, count, count),
      db:query("SELECT count(), uniqExact(n), max(n) FROM " .. name))
    local ids, posts = {}, 0
    for _, proxy in ipairs(proxies) do
      for id, of_id in pairs(proxy:posts "query_id") do
        assert.is_nil(ids[id], "a query_id came twice")
        assert.equal(1, #of_id)
        ids[id], posts = true, posts + 1
      end
    end
    assert.is_true(deaths > 2 and posts >= stats.batches_acked)
    local report = os.getenv "CHUTE_SOAK_REPORT"
    if not report then return end
    local file = assert(io.open(report, "w"))
    file:write(("%d rows in %d batches, %d posts, %d deaths\n"):format(count, stats.batches_acked, posts, deaths))
    for reason, times in pairs(retries) do file:write(("%d attempts repeated: %s\n"):format(times, reason)) end
    file:close()
  end)
end)
