-- The replicated pair itself: rows arrive on both servers, whichever died in between.

local replicated = require "spec.support.replicated"

describe("two replicated servers", function()
  local r, a, b
  local tables, name = 0, nil

  setup(function()
    r = replicated.start()
    a, b = r.servers[1], r.servers[2]
  end)

  teardown(function() r:stop() end)

  before_each(function()
    tables = tables + 1
    name = "t" .. tables
    r:create(name .. " (n UInt64) ORDER BY n")
    a:query("INSERT INTO " .. name .. " VALUES (1), (2)")
  end)

  local function insert(into, values) into:query(("INSERT INTO %s VALUES %s"):format(name, values)) end

  local function count(at) return at:query("SELECT count(), sum(n) FROM " .. name) end

  local function both()
    r:sync(name)
    return count(a) .. count(b)
  end

  it("share what each of them took", function()
    insert(b, "(3)")
    assert.equal("3\t6\n3\t6\n", both())
  end)

  it("drop a block that the other has taken already", function()
    r:sync(name)
    insert(b, "(1), (2)")
    assert.equal("2\t3\n2\t3\n", both())
  end)

  it("catch up after one was killed", function()
    b:kill()
    insert(a, "(4)")
    assert.equal("3\t7\n", count(a))
    assert.has_error(function() count(b) end)
    b:restart()
    assert.equal("3\t7\n3\t7\n", both())
    insert(b, "(4)")
    assert.equal("3\t7\n3\t7\n", both())
  end)
end)
