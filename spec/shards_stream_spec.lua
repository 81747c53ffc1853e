-- Shards: each row at the shard that its key chooses, and the calls of one stream over all of them.

local chute = require "chute"
local faults = require "spec.support.faults"
local http = require "spec.support.http"
local process = require "spec.support.process"
local server = require "spec.support.server"

local WAIT = 20

describe("a stream with shards", function()
  local db, proxies, tables

  setup(function()
    db, proxies, tables = server.shared.chdb():database(), {}, 0
    for i = 1, 2 do proxies[i] = faults.proxy { upstream = server.shared.chdb() } end
  end)
  teardown(function()
    for _, proxy in ipairs(proxies) do proxy:stop() end
    db:drop()
  end)
  before_each(function()
    for _, proxy in ipairs(proxies) do
      proxy:clear()
      proxy:forget()
    end
  end)

  -- Both shards are one server here: each row says to which it went by the table it is in, which the
  -- rows that each proxy passed prove.
  local function open(opts)
    tables = tables + 1
    opts.table = ("%s.t%d"):format(db.name, tables)
    db:query(("CREATE TABLE %s (n UInt64, s String) ENGINE = MergeTree ORDER BY n"):format(opts.table))
    opts.shards = opts.shards or { { proxies[1].url }, proxies[2].url }
    opts.schema = { columns = { { "n", "UInt64" }, { "s", "String", default = "" } } }
    opts.compress = "none"
    local s = chute.open(opts)
    finally(function() s:close(0) end)
    return s, opts.table
  end

  it("sends whole numbers by their remainder, of whatever form", function()
    local s, name = open { shard_by = "n" }
    for i = 1, 100 do
      local n = i % 2 == 0 and i or 2 * i + 1
      assert.is_true(s:insert(i % 3 == 0 and { n = n } or i % 3 == 1 and { n = n + 0ULL } or { n }))
    end
    assert.is_true(s:drain(WAIT))
    local stats = s:stats()
    assert.same({ 100, 50, 50 }, { stats.acked, stats.shards[1].acked, stats.shards[2].acked })
    for _, proxy in ipairs(proxies) do assert.equal(1, #proxy:requests { kind = "insert" }) end
    assert.equal("100\n", db:query("SELECT count() FROM " .. name))
    assert.is_true(s:close())
    local ok, err = s:insert { n = 1 }
    assert.is_nil(ok)
    assert.equal("closed", err.kind)
  end)

  it("sends text by its hash, and what a function says", function()
    local by_text = open { shard_by = "s" }
    local by_call = open { shard_by = function(row) return -row.n end }
    for i = 1, 400 do
      assert.is_true(by_text:insert { n = i, s = "key " .. i })
      assert.is_true(by_call:insert { n = i })
    end
    for _, s in ipairs { by_text, by_call } do
      assert.is_true(s:drain(WAIT))
      for _, one in ipairs(s:stats().shards) do assert.is_true(one.acked > 150, one.acked) end
    end
    assert.same({ 200, 200 }, { by_call:stats().shards[1].acked, by_call:stats().shards[2].acked })
  end)

  it("refuses a row without a key, and counts it", function()
    local s = open { shard_by = "n" }
    for _, row in ipairs { { s = "x" }, { n = 1.5 }, { n = {} }, { n = 0 / 0 } } do
      local ok, err = s:insert(row)
      assert.is_nil(ok)
      assert.equal("row", err.kind)
    end
    local accepted, failed = s:insert_many { { n = 1 }, { s = "x" }, { n = 2 } }
    assert.same({ 2, 1, 2 }, { accepted, #failed, failed[1][1] })
    assert.same({ 7, 5 }, { s:stats().offered, s:stats().rejected })
  end)

  it("tells of a shard that is dead, while the others go on", function()
    local dead = ("http://127.0.0.1:%d"):format(http.free_port())
    local s, name = open { shard_by = "n", shards = { proxies[1].url, dead } }
    for i = 1, 10 do assert.is_true(s:insert { n = i }) end
    local began = process.now()
    local ok, err = s:drain(1)
    assert.is_nil(ok)
    assert.same({ "timeout", 5 }, { err.kind, err.pending })
    ok, err = s:close(0.2)
    assert.is_nil(ok)
    assert.same({ "network", 5 }, { err.kind, err.lost })
    assert.is_true(process.now() - began < 4)
    assert.equal("5\n", db:query("SELECT count() FROM " .. name))
  end)

  it("has replicas in a shard, and parks what one refuses", function()
    local dead = ("http://127.0.0.1:%d"):format(http.free_port())
    local s = open { shard_by = "n", shards = { { dead, proxies[1].url }, proxies[2].url },
      retry = { base = "5ms" } }
    proxies[2]:rule(faults.exception(60, "UNKNOWN_TABLE", "No table", { status = 404 }), { kind = "insert", nth = 1 })
    for i = 1, 10 do assert.is_true(s:insert { n = i }) end
    assert.is_true(s:drain(WAIT))
    local parked = s:parked()
    assert.same({ 1, 2, 5, 60 }, { #parked, parked[1].shard, parked[1].rows, parked[1].error.code })
    assert.equal(1, s:retry_parked())
    assert.is_true(s:drain(WAIT))
    assert.equal(10, s:stats().acked)
  end)

  it("throws wrong options at the caller's line", function()
    local schema = { table = "t", columns = { { "n", "UInt64" } } }
    local cases = {
      { "shards must be a list", { shards = {} } },
      { "shards cannot be together with url", { shards = { "http://a" }, url = "http://b", shard_by = "n" } },
      { "shards need shard_by", { shards = { "http://a" } } },
      { "shard_by must be a column or a function, not m", { shards = { "http://a" }, shard_by = "m" } },
      { "bad URL", { shards = { "nonsense" }, shard_by = "n" } },
    }
    for _, case in ipairs(cases) do
      case[2].schema = schema
      local ok, problem = pcall(function()
        local s = chute.open(case[2])
        return s
      end)
      assert.is_false(ok)
      assert.matches("shards_stream_spec.lua:%d+: chute: " .. case[1], problem)
    end
  end)
end)
