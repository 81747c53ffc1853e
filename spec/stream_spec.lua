--- Streams, end to end: rows in, rows found in ClickHouse, every row in one account.
local chute = require "chute"
local ffi = require "ffi"
local process = require "spec.support.process"
local server = require "spec.support.server"

local two_columns = { { "a", "Int64" }, { "b", "String" } }

local function two_rows(stream)
  for i, letter in ipairs { "a", "b", "c", "d" } do
    assert.is_true(stream:insert { 96 + i, letter })
  end
end

--- The account of a stream must balance at every instant.
local function assert_balanced(stream)
  local s = stream:stats()
  assert.equal(s.offered, s.accepted + s.rejected + s.filtered + s.refused)
  assert.equal(s.accepted, s.acked + s.dropped + s.parked + s.pending)
  return s
end

describe("a stream", function()
  local db

  setup(function() db = server.shared.chdb():database() end)
  teardown(function() db:drop() end)

  local count = 0
  local function new_table(columns, engine)
    count = count + 1
    local name = ("%s.t%d"):format(db.name, count)
    db:query(("CREATE TABLE %s (%s) ENGINE = %s"):format(name, columns or "a Int64, b String",
      engine or "MergeTree ORDER BY tuple()"))
    return name
  end

  local function open(opts)
    opts.url = opts.url or server.shared.chdb().url
    opts.table = opts.table or new_table()
    opts.schema = opts.schema or { columns = two_columns }
    return chute.open(opts), opts.table
  end

  it("takes no names or values that would be cut at a zero byte", function()
    local schema = { columns = two_columns }
    local function opened(opts)
      opts.url = server.shared.chdb().url
      return select(2, pcall(function() return (chute.open(opts)) end))
    end
    assert.matches("stream_spec.lua:%d+: chute: table has a zero byte", opened { schema = schema, table = "t\0u" })
    assert.matches("stream_spec.lua:%d+: chute: spool has a zero byte",
      opened { schema = schema, table = "t", spool = "a\0b" })
    for name, settings in pairs { ["a name"] = { ["a\0b"] = 1 }, log_comment = { log_comment = "a\0b" } } do
      assert.matches("stream_spec.lua:%d+: chute: settings: " .. name .. " has a zero byte",
        opened { schema = schema, table = "t", settings = settings })
      assert.matches("chute: .*settings: " .. name .. " has a zero byte",
        opened { schema = { columns = two_columns, table = "t", settings = settings } })
    end
  end)

  describe("delivers to ClickHouse", function()
    for _, compress in ipairs { "zstd", "lz4", "none", "zstd:9", "block-lz4", "block-zstd" } do
      for _, sql in ipairs { "url", "body" } do
        it(("with %s and the statement in the %s"):format(compress, sql), function()
          local s, name = open { compress = compress, sql = sql }
          two_rows(s)
          assert.is_true(s:drain(20))
          local stats = assert_balanced(s)
          assert.equal(4, stats.acked)
          assert.is_true(s:close())
          assert.equal("97\ta\n98\tb\n99\tc\n100\td\n",
            db:query("SELECT * FROM " .. name .. " ORDER BY a"))
        end)
      end
    end

    for _, format in ipairs { "RowBinary", "RowBinaryWithNames", "RowBinaryWithNamesAndTypes" } do
      it("as " .. format, function()
        local s, name = open { schema = { format = format, columns = two_columns } }
        two_rows(s)
        assert.is_true(s:close(20))
        assert.equal("4\t394\n", db:query("SELECT count(), sum(a) FROM " .. name))
      end)
    end

    it("of 18.16, as RowBinary in its own blocks", function()
      local old = server.shared.clickhouse18()
      local old_db = old:database()
      local name = old_db.name .. ".t"
      old_db:query("CREATE TABLE " .. name .. " (a Int64, b String) ENGINE = Memory")
      for _, compress in ipairs { "block-lz4", "block-zstd", "none" } do
        for _, sql in ipairs { "url", "body" } do
          local s = chute.open { url = old.url, table = name, compress = compress, sql = sql,
            schema = { format = "RowBinary", columns = two_columns } }
          two_rows(s)
          local ok, err = s:close(20)
          assert.is_true(ok, tostring(err))
        end
      end
      assert.equal("97\ta\t6\n98\tb\t6\n99\tc\t6\n100\td\t6\n",
        old_db:query("SELECT a, b, count() FROM " .. name .. " GROUP BY a, b ORDER BY a"))
      old_db:drop()
    end)

    it("many batches, whole and once each", function()
      local s, name = open { batch = { rows = 1000 }, schema = { columns = two_columns } }
      for i = 1, 50500 do assert.is_true(s:insert { i, "row" }) end
      assert.is_true(s:drain(60))
      local stats = assert_balanced(s)
      assert.same({ 50500, 50500, 51, 0 },
        { stats.acked, stats.accepted, stats.batches_acked, stats.batches_in_flight })
      assert.is_true(stats.bytes_sent < stats.bytes_raw)
      assert.is_true(s:close())
      assert.equal("50500\t50500\t1275150250\n",
        db:query("SELECT count(), uniqExact(a), sum(a) FROM " .. name))
    end)

    it("with settings of the schema and of open, quoted", function()
      local s, name = open { settings = { max_partitions_per_insert_block = 77 }, schema = {
        columns = two_columns, settings = { log_comment = "it's \"quoted\" & 100% \\ ü" } } }
      two_rows(s)
      assert.is_true(s:close(20))
      assert.equal("4\n", db:query("SELECT count() FROM " .. name))
    end)

    it("to tables and columns of any name", function()
      local columns = { { "a b", "Int64" }, { "q`'\"\\", "String" }, { "größe.m", "UInt8" } }
      local name = ("`%s`.`my.odd ``table```"):format(db.name)
      db:query("CREATE TABLE " .. name:gsub("``", "\\`") ..
        " (`a b` Int64, `q\\`'\"\\\\` String, `größe.m` UInt8) ENGINE = Memory")
      local s = open { table = name, schema = { columns = columns } }
      assert.is_true(s:insert { 1, "x", 2 })
      local ok, err = s:close(20)
      assert.is_true(ok, tostring(err))
      assert.equal("1\tx\t2\n", db:query("SELECT * FROM " .. name:gsub("``", "\\`")))
    end)
  end)

  describe("seals", function()
    it("by rows, at the row that reaches them", function()
      local s = open { batch = { rows = 3, age = "1h" } }
      two_rows(s)
      local stats = s:stats()
      assert.same({ 1, 1 }, { stats.batches_sealed, stats.open_rows })
      assert.is_true(s:close(20))
    end)

    it("by bytes, before a row that does not fit", function()
      local s = open { batch = { bytes = 64, age = "1h" } } -- rows of 8 + 1 + 23 = 32 bytes
      for i = 1, 5 do assert.is_true(s:insert { i, ("x"):rep(23) }) end
      assert.is_true(s:drain(20))
      assert.equal(3, s:stats().batches_sealed)
      local ok, err = s:insert { 1, ("x"):rep(56) }
      assert.is_nil(ok)
      assert.equal("row", err.kind)
      assert.matches("row 6 is larger %(65 bytes%) than a batch may be %(64 bytes%)", err.message)
      assert.is_true(s:close(20))
    end)

    it("by age, while Lua is blocked", function()
      local s, name = open { batch = { age = "50ms" } }
      two_rows(s)
      ffi.cdef "int poll(void *, unsigned long, int);"
      local seen = 0
      for _ = 1, 100 do
        ffi.C.poll(nil, 0, 100)
        seen = tonumber(db:query("SELECT count() FROM " .. name))
        if seen == 4 then break end
      end
      assert.equal(4, seen)
      assert.equal(4, s:stats().acked)
      assert.is_true(s:close())
    end)

    it("where the policy's when says so", function()
      local seen
      local s = open { batch = { age = "1h", when = function(b)
        seen = b
        return b.rows == 2
      end } }
      two_rows(s)
      assert.equal(2, s:stats().batches_sealed)
      assert.equal("number", type(seen.age))
      assert.equal(20, seen.bytes)
      assert.is_true(s:close(20))
    end)

    it("by the other limits where when throws: the row is accepted", function()
      local calls = 0
      local s = open { batch = { rows = 2, age = "1h", when = function()
        calls = calls + 1
        error("odd", 0)
      end } }
      local stderr, told = io.stderr, {} -- luacheck: ignore 122
      io.stderr = { write = function(_, ...) told[#told + 1] = table.concat { ... } end } -- luacheck: ignore 122
      local ok, problem = pcall(two_rows, s)
      io.stderr = stderr -- luacheck: ignore 122
      assert.is_true(ok, problem)
      assert.same({ "chute: batch.when: odd\n" }, told)
      assert.equal(2, calls) -- after a row that seals nothing is open to be asked about
      assert.equal(2, s:stats().batches_sealed)
      assert.is_true(s:close(20))
    end)

    it("on flush, without waiting", function()
      local s = open { batch = { age = "1h" } }
      assert.is_true(s:flush()) -- nothing to seal
      two_rows(s)
      assert.is_true(s:flush())
      assert.same({ 1, 0 }, { s:stats().batches_sealed, s:stats().open_rows })
      assert.is_true(s:close(20))
    end)
  end)

  describe("accounts for", function()
    it("bad rows, filtered rows and rows after close", function()
      local s = open { schema = { columns = two_columns, map = function(e)
        if e.skip then return nil end
        return e
      end } }
      assert.is_true(s:insert { a = 1, b = "x" })
      assert.same({ true, "filtered" }, { s:insert { skip = true } })
      local ok, err = s:insert { a = "x", b = "y" }
      assert.is_nil(ok)
      assert.same({ "row", 3, "a" }, { err.kind, err.row, err.column })
      assert.matches("row 3, column 'a' %(Int64%): 'x' is not an integer", tostring(err))
      ok, err = s:insert { 1, 2, 3 }
      assert.is_nil(ok)
      assert.equal(4, err.row)
      assert.is_true(s:close(20))
      ok, err = s:insert { a = 1, b = "x" }
      assert.is_nil(ok)
      assert.equal("closed", err.kind)
      local stats = assert_balanced(s)
      assert.same({ 5, 1, 2, 1, 1, 1 }, { stats.offered, stats.accepted, stats.rejected,
        stats.filtered, stats.refused, stats.acked })
    end)

    it("insert_many's rows one by one", function()
      local s = open {}
      local accepted, failed = s:insert_many { { 1, "a" }, { "?", "b" }, { 3, "c" }, { 4, {} } }
      assert.equal(2, accepted)
      assert.same({ 2, 4 }, { failed[1][1], failed[2][1] })
      assert.equal("a", failed[1][2].column)
      assert.is_nil(select(2, s:insert_many { { 1, "a" } }))
      assert.is_true(s:close(20))
      assert.equal(3, s:stats().acked)
    end)

    it("what a dead server does not take", function()
      local port = require("spec.support.http").free_port()
      local s = open { url = "http://127.0.0.1:" .. port, table = "t", retry = { attempts = 1 } }
      two_rows(s)
      assert.is_true(s:drain(20))
      local stats = assert_balanced(s)
      assert.same({ 4, 0 }, { stats.parked, stats.pending })
      local ok, err = s:close()
      assert.is_nil(ok)
      assert.same({ "network", 4 }, { err.kind, err.lost })
      assert.matches("^4 rows were not delivered: ", err.message)
      assert.matches(tostring(port), err.message)
    end)

    it("what a dead server does not take yet, for as long as it is given", function()
      local port = require("spec.support.http").free_port()
      local s = open { url = "http://127.0.0.1:" .. port, table = "t", retry = { base = "10ms", max = "20ms" } }
      two_rows(s)
      local ok, err = s:drain(0.3)
      assert.is_nil(ok)
      assert.same({ "timeout", 4, "network" }, { err.kind, err.pending, err.cause.kind })
      assert.is_true(assert_balanced(s).retries > 3)
      local began = process.now()
      ok, err = s:close(0.2)
      assert.is_nil(ok)
      assert.is_true(process.now() - began < 2)
      assert.same({ "network", 4 }, { err.kind, err.lost })
    end)

    it("what a server refuses, with its code and name", function()
      local s = open { table = db.name .. ".nowhere" }
      two_rows(s)
      local ok, err = s:close(20)
      assert.is_nil(ok)
      assert.same({ "server", 60, "UNKNOWN_TABLE", 4 }, { err.kind, err.code, err.name, err.lost })
    end)

    it("drift of the table under it", function()
      local s, name = open {}
      two_rows(s)
      assert.is_true(s:drain(20))
      db:query("ALTER TABLE " .. name .. " MODIFY COLUMN a Int32")
      two_rows(s)
      local ok, err = s:close(20)
      assert.is_nil(ok)
      assert.same({ "server", 4 }, { err.kind, err.lost })
      assert.equal("4\n", db:query("SELECT count() FROM " .. name))
    end)
  end)

  describe("at its bound", function()
    -- A server that takes connections and never answers.
    local function silent()
      return require("spec.support.http").free_port()
    end

    local function full(overflow)
      local s = open { url = "http://127.0.0.1:" .. silent(), table = "t",
        batch = { bytes = 64, age = "1h" }, pending = { bytes = 256, overflow = overflow } }
      return s
    end

    it("refuses by default, and says so", function()
      local s, last_ok, last_err = full(nil), nil, nil
      for i = 1, 64 do last_ok, last_err = s:insert { i, ("x"):rep(23) } end
      assert.is_nil(last_ok)
      assert.equal("busy", last_err.kind)
      assert_balanced(s)
      assert.is_true(s:stats().pending_bytes <= 256 + 64)
      s:close(0)
    end)

    it("drops the new and counts it", function()
      local s = full "drop_new"
      for i = 1, 64 do assert.is_true(s:insert { i, ("x"):rep(23) }) end
      local stats = assert_balanced(s)
      assert.equal(64, stats.accepted)
      assert.is_true(stats.dropped > 32)
      s:close(0)
    end)

    it("blocks no longer where only parked batches take the room", function()
      local s = open { table = db.name .. ".nowhere", batch = { bytes = 64, age = "1h" },
        pending = { bytes = 256, overflow = "block" } }
      local ok, err
      for i = 1, 64 do
        ok, err = s:insert { i, ("x"):rep(23) }
        if not ok then break end
      end
      assert.is_nil(ok)
      assert.equal("busy", err.kind)
      assert.equal(1, assert_balanced(s).refused)
      s:close(0)
    end)

    it("blocks until there is room", function()
      local s, name = open { batch = { bytes = 64, age = "1h" },
        pending = { bytes = 256, overflow = "block" } }
      for i = 1, 500 do assert.is_true(s:insert { i, ("x"):rep(23) }) end
      assert.is_true(s:close(20))
      assert.equal("500\n", db:query("SELECT uniqExact(a) FROM " .. name))
    end)
  end)

  describe("ends well", function()
    local script = [[
      local chute = require "chute"
      local url, name = os.getenv "TEST_URL", os.getenv "TEST_TABLE"
      local s = chute.open { url = url, table = name, batch = { age = "1h" },
        schema = { columns = { { "a", "Int64" }, { "b", "String" } } } }
      for i = 1, 1000 do assert(s:insert { i, "x" }) end
    ]]

    local function ended_by(ending)
      local name = new_table()
      local status = process.run { argv = { "luajit", "-e", script .. ending }, timeout = 60,
        env = { TEST_URL = server.shared.chdb().url, TEST_TABLE = name } }
      return status, db:query("SELECT count() FROM " .. name)
    end

    it("where the script just ends", function()
      local status, seen = ended_by ""
      assert.equal(0, status)
      assert.equal("1000\n", seen)
    end)

    it("where the script calls os.exit", function()
      local status, seen = ended_by "os.exit(7)"
      assert.equal(7, status)
      assert.equal("1000\n", seen)
    end)

    it("where the collector takes it", function()
      local status, seen = ended_by "s = nil collectgarbage() collectgarbage()"
      assert.equal(0, status)
      assert.equal("1000\n", seen)
    end)

    it("where the script throws", function()
      local status, seen = ended_by "error 'boom'"
      assert.not_equal(0, status)
      assert.equal("1000\n", seen)
    end)
  end)

  describe("leaves nothing behind", function()
    local function status(field)
      for line in io.lines "/proc/self/status" do
        local value = line:match("^" .. field .. ":%s+(%d+)")
        if value then return tonumber(value) end
      end
    end

    -- Threads end in their own time: looked for at most 10 s.
    local function await_threads(most)
      for _ = 1, 1000 do
        if status "Threads" <= most then return true end
        ffi.C.poll(nil, 0, 10)
      end
      return false, status "Threads"
    end

    it("when it is closed", function()
      local schema = chute.schema { columns = two_columns }
      local name, before = new_table(), status "Threads"
      for _ = 1, 30 do
        local s = open { table = name, schema = schema }
        two_rows(s)
        assert.is_true(s:close(20))
      end
      assert.is_true(await_threads(before))
      assert.equal("120\n", db:query("SELECT count() FROM " .. name))
    end)

    it("when the collector takes it with rows on their way", function()
      local name, before = new_table(), status "Threads"
      for _ = 1, 10 do
        local s = open { table = name, batch = { age = "1h" } }
        two_rows(s)
      end
      collectgarbage()
      collectgarbage()
      assert.is_true(await_threads(before))
      assert.equal("40\n", db:query("SELECT count() FROM " .. name))
    end)

    it("of memory past its bound, however small its batches", function()
      local s = open { url = "http://127.0.0.1:" .. require("spec.support.http").free_port(),
        table = "t", pending = { bytes = "16MiB" }, retry = { attempts = 1 } }
      local before, ok, err = status "VmRSS", nil, nil
      for i = 1, 1500 do
        ok, err = s:insert { i, "x" }
        s:flush()
      end
      assert.is_nil(ok)
      assert.equal("busy", err.kind)
      assert_balanced(s)
      assert.is_true(status "VmRSS" - before < 64 * 1024, (status "VmRSS" - before) .. " KiB")
      s:close(0)
    end)

    it("in a forked child, which is told so", function()
      ffi.cdef "int fork(void); int waitpid(int, int *, int); void _exit(int);"
      local s, name = open { batch = { age = "1h" } }
      two_rows(s)
      local child = ffi.C.fork()
      if child == 0 then
        local ok, err = s:insert { 1, "child" }
        local drained, why = s:drain(1)
        local fine = not ok and err.kind == "closed" and err.message:find "fork" and not drained
          and why.kind == "closed" and s:stats().accepted == 4
        s:close(1)
        ffi.C._exit(fine and 7 or 1)
      end
      local code = ffi.new "int[1]"
      assert.equal(child, ffi.C.waitpid(child, code, 0))
      assert.equal(7 * 256, code[0])
      assert.is_true(s:close(20))
      assert.equal("4\n", db:query("SELECT count() FROM " .. name))
    end)
  end)

  it("closes twice, and drains nothing at once", function()
    local s = open {}
    assert.is_true(s:drain(0))
    assert.is_true(s:close())
    assert.is_true(s:close())
    for _, call in ipairs { "flush", "drain" } do
      local ok, err = s[call](s)
      assert.is_nil(ok)
      assert.equal("closed", err.kind)
    end
  end)

  it("shares a pool with others", function()
    local pool = chute.pool { url = server.shared.chdb().url, size = 2 }
    local name = new_table()
    local one = chute.open { pool = pool, table = name, schema = { columns = two_columns } }
    local two = chute.open { pool = pool, table = name, schema = { columns = two_columns } }
    two_rows(one)
    two_rows(two)
    assert.is_true(one:close(20))
    assert.is_true(two:close(20))
    assert.equal("8\n", db:query("SELECT count() FROM " .. name))
    assert.is_true(pool:close())
  end)

  describe("is not opened", function()
    local function refused(opts, pattern)
      local ok, message = pcall(chute.open, opts)
      assert.is_false(ok)
      assert.matches(pattern, message)
      assert.matches("^[^\n]+$", message)
    end

    it("with what makes no sense", function()
      local columns = { columns = two_columns }
      refused(nil, "open takes a table")
      refused({ url = "http://127.0.0.1:1" }, "needs a schema")
      refused({ schema = columns, table = "t" }, "url")
      refused({ schema = columns, url = "http://127.0.0.1:1" }, "names no table")
      refused({ schema = columns, url = "http://127.0.0.1:1", table = "a.b.c" }, "no table name")
      refused({ schema = columns, url = "ftp://x", table = "t" }, "bad URL")
      refused({ schema = columns, url = "http://x", table = "t", batch = { row = 1 } }, "batch.row")
      refused({ schema = columns, url = "http://x", table = "t", batch = { rows = 2e6 } }, "1048449")
      refused({ schema = columns, url = "http://x", table = "t", batch = { rows = 2 ^ 32 + 2 } },
        "1048449")
      refused({ schema = columns, url = "http://x", table = "t", batch = { age = 0 } }, "batch.age")
      refused({ schema = columns, url = "http://x", table = "t", batch = { age = "1 fortnight" } },
        "batch.age")
      refused({ schema = columns, url = "http://x", table = "t", compress = "gzip" }, "gzip")
      refused({ schema = columns, url = "http://x", table = "t", pending = { overflow = "?" } },
        "overflow")
      refused({ schema = columns, url = "http://x", table = "t", nonsense = 1 }, "nonsense")
      local pool = chute.pool { url = "http://x" }
      refused({ schema = columns, pool = pool, table = "t", nonsense = 1 }, "nonsense")
      pool:close()
      refused({ schema = columns, url = "http://x", table = "t", settings = { query = "x" } }, "query")
      refused({ schema = columns, url = "http://x", table = "t", settings = { ["a b"] = 1 } },
        "a b")
    end)
  end)
end)
