-- Statements: parameters of every type, compressed answers, progress, cancelling, fairness.
local chute = require "chute"
local faults = require "spec.support.faults"
local server = require "spec.support.server"

describe("a statement's parameter", function()
  local conn
  setup(function() conn = chute.connect(server.shared.chdb().url) end)
  teardown(function() conn:close() end)

  local NULL, odd = chute.null, "a\tb\nc\\d'e\"f`g\rh é"
  -- type, value, what the server makes of it (as toString says; nil: the same)
  local cases = {
    { "UInt8", 255, "255" }, { "Int64", -9007199254740993LL, "-9007199254740993" },
    { "UInt64", "18446744073709551615" }, { "Int128", "-170141183460469231731687303715884105728" },
    { "UInt256", "115792089237316195423570985008687907853269984665640564039457584007913129639935" },
    { "Float64", 0.1, "0.1" }, { "Float64", 1e300, "1e300" }, { "Float64", 1 / 0, "inf" }, { "Float64", 0 / 0, "nan" },
    { "Float32", 1.5, "1.5" }, { "Decimal(18, 4)", "12345.6789" }, { "Decimal(9, 2)", 1.25, "1.25" },
    { "Bool", true, "true" }, { "Bool", false, "false" },
    { "String", odd }, { "String", "" }, { "FixedString(3)", "a\tb" }, { "LowCardinality(String)", odd },
    { "Nullable(String)", NULL, NULL }, { "Nullable(UInt8)", NULL, NULL }, { "Nullable(String)", "\\N" },
    { "Date", "2024-02-29" }, { "Date", 1709164800, "2024-02-29" }, { "Date32", "1925-01-01" },
    { "DateTime('UTC')", "2024-02-29 12:34:56" }, { "DateTime('UTC')", 1709210096, "2024-02-29 12:34:56" },
    { "DateTime64(3, 'UTC')", 1709210096.789, "2024-02-29 12:34:56.789" },
    { "DateTime64(6, 'Europe/Berlin')", "2024-02-29 12:34:56.123456" },
    { "UUID", "61f0c404-5cb3-11e7-907b-a6006ad3dba0" }, { "IPv4", "1.2.3.4" }, { "IPv6", "2001:db8::1" },
    { "Enum8('a' = 1, 'b, c' = 2)", "b, c" },
    { "Array(UInt64)", { 1, 18446744073709551615ULL, "3" }, "[1,18446744073709551615,3]" },
    { "Array(String)", {}, "[]" }, { "Array(Nullable(String))", { "a'b", NULL }, "['a\\'b',NULL]" },
    { "Array(Array(Date))", { { "2024-02-29" }, { 1709164800 } }, "[['2024-02-29'],['2024-02-29']]" },
    { "Array(DateTime64(3, 'UTC'))", { 1709210096.789 }, "['2024-02-29 12:34:56.789']" },
    { "Array(Decimal(9, 2))", { "1.25", 2 }, "[1.25,2]" }, { "Array(Bool)", { true, false }, "[true,false]" },
    { "Array(UUID)", { "61f0c404-5cb3-11e7-907b-a6006ad3dba0" },
      "['61f0c404-5cb3-11e7-907b-a6006ad3dba0']" },
    { "Array(LowCardinality(String))", { "1", "x" }, "['1','x']" },
    { "Tuple(UInt8, String)", { 1, "it's" }, "(1,'it\\'s')" },
    { "Tuple(a UInt8, b Tuple(c String))", { a = 1, b = { c = "x" } }, "(1,('x'))" },
    { "Array(Tuple(String, Float64))", { { "a", 0.5 }, { "b", -1 } }, "[('a',0.5),('b',-1)]" },
    { "Map(String, UInt64)", { a = 1, b = 2 }, "{'a':1,'b':2}" },
    { "Map(String, Array(String))", { k = { "x", "y" } }, "{'k':['x','y']}" },
    { "Map(UInt64, String)", chute.pairs { { 2, "b" }, { 1ULL, "a" } }, "{2:'b',1:'a'}" },
  }
  for i, case in ipairs(cases) do
    local kind, value = case[1], case[2]
    it(("%d of type %s"):format(i, kind), function()
      local sql = ("SELECT toString({x:%s}) AS s, toTypeName({x:%s}) AS t"):format(kind, kind)
      local row = assert(conn:query(sql, { params = { x = value } })):rows()()
      local wanted = case[3] or value
      assert.equal(wanted, row.s)
    end)
  end

  it("is an identifier, or a text of odd bytes", function()
    assert.equal("1\n", conn:query("SELECT count() FROM system.{x:Identifier} FORMAT TSV",
      { params = { x = "one" } }).body)
    assert.equal("7\n", conn:query("SELECT length({x:String}) FORMAT TSV",
      { params = { x = "a\1\127\255\254b\27" } }).body)
  end)

  it("that cannot be one is told at the caller's line", function()
    for want, value in pairs {
      ["a function is no value"] = print, ["a tuple of 2 has 1 values"] = { 1 }, ["a tuple lacks b"] = { a = 1 },
    } do
      local ok, problem = pcall(function()
        return (conn:query("SELECT {x:Tuple(a UInt8, b UInt8)}", { params = { x = value } }))
      end)
      assert.is_false(ok)
      assert.matches("query_spec.lua:%d+: chute: " .. want, problem)
    end
  end)
end)

describe("a pool's server", function()
  for name, wanted in pairs { chdb = { "^26%.", "boolean" }, clickhouse18 = { "^18%.16", "nil" } } do
    it("tells its version, zone and default: " .. name, function()
      local p = faults.proxy { upstream = server.shared[name]() }
      local pool = chute.pool { url = p.url }
      local told = assert(pool:server())
      local again, asked = pool:server(), p:counters().requests
      local zone = pool:query("SELECT timezone() FORMAT TSV").body
      pool:close()
      p:stop()
      assert.matches(wanted[1], told.version)
      assert.equal(wanted[2], type(told.async_insert))
      assert.equal(zone, told.timezone .. "\n")
      assert.same({ told, 1 }, { again, asked })
    end)
  end
end)

describe("a compressed answer", function()
  for _, name in ipairs { "chdb", "clickhouse18" } do
    describe("of " .. name, function()
      local p, conn
      setup(function()
        p = faults.proxy { upstream = server.shared[name]() }
        conn = chute.connect(p.url)
      end)
      teardown(function()
        conn:close()
        p:stop()
      end)

      it("is smaller on the way, and the same here", function()
        local sql = "SELECT number FROM numbers(200000) FORMAT TSV"
        local plain = assert(conn:query(sql))
        p:await("finished", 1)
        local packed = assert(conn:query(sql, { compress_response = true }))
        assert.is_true(plain.body == packed.body)
        p:await("finished", 2)
        local all = p:requests()
        assert.is_true(all[2].sent_bytes * 2 < all[1].sent_bytes)
      end)

      it("tells exceptions readably", function()
        local result, err = conn:query("SELECT * FROM no_such_table", { compress_response = true })
        assert.is_nil(result)
        assert.equal(60, err.code)
        assert.matches("no_such_table", err.message)
      end)

      it("streams", function()
        if name ~= "chdb" then return end -- 18.16 knows nothing of what rows are read from
        local count = 0
        for _ in assert(conn:query("SELECT number FROM numbers(300000)",
          { compress_response = true, stream = true })):rows() do count = count + 1 end
        assert.equal(300000, count)
      end)

      it("that is cut short is an error", function()
        p:rule { kind = "query", at = "answer", cut = 3000, action = "close" }
        local result, err = conn:query("SELECT number FROM numbers(200000) FORMAT TSV", { compress_response = true })
        p:clear()
        assert.is_nil(result)
        assert.equal("network", err.kind)
      end)
    end)
  end
end)

describe("a statement under way", function()
  it("tells of its progress", function()
    local p = faults.proxy { upstream = server.shared.chdb() }
    local conn = chute.connect(p.url)
    finally(function()
      conn:close()
      p:stop()
    end)
    local lines = { "HTTP/1.1 200 OK" }
    for i = 1, 10 do
      local json = ('{"read_rows":"%d","read_bytes":"8","total_rows_to_read":"40"}'):format(i * 4)
      lines[#lines + 1] = "X-ClickHouse-Progress: " .. json
    end
    local raw = table.concat(lines, "\r\n") .. "\r\nConnection: close\r\nContent-Length: 2\r\n\r\n7\n"
    p:rule { kind = "query", raw = raw, step = 40, step_ms = 30 }
    local told = {}
    local result = assert(conn:query("SELECT 7", { progress = function(now) told[#told + 1] = now end }))
    assert.equal("7\n", result.body)
    assert.equal("1", p:requests()[1].params.send_progress_in_http_headers)
    assert.is_true(#told >= 3, #told .. " times")
    for i = 2, #told do assert.is_true(told[i].read_rows > told[i - 1].read_rows) end
    assert.equal(40, told[1].total_rows_to_read)
    local ok, problem = pcall(conn.query, conn, "SELECT 7", { progress = function() error("enough", 0) end })
    assert.same({ false, "enough" }, { ok, problem })
    p:clear()
    assert.equal("1\n", conn:query("SELECT 1 FORMAT TSV").body)
  end)

  it("is waited for when it suits, or cancelled", function()
    local p = faults.proxy { upstream = server.shared.chdb() }
    local pool = chute.pool { url = p.url, size = 2 }
    finally(function()
      pool:close()
      p:stop()
    end)
    local quick = assert(pool:request "SELECT 7 FORMAT TSV")
    assert.equal("7\n", quick:result().body)
    assert.is_true(quick:done())
    assert.equal("closed", select(2, quick:result()).kind)
    p:rule { kind = "query", at = "answer", action = "hold" }
    local slow = assert(pool:request "SELECT 8")
    p:await("held", 1)
    assert.is_false(slow:done())
    assert.is_true(slow:cancel())
    assert.is_true(slow:cancel())
    p:await_most("open", 1) -- the connection went with it
    assert.equal("chute.request: over", tostring(slow))
    p:clear()
    assert.equal("9\n", pool:query("SELECT 9 FORMAT TSV").body)
  end)

  it("shares the pool with inserts by turns", function()
    local chdb = server.shared.chdb()
    local p = faults.proxy { upstream = chdb }
    local db = chdb:database()
    db:query "CREATE TABLE t (a UInt64) ENGINE = Memory"
    local pool = chute.pool { url = p.url, size = 1, database = db.name }
    finally(function()
      pool:close()
      p:stop()
      db:drop()
    end)
    assert(pool:query("INSERT INTO t FORMAT TSV", { body = "0\n" }))
    p:forget()
    p:rule { kind = "query", nth = 1, at = "answer", action = "hold" }
    local requests = { assert(pool:request "SELECT 'first'") }
    p:await("held", 1)
    for i = 1, 6 do requests[#requests + 1] = assert(pool:request("SELECT " .. i)) end
    for i = 1, 3 do
      requests[#requests + 1] = assert(pool:request("INSERT INTO t FORMAT TSV", { body = i .. "\n" }))
    end
    pool:query("SELECT 1", { timeout = "50ms" }) -- by now the inserts are packed and in line
    p:clear()
    p:release()
    for _, request in ipairs(requests) do assert(request:result()) end
    local last
    for i, request in ipairs(p:requests()) do if request.kind == "insert" then last = i end end
    assert.is_true(last <= 7, "the last insert came as number " .. last)
  end)
end)
