-- Delivery to two replicated servers of 18.16, of which one is killed and comes back while rows flow. They know no
-- token: the same bytes are the same block to them, which the other replica's memory of it drops as well.

local chute = require "chute"
local process = require "spec.support.process"
local replicated = require "spec.support.replicated"

local WAIT = 60
local ROUNDS = math.max(math.floor((tonumber(os.getenv "CHUTE_SOAK_SECONDS") or 0) / 15), 1)

describe("delivery to two replicated servers", function()
  local r

  setup(function() r = replicated.start() end)
  teardown(function() r:stop() end)

  it("brings every row once, though one is killed and comes back", function()
    r:create("t (n UInt64) ORDER BY n", 100000)
    local s = chute.open {
      url = { r.servers[1].url, r.servers[2].url }, table = "t", retry = { base = "20ms", max = "200ms" },
      schema = { format = "RowBinary", columns = { { "n", "UInt64" } } },
      compress = "block-lz4", batch = { rows = 500, age = "20ms" }, pending = { overflow = "block" },
    }
    finally(function() s:close(0) end)
    local count = 0
    local function flow(seconds)
      local ends = process.now() + seconds
      while process.now() < ends do
        for _ = 1, 100 do
          count = count + 1
          assert.is_true(s:insert { count })
        end
        s:drain(0.02)
      end
    end
    for i = 1, ROUNDS do
      flow(0.5)
      local victim = r.servers[i % 2 + 1]
      for _ = 1, 2000 do
        count = count + 1
        assert.is_true(s:insert { count })
      end
      victim:kill()
      flow(1)
      victim:restart()
    end
    flow(0.5)
    assert.is_true(s:drain(WAIT))
    local stats = s:stats()
    assert.same({ count, 0, 0 }, { stats.acked, stats.parked, stats.pending })
    assert.is_true(stats.retries > 0)
    r:sync "t"
    for _, one in ipairs(r.servers) do
      assert.equal(("%d\t%d\t%d\n"):format(count, count, count),
        one:query "SELECT count(), uniqExact(n), max(n) FROM t")
    end
  end)
end)
