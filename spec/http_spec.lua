-- Connections: single statements over HTTP, their results and errors.
local chute = require "chute"
local defer = require "spec.support.defer"
local http = require "spec.support.http"
local server = require "spec.support.server"

local function connect(to, opts)
  local conn = chute.connect(to, opts)
  defer(function() conn:close() end)
  return conn
end

local function thrown(f, ...)
  local ok, problem = pcall(f, ...)
  return not ok and problem or nil
end

describe("a connection to ClickHouse 26.5", function()
  local s, conn
  setup(function()
    s = server.shared.chdb()
    conn = chute.connect(s.url)
  end)
  teardown(function() conn:close() end)

  it("answers a ping", function()
    assert.is_true(conn:ping())
  end)

  it("gives the answer and what the server tells beside it", function()
    local result = assert(conn:query "SELECT number FROM numbers(3) FORMAT TabSeparated")
    assert.equal("0\n1\n2\n", result.body)
    assert.equal(3, result.summary.read_rows)
    assert.equal(0, result.summary.written_rows)
    assert.equal("TabSeparated", result.format)
    assert.equal(s:query "SELECT timezone()", result.timezone .. "\n")
    assert.equal(200, result.status)
    assert.matches("^%x+%-%x+%-%x+%-%x+%-%x+$", result.query_id)
    assert.equal(result.body, tostring(result))
  end)

  it("sends a fresh query_id each time", function()
    local ids = {}
    for _ = 1, 5 do ids[assert(conn:query "SELECT 1").query_id] = true end
    local count = 0
    for _ in pairs(ids) do count = count + 1 end
    assert.equal(5, count)
  end)

  it("asks for a format where the statement names none", function()
    assert.equal('{"1":1}\n', assert(conn:query("SELECT 1", { format = "JSONEachRow" })).body)
    assert.equal("1\n", assert(conn:query("SELECT 1 FORMAT TSV", { format = "JSONEachRow" })).body)
  end)

  it("passes settings on, for one statement", function()
    local sql = "SELECT getSetting('max_threads'), getSetting('log_comment'), getSetting('log_queries')\nFORMAT TSV"
    local settings = { max_threads = 3, log_comment = "a&b=c 'd' é", log_queries = false }
    assert.equal("3\ta&b=c \\'d\\' é\tfalse\n", assert(conn:query(sql, { settings = settings })).body)
    assert.not_equal("3", assert(conn:query "SELECT getSetting('max_threads'), 1 FORMAT TSV").body:match "^(%d+)")
  end)

  describe("fills in parameters", function()
    local cases = {
      { "String", "plain", nil },
      { "String", "a\tb\nc\\d'e\"f`g é \1", nil },
      { "String", "", nil },
      { "String", "\\N", nil },
      { "UInt64", 18446744073709551615ULL, "18446744073709551615" },
      { "Int64", -9223372036854775807LL - 1, "-9223372036854775808" },
      { "Int32", -5, "-5" },
      { "Float64", 0.1, "0.1" },
      { "Bool", true, "true" },
      { "Date", "2024-02-29", "2024-02-29" },
      { "Nullable(String)", chute.null, "NULL" },
      { "Array(String)", { "a", "b'c", "\\", "\t" }, "['a','b\\'c','\\\\','\\t']" },
      { "Array(UInt8)", {}, "[]" },
      { "Array(Array(Int8))", { { 1 }, { 2, 3 } }, "[[1],[2,3]]" },
      { "Array(Nullable(Int8))", { 1, chute.null }, "[1,NULL]" },
      { "Map(String, UInt8)", { a = 1, b = 2 }, "{'a':1,'b':2}" },
      { "Identifier", "one", nil },
    }
    for _, case in ipairs(cases) do
      local kind, value, wanted = case[1], case[2], case[3]
      it(kind .. " " .. (wanted or ("%q"):format(tostring(value))), function()
        if kind == "Identifier" then
          local result = assert(conn:query("SELECT count() FROM system.{x:Identifier} FORMAT TSV",
            { params = { x = value } }))
          assert.equal("1\n", result.body)
        elseif kind == "String" then -- byte for byte
          local result = assert(conn:query("SELECT {x:String} FORMAT RowBinary", { params = { x = value } }))
          assert.equal(string.char(#value) .. value, result.body)
        else
          local result = assert(conn:query(("SELECT {x:%s} FORMAT TSVRaw"):format(kind), { params = { x = value } }))
          assert.equal(wanted, (result.body:gsub("\n$", ""):gsub("^ᴺᵁᴸᴸ$", "NULL"):gsub("^\\N$", "NULL")))
        end
      end)
    end
  end)

  it("sends data after the statement", function()
    local db = s:database()
    defer(function() db:drop() end)
    db:query "CREATE TABLE t (a UInt8, b String) ENGINE = Memory"
    for _, sql in ipairs { "url", "body" } do
      for _, how in ipairs { "none", "zstd", "lz4", "block-lz4" } do
        local result = assert(conn:query(("INSERT INTO %s.t FORMAT CSV"):format(db.name),
          { body = '1,"x"\n2,"y"\n', compress = how, sql = sql }))
        assert.equal(2, result.summary.written_rows)
      end
    end
    assert.equal("16\t24\n", db:query "SELECT count(), sum(a) FROM t")
  end)

  it("takes statements of any length", function()
    local long = ("x"):rep(200000)
    assert.equal("200000\n", assert(conn:query(("SELECT length('%s') FORMAT TSV"):format(long))).body)
    local db = s:database()
    defer(function() db:drop() end)
    db:query "CREATE TABLE t (a UInt8) ENGINE = Memory"
    local insert = ("INSERT INTO %s.t /* %s */ FORMAT CSV"):format(db.name, long)
    assert.equal(2, assert(conn:query(insert, { body = "1\n2\n", compress = "lz4" })).summary.written_rows)
  end)

  it("brings big answers whole", function()
    local result = assert(conn:query "SELECT number FROM numbers(1000000) FORMAT TSV")
    assert.equal(6888890, #result.body)
  end)

  it("tells ClickHouse's exceptions as errors", function()
    local result, err = conn:query "SELECT * FROM no_such_table"
    assert.is_nil(result)
    assert.equal("server", err.kind)
    assert.equal(60, err.code)
    assert.equal("UNKNOWN_TABLE", err.name)
    assert.equal(404, err.status)
    assert.equal("127.0.0.1:" .. s.port, err.host)
    assert.is_false(err.retryable)
    assert.is_false(err.uncertain)
    assert.matches("^UNKNOWN_TABLE %(code 60%) from 127%.0%.0%.1:%d+: .*no_such_table", tostring(err))
  end)

  it("tells of no answer in time", function()
    local result, err = conn:query("SELECT sleep(3)", { timeout = "100ms" })
    assert.is_nil(result)
    assert.equal("timeout", err.kind)
    assert.is_true(err.retryable)
    assert.is_true(err.uncertain)
    assert.equal("1\n", assert(conn:query "SELECT 1 FORMAT TSV").body)
  end)

  it("uses the database of its options or its URL", function()
    local db = s:database()
    defer(function() db:drop() end)
    local sql = "SELECT currentDatabase() FORMAT TSV"
    assert.equal(db.name .. "\n", assert(connect(s.url, { database = db.name }):query(sql)).body)
    assert.equal(db.name .. "\n", assert(connect(s.url .. "/?database=" .. db.name):query(sql)).body)
  end)

  it("sends settings of its URL with every statement", function()
    local own = connect(s.url .. "/?max_threads=5")
    local sql = "SELECT getSetting('max_threads') FORMAT TSV"
    assert.equal("5\n", assert(own:query(sql)).body)
    assert.equal("6\n", assert(own:query(sql, { settings = { max_threads = 6 } })).body)
  end)

  it("throws wrong arguments at the caller's line", function()
    local cases = {
      { "a statement is a string, not a nil", nil },
      { "query has no option nosuch", "SELECT 1", { nosuch = 1 } },
      { "settings must be a table of names and values", "SELECT 1", { settings = "x" } },
      { "a setting is text, number or boolean, not a table", "SELECT 1", { settings = { a = {} } } },
      { "settings: 1 is no name", "SELECT 1", { settings = { "a" } } },
      { "a function is no value of a parameter", "SELECT 1", { params = { a = print } } },
      { "a header is text, not a number", "SELECT 1", { headers = { a = 1 } } },
      { "body must be a string, not a number", "SELECT 1", { body = 1 } },
      { 'sql "nowhere" is neither "url" nor "body"', "SELECT 1", { sql = "nowhere" } },
      { "timeout must be seconds", "SELECT 1", { timeout = "soon" } },
      { "compress \"gzip\" is none of", "SELECT 1", { body = "", compress = "gzip" } },
      { "settings: a name has a zero byte", "SELECT 1", { settings = { ["a\0b"] = 1 } } },
      { "settings: log_comment has a zero byte", "SELECT 1", { settings = { log_comment = "a\0b" } } },
      { "params: a name has a zero byte", "SELECT 1", { params = { ["a\0b"] = 1 } } },
      { "headers: a name has a zero byte", "SELECT 1", { headers = { ["A\0B"] = "1" } } },
      { "headers: A has a zero byte", "SELECT 1", { headers = { A = "1\0" } } },
      { "format has a zero byte", "SELECT 1", { format = "TSV\0" } },
    }
    for _, case in ipairs(cases) do
      local problem = thrown(function()
        local result = conn:query(case[2], case[3])
        return result
      end)
      assert.matches("http_spec.lua:%d+: chute: " .. case[1]:gsub("%p", "%%%0"), problem)
    end
    assert.matches("http_spec.lua:%d+: chute: a pool has no option nosuch",
      thrown(function() return (chute.connect(s.url, { nosuch = 1 })) end))
    for _, name in ipairs { "user", "password", "database", "token", "libchdb" } do
      assert.matches("http_spec.lua:%d+: chute: " .. name .. " has a zero byte",
        thrown(function() return (chute.connect(s.url, { [name] = "a\0b" })) end))
    end
    assert.matches("http_spec.lua:%d+: chute: url has a zero byte",
      thrown(function() return (chute.connect(s.url .. "\0x")) end))
    assert.matches("http_spec.lua:%d+: chute: bad URL", thrown(function() return (chute.connect "nowhere") end))
  end)

  it("refuses headers that would split", function()
    local result, err = conn:query("SELECT 1", { headers = { ["X-A"] = "b\r\nX-C: d" } })
    assert.is_nil(result)
    assert.equal("argument", err.kind)
  end)

  it("is closed once and for all", function()
    local own = chute.connect(s.url)
    assert.is_true(own:close())
    assert.is_true(own:close())
    local result, err = own:query "SELECT 1"
    assert.is_nil(result)
    assert.equal("closed", err.kind)
    assert.equal("closed", select(2, own:ping()).kind)
  end)
end)

describe("a connection to a server with users", function()
  local s
  setup(function() s = server.chdb { user = "bob", password = "s3cret/@:" } end)
  teardown(function() s:stop() end)

  it("passes user and password on", function()
    local conn = connect(s.url, { user = "bob", password = "s3cret/@:" })
    assert.equal("1\n", assert(conn:query "SELECT 1 FORMAT TSV").body)
    local by_url = connect(("http://bob:s3cret%%2F%%40%%3A@127.0.0.1:%d"):format(s.port))
    assert.equal("1\n", assert(by_url:query "SELECT 1 FORMAT TSV").body)
  end)

  it("tells a refusal without the password", function()
    local result, err = connect(s.url, { user = "bob", password = "wr0ng" }):query "SELECT 1"
    assert.is_nil(result)
    assert.equal(516, err.code)
    assert.equal("AUTHENTICATION_FAILED", err.name)
    assert.is_nil(tostring(err):find("wr0ng", 1, true))
  end)
end)

describe("a connection to ClickHouse 18.16", function()
  local conn
  setup(function() conn = chute.connect(server.shared.clickhouse18().url) end)
  teardown(function() conn:close() end)

  it("queries and pings", function()
    assert.is_true(conn:ping())
    local result = assert(conn:query "SELECT version() FORMAT TSV")
    assert.matches("^18%.16", result.body)
    assert.same({}, result.summary)
    assert.is_nil(result.timezone)
  end)

  it("reads its way of telling exceptions", function()
    local _, err = conn:query "SELECT * FROM no_such_table"
    assert.equal(60, err.code)
    assert.matches("^code 60 from 127%.0%.0%.1:%d+: Table default%.no_such_table doesn't exist%.?$", err.message)
  end)

  it("finds an exception behind rows that had left", function()
    local result, err = conn:query "SELECT throwIf(number = 3000000) FROM numbers(10000000) FORMAT TSV"
    assert.is_nil(result)
    assert.equal(395, err.code)
    assert.equal(200, err.status)
  end)
end)

describe("a connection to nobody", function()
  it("is an error of the network, and a certain one", function()
    local conn = connect("http://127.0.0.1:" .. http.free_port())
    for _, answer in ipairs { { conn:query "SELECT 1" }, { conn:ping() } } do
      assert.is_nil(answer[1])
      assert.equal("network", answer[2].kind)
      assert.is_true(answer[2].retryable)
      assert.is_false(answer[2].uncertain)
      assert.matches("^127%.0%.0%.1:%d+: ", answer[2].message)
    end
  end)
end)

describe("values on their way to C", function()
  it("outlive a collector that never rests", function()
    local conn = connect(server.shared.chdb().url)
    local pause, step = collectgarbage("setpause", 0), collectgarbage("setstepmul", 1000)
    defer(function()
      collectgarbage("setpause", pause)
      collectgarbage("setstepmul", step)
    end)
    for i = 1, 100 do
      local result = assert(conn:query("SELECT {a:String} || {b:String} FORMAT TSV",
        { params = { a = "a" .. i, b = "b" .. i }, settings = { log_comment = "c" .. i } }))
      assert.equal(("a%db%d\n"):format(i, i), result.body)
    end
  end)
end)
