-- Delivery under faults: what a stream promises of every batch, each promise beside the fault that tries it.
-- The server is real, its tables deduplicate by token, and the fault proxy stands before it.

local chute = require "chute"
local faults = require "spec.support.faults"
local process = require "spec.support.process"
local server = require "spec.support.server"

local ROWS, WAIT = 500, 20
local QUICK = { base = "5ms", max = "40ms" }

describe("delivery", function()
  local db, proxy, tables, streams

  setup(function()
    db = server.shared.chdb():database()
    proxy = faults.proxy { upstream = server.shared.chdb() }
    tables = 0
  end)
  teardown(function()
    proxy:stop()
    db:drop()
  end)
  before_each(function()
    streams = {}
    proxy:up()
    proxy:clear()
    proxy:reset()
    proxy:await_most("open", 0)
    proxy:forget()
  end)
  after_each(function()
    for _, s in ipairs(streams) do s:close(0) end
  end)

  local function new_table(window)
    tables = tables + 1
    local name = ("%s.t%d"):format(db.name, tables)
    db:query(("CREATE TABLE %s (n UInt64) ENGINE = MergeTree ORDER BY n SETTINGS "
      .. "non_replicated_deduplication_window = %d"):format(name, window or 10000))
    return name
  end

  local function open(opts)
    opts = opts or {}
    opts.url = opts.url or proxy.url
    opts.table = opts.table or new_table()
    opts.schema = { columns = { { "n", "UInt64" } } }
    opts.retry = opts.retry or QUICK
    local s = chute.open(opts)
    streams[#streams + 1] = s
    return s, opts.table
  end

  local function fill(s, count, first)
    for i = first or 1, (first or 1) + (count or ROWS) - 1 do assert.is_true(s:insert { i }) end
  end

  local function found(name) return db:query(("SELECT count(), uniqExact(n) FROM %s"):format(name)) end

  local function assert_balanced(s)
    local t = s:stats()
    assert.equal(t.accepted, t.acked + t.dropped + t.parked + t.pending)
    return t
  end

  -- Waits until the stream's counters are as wanted.
  local function await(s, wanted)
    local deadline = process.now() + WAIT
    while not wanted(s:stats()) do
      assert.is_true(process.now() < deadline, "the counters do not come to it")
      s:drain(0.01)
    end
  end

  -- The attempts at the one batch: same body and token, each with an id of its own.
  local function assert_same_attempts(count)
    local posts = proxy:requests { kind = "insert" }
    assert.equal(count, #posts)
    local ids = {}
    for _, post in ipairs(posts) do
      assert.equal(posts[1].token, post.token)
      if post.whole then assert.equal(posts[count].sha256, post.sha256) end
      assert.is_nil(ids[post.query_id])
      ids[post.query_id] = true
    end
    assert.matches("^%x+%-%x+%-%x+%-%x+%-%x+$", posts[1].token)
  end

  describe("repeats, until every row is there once, what", function()
    local cases = {
      { "is reset before the body", { at = "head", action = "reset" }, "network" },
      { "is reset in the body", { at = "body", action = "reset" }, "network" },
      { "is reset after the body", { at = "request", action = "reset" }, "network" },
      { "is closed after the body", { at = "request", action = "close" }, "network" },
      { "is committed, then closed", { at = "answer", action = "close" }, "network" },
      { "is committed, then reset", { at = "answer", action = "reset" }, "network" },
      { "is committed, its answer cut", { at = "answer", cut = 20, action = "close" }, "network" },
      { "is answered with garbage", { raw = "garbage\r\n\r\n", action = "close" }, "network" },
      { "is committed, then answered 502", { at = "answer", status = 502 }, "server" },
      { "is answered 408", { status = 408 }, "server" },
      { "is answered 425", { status = 425 }, "server" },
      { "is answered 429", { status = 429 }, "busy" },
      { "is answered 503", { status = 503 }, "busy" },
      { "is answered 504", { status = 504 }, "server" },
      { "is answered 200 by another than ClickHouse", { status = 200, body = "" }, "network" },
      { "meets a memory limit", faults.exception(241, "MEMORY_LIMIT_EXCEEDED", "Memory limit"), "server" },
      { "meets too many queries", faults.exception(202, "TOO_MANY_SIMULTANEOUS_QUERIES", "Too many"), "busy" },
      { "meets too many parts", faults.exception(252, "TOO_MANY_PARTS",
        "Too many parts (5000) in all partitions in total in table 't'"), "busy" },
      { "meets a table that is read-only for now", faults.exception(242, "TABLE_IS_READ_ONLY", "read-only"), "server" },
      { "is refused under status 200", faults.exception(159, "TIMEOUT_EXCEEDED", "Timeout", { ok = true }), "server" },
      { "breaks off in the answer, as up to 25.10", faults.midstream_old(241, "MEMORY_LIMIT_EXCEEDED", "m"), "server" },
      { "breaks off in the answer, as from 25.11", faults.midstream_new(241, "MEMORY_LIMIT_EXCEEDED", "m"), "server" },
    }
    for _, case in ipairs(cases) do
      it(case[1], function()
        local s, name = open()
        proxy:rule(case[2], { kind = "insert", times = 2 })
        fill(s)
        assert.is_true(s:drain(WAIT))
        local stats = assert_balanced(s)
        assert.same({ ROWS, 0, 2 }, { stats.acked, stats.parked, stats.retries })
        assert.equal(2, s.pool:stats().retries[case[3]])
        assert.equal(("%d\t%d\n"):format(ROWS, ROWS), found(name))
        assert_same_attempts(3)
      end)
    end

    it("does not answer in time", function()
      local s, name = open { timeout = "200ms" }
      proxy:rule { kind = "insert", at = "request", action = "pause", ms = 600, times = 1 }
      fill(s)
      assert.is_true(s:drain(WAIT))
      assert.equal(1, s.pool:stats().retries.timeout)
      assert.equal(("%d\t%d\n"):format(ROWS, ROWS), found(name))
    end)

    it("finds its kept connection closed, and libcurl sends nothing by itself", function()
      local s, name = open { batch = { rows = 10 } }
      fill(s, 10)
      assert.is_true(s:drain(WAIT))
      proxy:rule { kind = "insert", reused = true, at = "answer", action = "close", times = 1 }
      fill(s, 10, 11)
      assert.is_true(s:drain(WAIT))
      assert.equal("20\t20\n", found(name))
      assert.equal(1, s:stats().retries)
      assert.equal(3, #proxy:requests { kind = "insert" })
    end)

    it("meets a host that refuses connections, and comes back", function()
      local s, name = open()
      proxy:down { reset = true }
      fill(s)
      assert.is_nil(s:drain(0.2))
      proxy:up()
      assert.is_true(s:drain(WAIT))
      assert.equal(("%d\t%d\n"):format(ROWS, ROWS), found(name))
      assert.is_true(s:stats().retries > 0)
    end)
  end)

  it("waits as long as Retry-After says, in seconds or as a date", function()
    local function date() return os.date("!%a, %d %b %Y %H:%M:%S GMT", os.time() + 3) end
    for _, after in ipairs { function() return 1 end, date } do
      proxy:clear()
      proxy:forget()
      local s = open()
      proxy:rule { kind = "insert", status = 503, times = 1, headers = { ["Retry-After"] = after() } }
      fill(s)
      assert.is_true(s:drain(WAIT))
      local posts = proxy:requests { kind = "insert" }
      assert.equal(2, #posts)
      assert.is_true(posts[2].at_ms - posts[1].at_ms >= 700, posts[2].at_ms - posts[1].at_ms)
    end
  end)

  describe("parks at once, and goes on with what is behind,", function()
    local cases = {
      { "what cannot be parsed", faults.exception(33, "CANNOT_READ_ALL_DATA", "Cannot read", { status = 400 }), 33 },
      { "what finds no table", faults.exception(60, "UNKNOWN_TABLE", "No table", { status = 404 }), 60 },
      { "a read-only user's", faults.exception(164, "READONLY", "Cannot execute query in readonly mode"), 164 },
      { "too many partitions in one block", faults.exception(252, "TOO_MANY_PARTS",
        "Too many partitions for single INSERT block (more than 100)"), 252 },
      { "a 413", { status = 413 } },
      { "a 500 of nobody", { status = 500 } },
    }
    for _, case in ipairs(cases) do
      it(case[1], function()
        local s, name = open { batch = { rows = 100 }, size = 1 }
        proxy:rule(case[2], { kind = "insert", nth = 1 })
        fill(s, 300)
        assert.is_true(s:drain(WAIT))
        local stats = assert_balanced(s)
        assert.same({ 200, 100, 0 }, { stats.acked, stats.parked, stats.retries })
        assert.equal("200\t200\n", found(name))
        local parked = s:parked()
        assert.equal(1, #parked)
        assert.same({ 100, name, 1, case[3] },
          { parked[1].rows, parked[1].table, parked[1].attempts, parked[1].error.code })
        assert.same(parked, s.pool:parked())
        assert.equal(proxy:requests { kind = "insert" }[1].token, parked[1].token)
        assert.equal(1, s:retry_parked())
        assert.is_true(s:drain(WAIT))
        assert.same({}, s:parked())
        assert.equal("300\t300\n", found(name))
        assert.equal(300, assert_balanced(s).acked)
      end)
    end
  end)

  describe("ends", function()
    it("after retry.attempts", function()
      proxy:rule { kind = "insert", status = 503 }
      local s = open { retry = { attempts = 3, base = "1ms" } }
      fill(s)
      assert.is_true(s:drain(WAIT))
      assert.same({ 3, 503 }, { s:parked()[1].attempts, s:parked()[1].error.status })
      assert_same_attempts(3)
    end)

    it("at retry.deadline", function()
      proxy:rule { kind = "insert", status = 503 }
      local s = open { retry = { deadline = "300ms", base = "20ms", max = "50ms" } }
      local began = process.now()
      fill(s)
      assert.is_true(s:drain(WAIT))
      local took = process.now() - began
      assert.is_true(took > 0.28 and took < 3, took)
      assert.equal(ROWS, assert_balanced(s).parked)
    end)

    it("with an error that tells of an uncertain attempt before it", function()
      proxy:rule { kind = "insert", at = "answer", action = "close", nth = 1 }
      proxy:rule(faults.exception(60, "UNKNOWN_TABLE", "No table", { status = 404 }), { kind = "insert", nth = 2 })
      local s = open()
      fill(s)
      assert.is_true(s:drain(WAIT))
      local err = s:parked()[1].error
      assert.same({ 60, true }, { err.code, err.uncertain })
    end)

    it("on time where batches wait for another attempt", function()
      proxy:rule { kind = "insert", status = 503, headers = { ["Retry-After"] = 200 } }
      local s = open()
      fill(s)
      s:flush()
      proxy:await("inserts", 1)
      local began = process.now()
      local ok, err = s:close(0.3)
      assert.is_nil(ok)
      assert.equal(ROWS, err.lost)
      assert.is_true(process.now() - began < 3)
      assert.matches("503", tostring(err))
      await(s, function(stats) return stats.pending == 0 end) -- given up, long before its time
      assert.equal(ROWS, assert_balanced(s).parked)
      assert.equal(1, #proxy:requests { kind = "insert" })
    end)
  end)

  it("lets a batch that waits hold up none behind it", function()
    proxy:rule { kind = "insert", status = 503, times = 8, headers = { ["Retry-After"] = 100 } }
    local s, name = open { batch = { rows = 10 }, size = 1 }
    fill(s, 80)
    await(s, function(stats) return stats.retries == 8 end)
    fill(s, 80, 81)
    await(s, function(stats) return stats.acked == 80 end)
    local stats = assert_balanced(s)
    assert.same({ 80, 80 }, { stats.acked, stats.pending })
    assert.equal("80\t80\n", found(name))
  end)

  describe("at its bound, while the host is away,", function()
    local BATCH, BOUND = 80, 1600 -- bytes: ten rows, and twenty batches

    for _, overflow in ipairs { "error", "drop_new", "drop_old" } do
      it(("keeps every row to its account: %s"):format(overflow), function()
        local s, name = open { batch = { bytes = BATCH, age = "1h" }, size = 1,
          pending = { bytes = BOUND, overflow = overflow } }
        proxy:down { reset = true }
        local accepted = 0
        for i = 1, 1000 do
          local ok, err = s:insert { i }
          accepted = accepted + (ok and 1 or 0)
          assert.is_true(ok or err.kind == "busy")
        end
        local full = assert_balanced(s)
        assert.is_true(full.pending_bytes <= BOUND + BATCH)
        proxy:up()
        assert.is_true(s:drain(WAIT))
        local stats = assert_balanced(s)
        assert.same({ accepted, 1000 }, { stats.accepted, stats.offered })
        assert.same({ 0, 0 }, { stats.parked, stats.pending })
        assert.equal(overflow == "error", stats.dropped == 0)
        assert.equal(("%d\t%d\n"):format(stats.acked, stats.acked), found(name))
        local newest = db:query(("SELECT max(n) FROM %s"):format(name))
        assert.equal(overflow == "drop_old", newest == "1000\n")
      end)
    end

    it("keeps the caller waiting, and loses nothing: block", function()
      local s, name = open { batch = { bytes = BATCH, age = "1h" }, size = 1,
        pending = { bytes = BOUND, overflow = "block" } }
      proxy:rule { kind = "insert", status = 503, times = 30 }
      fill(s, 1000)
      assert.is_true(s:drain(WAIT))
      assert.same({ 1000, 30 }, { assert_balanced(s).acked, s:stats().retries })
      assert.equal("1000\t1000\n", found(name))
    end)
  end)

  it("says nothing of passwords", function()
    proxy:rule { kind = "insert", action = "reset" }
    local s = open { user = "default", password = "", retry = { attempts = 2, base = "1ms" } }
    fill(s)
    assert.is_true(s:drain(WAIT))
    local port = require("spec.support.http").free_port()
    local dead = open { url = ("http://someone:se%%63ret@127.0.0.1:%d"):format(port),
      retry = { attempts = 1 } }
    fill(dead)
    assert.is_true(dead:drain(WAIT))
    for _, one in ipairs { s, dead } do
      local err = one:last_error()
      assert.is_nil(tostring(err):find("secret", 1, true))
      assert.is_nil(tostring(err.host):find("someone", 1, true))
      assert.is_nil(one.pool:stats().hosts[1].place:find("secret", 1, true))
    end
  end)
end)
