-- Answers taken as they come: rows in bounded memory, exceptions behind rows, what is let go of.

local chute = require "chute"
local defer = require "spec.support.defer"
local faults = require "spec.support.faults"
local process = require "spec.support.process"
local server = require "spec.support.server"

local SETTINGS = { max_threads = 1 } -- rows in order

local function resident_kib()
  for line in io.lines "/proc/self/status" do
    local kib = line:match "^VmRSS:%s+(%d+)"
    if kib then return tonumber(kib) end
  end
end

-- Rows of a column n UInt8, as a body.
local function body_of(...) return "\1\1n\5UInt8" .. string.char(...) end

local function drain(result)
  local got = {}
  local ok, err = pcall(function()
    for row in result:rows() do got[#got + 1] = row.n end
  end)
  return got, not ok and err or nil
end

describe("a streamed answer", function()
  local proxy, pool

  setup(function()
    proxy = faults.proxy { upstream = server.shared.chdb() }
    pool = chute.pool { url = proxy.url, size = 2, timeout = "20s" }
  end)
  teardown(function()
    pool:close()
    proxy:stop()
  end)
  before_each(function() proxy:clear() end)

  local function ask(sql, opts)
    opts = opts or {}
    opts.stream, opts.settings = true, opts.settings or SETTINGS
    return pool:query(sql, opts)
  end

  it("tells what the head told, without a body", function()
    local result = assert(ask "SELECT number AS n FROM numbers(3)")
    assert.same({ nil, "RowBinaryWithNamesAndTypes", 200 }, { result.body, result.format, result.status })
    assert.matches("^%x+%-", result.query_id)
    assert.same({ { name = "n", type = "UInt64" } }, result:columns())
    assert.same({ 0ULL, 1ULL, 2ULL }, (drain(result)))
    assert.same({ { name = "n", type = "UInt64" } }, result:columns())
    assert.same({}, (drain(result)))
  end)

  it("may be empty, or bring no rows at all", function()
    assert.same({}, (drain(assert(ask "SELECT 1 AS n WHERE 0"))))
    local result = assert(ask "SYSTEM FLUSH LOGS")
    assert.same({}, result:columns())
    assert.same({}, (drain(result)))
  end)

  it("comes in order and in bounded memory, however slow it is taken", function()
    local before, most, n = nil, 0, 0
    local result = assert(ask "SELECT number AS n, repeat('x', 200) AS s FROM numbers(1000000)")
    for row in result:rows() do
      assert(row.n == n and #row.s == 200)
      n = n + 1
      if n == 10000 then before = resident_kib() end
      if n % 10000 == 0 then most = math.max(most, resident_kib()) end
    end
    assert.equal(1000000, n)
    assert.is_true(most - before < 32 * 1024, ("%d KiB grew to %d"):format(before, most))
  end)

  it("shares its pool with others, that come and go meanwhile", function()
    local one = assert(ask "SELECT number AS n FROM numbers(2000000)"):rows()
    for i = 1, 20 do
      assert.equal(i - 1, tonumber(one().n))
      assert.equal("1\n", assert(pool:query "SELECT 1 FORMAT TSV").body)
    end
    local n = 20
    for row in one do
      assert(row.n == n)
      n = n + 1
    end
    assert.equal(2000000, n)
  end)

  it("is refused before it begins", function()
    local result, err = ask "SELECT nosuch"
    assert.same({ nil, 47, "UNKNOWN_IDENTIFIER" }, { result, err.code, err.name })
    proxy:rule(faults.exception(241, "MEMORY_LIMIT_EXCEEDED", "no memory", { ok = true }))
    result, err = ask "SELECT 1"
    assert.same({ nil, 241 }, { result, err.code })
  end)

  for name, midstream in pairs { ["up to 25.10"] = faults.midstream_old, ["from 25.11 on"] = faults.midstream_new } do
    it("breaks off with an exception behind its rows, as " .. name, function()
      for _, count in ipairs { 0, 1, 100, 200000 } do
        local bytes = {}
        for i = 1, count do bytes[i] = string.char(i % 256) end
        local rule = midstream(395, "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO", "now",
          { rows = body_of() .. table.concat(bytes) })
        rule.headers = rule.headers or {}
        rule.headers["X-ClickHouse-Query-Id"], rule.headers["X-ClickHouse-Format"] = "q", "RowBinaryWithNamesAndTypes"
        proxy:clear()
        proxy:rule(rule)
        local result, refused = ask "SELECT 1"
        local got, err
        if result then got, err = drain(result) else got, err = {}, refused end
        assert.same({ "server", 395, "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO" }, { err.kind, err.code, err.name })
        assert.is_true(#got <= count)
        if count == 200000 then assert.is_true(#got > 100000) end
        for i, n in ipairs(got) do assert(n == i % 256) end
      end
    end)
  end

  it("may hold an exception's mark as a value", function()
    local mark = "\r\n__exception__\r\nkqvzrxwnmpbtcdfg\r\nCode: 1. DB::Exception: x. (X)"
    local sql = "SELECT {m:String} || toString(number) AS n FROM numbers(5000)"
    local got, err = drain(assert(ask(sql, { params = { m = mark } })))
    assert.is_nil(err)
    assert.same({ 5000, mark .. "0", mark .. "4999" }, { #got, got[1], got[5000] })
  end)

  it("that is cut is an error, behind the rows that came", function()
    proxy:rule { cut = 300000, at = "answer", action = "reset" }
    local got, err = drain(assert(ask "SELECT number AS n FROM numbers(1000000)"))
    assert.equal("network", err.kind)
    assert.is_true(#got > 1000 and #got <= 300000 / 8, #got .. " rows")
    for i, n in ipairs(got) do assert(n == i - 1) end
  end)

  it("times out where nothing comes, and not where much does", function()
    proxy:rule { cut = 300000, at = "answer", action = "hold" }
    local got, err = drain(assert(ask("SELECT number AS n FROM numbers(1000000)", { timeout = "1s" })))
    assert.equal("timeout", err.kind)
    assert.is_true(#got > 1000)
  end)

  it("can be let go of: the connection closes, the pool goes on", function()
    for i = 1, 5 do
      local result = assert(ask "SELECT number AS n FROM numbers(10000000)")
      local next_row = result:rows()
      assert.equal(0, tonumber(next_row().n))
      if i == 5 then
        result = nil -- luacheck: ignore
        next_row = nil -- luacheck: ignore
        collectgarbage()
        collectgarbage()
      else
        assert.is_true(result:close())
        assert.is_true(result:close())
        while next_row do
          local ok, row = pcall(next_row)
          if not ok then
            assert.equal("closed", row.kind)
            break
          end
        end
      end
      assert.equal("1\n", assert(pool:query "SELECT 1 FORMAT TSV").body)
    end
    proxy:await_most("open", 2, 10)
  end)

  it("ends with an error where the pool is closed", function()
    local own = chute.pool { url = proxy.url, size = 1 }
    local next_row = assert(own:query("SELECT number AS n FROM numbers(10000000)", { stream = true })):rows()
    next_row()
    own:close()
    local ok, err
    repeat
      ok, err = pcall(next_row)
    until not ok
    assert.equal("closed", err.kind)
  end)

  it("is refused to other formats", function()
    local result = assert(ask "SELECT 1 FORMAT TSV")
    local ok, err = pcall(function()
      local rows = result:rows()
      return rows
    end)
    assert.is_false(ok)
    assert.matches("query_stream_spec.lua:%d+: chute: rows are read from RowBinaryWithNamesAndTypes, not from TSV", err)
    result:close()
  end)

  it("comes from an embedded ClickHouse too #chdb", function()
    local dir = process.make_dir()
    defer(function() process.remove_dir(dir) end)
    local own = chute.pool { url = "chdb:" .. dir .. "/data",
      libchdb = os.getenv "CHUTE_LIBCHDB" or ".cache/chdb/libchdb.so" }
    defer(function() own:close() end)
    local result = assert(own:query("SELECT number::UInt32 AS n FROM numbers(100000)", { stream = true }))
    local n = 0
    for row in result:rows() do
      assert(row.n == n)
      n = n + 1
    end
    assert.equal(100000, n)
    assert.equal("UNKNOWN_TABLE", select(2, own:query("SELECT * FROM nosuch", { stream = true })).name)
  end)
end)
