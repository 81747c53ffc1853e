-- Counters of pools and streams: that they count, and that Prometheus could read them.
local chute = require "chute"
local faults = require "spec.support.faults"
local server = require "spec.support.server"

-- The text as { [name{labels}] = value } and { [family] = type }. Throws where it is no such text.
local function parse(text)
  local samples, types = {}, {}
  for line in text:gmatch "(.-)\n" do
    local family, kind = line:match "^# TYPE (chute_[%a_]+) (%a+)$"
    if family then
      assert(not types[family], family .. " twice")
      types[family] = kind
    elseif not line:match "^# HELP chute_[%a_]+ %S.*$" then
      local name, labels, value = line:match "^(chute_[%a_]+)(%b{}) (%S+)$"
      assert(name and tonumber(value), "no sample: " .. line)
      local of = types[name] and name or name:gsub("_bucket$", ""):gsub("_sum$", ""):gsub("_count$", "")
      assert(types[of], "no family of " .. line)
      assert(not samples[name .. labels], "twice: " .. line)
      samples[name .. labels] = tonumber(value)
    end
  end
  return samples, types
end

describe("metrics", function()
  randomize(false) -- the second test reads what the first did

  local p, db, pool, stream

  setup(function()
    local chdb = server.shared.chdb()
    p = faults.proxy { upstream = chdb }
    db = chdb:database()
    db:query "CREATE TABLE t (a UInt64) ENGINE = Memory"
    pool = chute.pool { url = p.url, database = db.name }
    stream = chute.open {
      pool = pool, schema = { table = "t", columns = { { "a", "UInt64" } } }, retry = { base = "1ms" },
    }
  end)
  teardown(function()
    stream:close()
    pool:close()
    p:stop()
    db:drop()
  end)

  local function text() return chute.prometheus { pools = { ['a"b'] = pool }, streams = { s = stream } } end

  it("count requests by kind and result, bytes and times", function()
    assert(pool:query "SELECT 1")
    assert.is_nil((pool:query "SELECT nonsense"))
    p:rule { kind = "insert", nth = 1, status = 503 }
    for i = 1, 1000 do assert(stream:insert { i }) end
    assert.is_nil((stream:insert { -1 }))
    assert(stream:drain(10))
    local stats = pool:stats()
    assert.same({ query = { ok = 1, failed = 1 }, insert = { ok = 1, failed = 1 } }, stats.requests)
    assert.equal(1, stats.retries.busy + stats.retries.server)
    assert.is_true(stats.bytes_raw >= 8000)
    assert.is_true(stats.bytes_sent > 0 and stats.bytes_sent < stats.bytes_raw)
    assert.equal(4, stats.send.count)
    assert.equal(1, stats.compress.count)
    assert.is_true(stats.wait.count >= 3)
    for i = 2, #stats.send.up_to do assert.is_true(stats.send.up_to[i] >= stats.send.up_to[i - 1]) end
  end)

  it("are text that Prometheus reads, and only grow", function()
    local before, types = parse(text())
    assert.equal("counter", types.chute_rows_acked_total)
    assert.equal("gauge", types.chute_hosts_up)
    assert.equal("histogram", types.chute_send_seconds)
    assert.equal(1000, before['chute_rows_acked_total{stream="s"}'])
    assert.equal(1, before['chute_rows_rejected_total{stream="s"}'])
    assert.equal(1, before['chute_hosts_up{pool="a\\"b"}'])
    assert.equal(1, before['chute_requests_total{pool="a\\"b",kind="query",result="failed"}'])
    assert.equal(before['chute_send_seconds_count{pool="a\\"b"}'],
      before['chute_send_seconds_bucket{pool="a\\"b",le="+Inf"}'])
    assert(pool:query "SELECT 1")
    local after = parse(text())
    for name, value in pairs(before) do
      if types[name:match "^[%a_]+"] ~= "gauge" then assert.is_true(after[name] >= value, name) end
    end
    assert.equal(before['chute_requests_total{pool="a\\"b",kind="query",result="ok"}'] + 1,
      after['chute_requests_total{pool="a\\"b",kind="query",result="ok"}'])
  end)

  it("leave out what is closed", function()
    local own = chute.pool { url = p.url }
    own:close()
    assert.equal("\n", chute.prometheus { pools = { own } })
  end)
end)
