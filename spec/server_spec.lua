-- The test bench itself: what other specs take for granted about the servers they talk to.

local ffi = require "ffi"
local cjson = require "cjson"
local http = require "spec.support.http"
local process = require "spec.support.process"
local server = require "spec.support.server"

ffi.cdef [[
size_t ZSTD_compressBound(size_t len);
size_t ZSTD_compress(void *to, size_t capacity, const void *from, size_t len, int level);
size_t LZ4F_compressFrameBound(size_t len, const void *preferences);
size_t LZ4F_compressFrame(void *to, size_t capacity, const void *from, size_t len, const void *preferences);
]]
local zstd, lz4 = ffi.load "zstd", ffi.load "lz4"

local pack = {}

function pack.zstd(text)
  local bound = zstd.ZSTD_compressBound(#text)
  local out = ffi.new("char[?]", bound)
  return ffi.string(out, zstd.ZSTD_compress(out, bound, text, #text, 1))
end

function pack.lz4(text)
  local bound = lz4.LZ4F_compressFrameBound(#text, nil)
  local out = ffi.new("char[?]", bound)
  return ffi.string(out, lz4.LZ4F_compressFrame(out, bound, text, #text, nil))
end

local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local function flip_last_byte(text)
  return text:sub(1, -2) .. string.char((text:byte(-1) + 1) % 256)
end

-- Compressed blocks as ClickHouse itself makes them: the file of a one-column table.
-- The column is UInt8, 0 to 199 and again, so the blocks hold `rows` bytes of RowBinary.
local function blocks_of(db, codec, rows)
  local table_name = "blocks_" .. codec:lower() .. rows
  db:query(([[CREATE TABLE %s (n UInt8 CODEC(%s)) ENGINE = MergeTree ORDER BY tuple()
    SETTINGS min_bytes_for_wide_part = 0]]):format(table_name, codec))
  db:query(("INSERT INTO %s SELECT number %% 200 FROM numbers(%d)"):format(table_name, rows))
  local path = db:query(([[SELECT path FROM system.parts WHERE active AND database = '%s' AND table = '%s'
    FORMAT TabSeparatedRaw]]):format(db.name, table_name)):gsub("\n", "")
  return read_file(path .. "n.bin")
end

local HEADER = "\2\1a\1b\5Int64\6String"

local function row(number, text)
  return string.char(number) .. ("\0"):rep(7) .. string.char(#text) .. text
end

local ROWS = HEADER .. row(97, "a") .. row(98, "b") .. row(99, "c") .. row(100, "d")

describe("chserver", function()
  local db

  setup(function() db = server.shared.chdb():database() end)
  teardown(function() db:drop() end)

  local function fresh_table()
    db:query "DROP TABLE IF EXISTS t"
    db:query "CREATE TABLE t (a Int64, b String) ENGINE = MergeTree ORDER BY a"
  end

  local function stored()
    return db:query "SELECT a, b FROM t ORDER BY a FORMAT CSV"
  end

  local FOUR = '97,"a"\n98,"b"\n99,"c"\n100,"d"\n'
  local INSERT = "INSERT INTO t FORMAT RowBinaryWithNamesAndTypes"

  describe("asked", function()
    it("answers /ping and a query, by GET and by POST", function()
      assert.is_true(db.server:ping(1))
      assert.equal("1\n", db:query "SELECT 1")
      assert.equal("1\n", db:query("SELECT 1", { method = "GET", params = { query = "SELECT 1" } }))
      assert.matches("^26%.5%.", db:query "SELECT version()")
    end)

    it("labels its answers", function()
      local answer = db:request("SELECT number FROM numbers(3) FORMAT JSONCompact", { params = { query_id = "label" } })
      assert.equal("label", answer.headers["x-clickhouse-query-id"])
      assert.equal("JSONCompact", answer.headers["x-clickhouse-format"])
      assert.matches("^%S+$", answer.headers["x-clickhouse-timezone"])
      assert.equal("timeout=30", answer.headers["keep-alive"])
      assert.equal("3", cjson.decode(answer.headers["x-clickhouse-summary"]).read_rows)
      assert.same({ { 0 }, { 1 }, { 2 } }, cjson.decode(answer.body).data)
    end)

    it("takes the format, parameters and settings from the URL", function()
      assert.equal('{"x":5}\n', db:query("SELECT {v:UInt8} AS x",
        { params = { param_v = 5, default_format = "JSONEachRow" } }))
      assert.equal("17\n", db:query("SELECT getSetting('max_threads')", { params = { max_threads = 17 } }))
      assert.not_equal("17\n", db:query "SELECT getSetting('max_threads')")
      assert.equal("it\\'s \\\\ \\n\n", db:query("SELECT {v:String}", { params = { param_v = "it's \\\\ \\n" } }))
    end)

    it("joins the URL's query and the body", function()
      assert.equal("3\n", db:query("SELECT 1 +", { body = "2" }))
    end)

    it("compresses answers on demand", function()
      local answer = db:request("SELECT 'zzz'", {
        params = { enable_http_compression = 1 }, headers = { ["Accept-Encoding"] = "zstd" },
      })
      assert.equal("zstd", answer.headers["content-encoding"])
      assert.equal("\40\181\47\253", answer.body:sub(1, 4))
      local framed = db:query("SELECT 'zzz'", { params = { compress = 1 } })
      assert.equal("\130", framed:sub(17, 17))
    end)

    it("runs eight queries at once", function()
      local started, pending = process.now(), {}
      for i = 1, 8 do
        pending[i] = db:start("SELECT sleep(0.5), {i:UInt8}", { params = { param_i = i } })
      end
      for i = 1, 8 do assert.equal(("0\t%d\n"):format(i), pending[i]:finish().body) end
      assert.is_true(process.now() - started < 2)
    end)

    it("refuses a query_id that is running", function()
      local first = db:start("SELECT sleep(1)", { params = { query_id = "twice" } })
      local counters = function() return cjson.decode(db:request("", { path = "/_control/query",
        params = { query_id = "twice" } }).body) end
      repeat local seen = counters() until seen.requests > 0
      local second = db:request("SELECT 1", { params = { query_id = "twice" } })
      assert.equal(216, second.code)
      assert.equal(500, second.status)
      assert.equal("0\n", first:finish().body)
      assert.same({ requests = 2, status = 200, written_rows = 0, body_bytes = 23 }, counters())
    end)
  end)

  describe("given bad input", function()
    local function refused(code, status, sql, options)
      local answer = db:request(sql, options)
      assert.equal(code, answer.code)
      assert.equal(status, answer.status)
      assert.matches("^Code: " .. code .. "%. DB::Exception: .+%(" .. answer.name .. "%) %(version 26%.5[%d.]+%)\n$",
        answer.body)
      assert.equal(tostring(code), answer.headers["x-clickhouse-exception-code"])
      return answer
    end

    it("has ClickHouse's codes and statuses", function()
      refused(62, 400, "SELEC 1")
      refused(62, 400, "SELECT 1; SELECT 2")
      refused(62, 400, " -- nothing\n")
      refused(60, 404, "SELECT * FROM nonesuch")
      refused(60, 404, "INSERT INTO nonesuch FORMAT RowBinary", { body = "\1" })
      refused(81, 404, "SELECT 1", { params = { database = "nonesuch" } })
      refused(115, 404, "SELECT 1", { params = { nonesuch = 1 } })
      refused(115, 404, "SELECT 1", { params = { ["a`b'c"] = 1 } })
      refused(456, 500, "SELECT {v:UInt8}")
      refused(73, 404, "SELECT 1 FORMAT Nonesuch")
      refused(395, 500, "SELECT throwIf(1)")
      refused(48, 501, "SELECT 1", { params = { session_id = "s" } })
      refused(48, 501, "INSERT INTO t SELECT a FROM input('a UInt8') FORMAT CSV", { body = "1" })
    end)

    it("lets a GET read only", function()
      fresh_table()
      refused(164, 500, "x", { method = "GET", params = { query = "INSERT INTO t VALUES (1, 'x')" } })
      refused(164, 500, "x", { method = "GET", params = { query = "DROP TABLE t" } })
      assert.equal("1\n", db:query("x", { method = "GET", params = { query = "SELECT 1", max_threads = 1 } }))
    end)

    it("refuses rows that do not fit, in a server's words, and keeps none", function()
      fresh_table()
      local cut = refused(33, 500, INSERT, { body = ROWS:sub(1, -2) })
      assert.is_nil(cut.body:find("/proc", 1, true))
      refused(117, 400, INSERT, { body = (ROWS:gsub("Int64", "UInt8")) })
      refused(73, 404, "INSERT INTO t FORMAT Nonesuch", { body = "x" })
      refused(78, 404, "INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV")
      assert.equal("", stored())
    end)

    it("drops a body that is cut short", function()
      fresh_table()
      local params = { query = "INSERT INTO t FORMAT RowBinary", database = db.name }
      local answer = http.request { port = db.port, path = "/?" .. http.query_string(params), body = row(1, "x"),
        length = 100 }
      assert.is_nil(answer)
      assert.equal("", stored())
    end)

    it("refuses broken compression", function()
      fresh_table()
      local packed = pack.zstd(ROWS)
      refused(561, 500, INSERT, { body = packed:sub(1, -2), headers = { ["Content-Encoding"] = "zstd" } })
      refused(617, 500, INSERT, { body = "lz4, not", headers = { ["Content-Encoding"] = "lz4" } })
      refused(48, 501, INSERT, { body = ROWS, headers = { ["Content-Encoding"] = "snappy" } })
      local block = blocks_of(db, "LZ4", 300)
      local into = "INSERT INTO blocks_lz4300 FORMAT RowBinary"
      refused(271, 500, into, { body = flip_last_byte(block), params = { decompress = 1 } })
      refused(33, 500, into, { body = block:sub(1, -2), params = { decompress = 1 } })
      refused(271, 500, into, { body = block .. blocks_of(db, "NONE", 300), params = { decompress = 1 } })
      assert.equal("300\n", db:query "SELECT count() FROM blocks_lz4300")
    end)
  end)

  describe("given rows", function()
    before_each(fresh_table)

    it("stores them, the SQL in the URL", function()
      local answer = db:request(INSERT, { body = ROWS })
      assert.equal(200, answer.status)
      assert.equal("", answer.body)
      assert.equal("4", cjson.decode(answer.headers["x-clickhouse-summary"]).written_rows)
      assert.equal(FOUR, stored())
    end)

    it("stores them, the SQL at the head of the body", function()
      db:query(INSERT .. "\n" .. ROWS)
      db:query "TRUNCATE TABLE t"
      db:query(INSERT:lower():gsub("rowbinarywithnamesandtypes", "RowBinaryWithNamesAndTypes") .. " \t\r\n" .. ROWS)
      assert.equal(FOUR, stored())
    end)

    it("finds where they begin, whatever the statement", function()
      db:query "/* FORMAT CSV; */ INSERT INTO TABLE t (`a`, b) -- VALUES\n SETTINGS max_threads = 1 FORMAT CSV\n1,x"
      db:query("INSERT INTO t VALUES (2, 'FORMAT ;\n\n')\n, (3, 'y')")
      db:query "INSERT INTO t SELECT 4, 'FORMAT'"
      db:query("INSERT INTO t FORMAT RowBinary", { body = row(10, "\n\n\n") })
      db:query("INSERT INTO {x:Identifier} FORMAT CSV", { body = "5,z\n", params = { param_x = "t" } })
      db:query("INSERT INTO t FORMAT CSV", { body = "" })
      assert.equal('1,"x"\n2,"FORMAT ;\n\n"\n3,"y"\n4,"FORMAT"\n5,"z"\n10,"\n\n\n"\n', stored())
    end)

    for encoding, packed in pairs(pack) do
      it("stores them from Content-Encoding " .. encoding, function()
        db:query(INSERT, { body = packed(ROWS), headers = { ["Content-Encoding"] = encoding } })
        assert.equal(FOUR, stored())
      end)
    end

    for _, codec in ipairs { "LZ4", "ZSTD", "NONE" } do
      it("stores them from compressed blocks made by ClickHouse with " .. codec, function()
        local body = blocks_of(db, codec, 100000)
        db:query "CREATE OR REPLACE TABLE u (n UInt8) ENGINE = MergeTree ORDER BY n"
        db:query("INSERT INTO u FORMAT RowBinary", { body = body, params = { decompress = 1 } })
        assert.equal("100000\t" .. 500 * 199 * 100 .. "\n", db:query "SELECT count(), sum(n) FROM u")
      end)
    end

    it("stores a million rows full of blank lines", function()
      db:query "CREATE OR REPLACE TABLE u (a UInt16, b String) ENGINE = MergeTree ORDER BY a"
      local body = ("\n\n\3\n\n\n"):rep(1000000)
      db:query("INSERT INTO u FORMAT RowBinary", { body = body })
      db:query("INSERT INTO u FORMAT RowBinary\n" .. body)
      assert.equal("2000000\t6000000\t2570\t2570\n",
        db:query "SELECT count(), sum(length(b)), min(a), max(a) FROM u")
    end)

    it("cuts them into blocks of 1048449, as a server does", function()
      db:query "CREATE OR REPLACE TABLE u (a UInt8) ENGINE = MergeTree ORDER BY a"
      db:query "SYSTEM STOP MERGES u"
      db:query("INSERT INTO u FORMAT RowBinary", { body = ("\1"):rep(1048449 + 1) })
      assert.equal("1\n1048449\n", db:query(
        "SELECT rows FROM system.parts WHERE active AND table = 'u' AND database = currentDatabase() ORDER BY rows"))
    end)

    it("honours a deduplication token", function()
      db:query [[CREATE OR REPLACE TABLE u (a UInt8) ENGINE = MergeTree ORDER BY a
        SETTINGS non_replicated_deduplication_window = 100]]
      for _, token in ipairs { "one", "one", "two" } do
        db:query("INSERT INTO u FORMAT RowBinary", { body = "\1\2", params = { insert_deduplication_token = token } })
      end
      assert.equal("4\n", db:query "SELECT count() FROM u")
    end)

    it("counts what came", function()
      local function counters() return cjson.decode(db:request("", { path = "/_control/counters" }).body) end
      local before = counters()
      db:query(INSERT, { body = ROWS, params = { query_id = "counted" } })
      local after = counters()
      assert.equal(1, after.requests - before.requests)
      assert.equal(1, after.posts - before.posts)
      assert.equal(#ROWS, after.body_bytes - before.body_bytes)
      assert.equal(4, after.written_rows - before.written_rows)
      assert.equal(0, after.failures - before.failures)
      assert.same({ requests = 1, status = 200, written_rows = 4, body_bytes = #ROWS },
        cjson.decode(db:request("", { path = "/_control/query", params = { query_id = "counted" } }).body))
    end)
  end)

  describe("with a password", function()
    local guarded

    setup(function() guarded = server.chdb { user = "ann", password = "s3cret:x", keep_alive = 1 } end)
    teardown(function() guarded:stop() end)

    local BASIC = { Authorization = "Basic YW5uOnMzY3JldDp4" }

    it("lets in by headers, URL and Basic", function()
      assert.equal("1\n", guarded:query("SELECT 1",
        { headers = { ["X-ClickHouse-User"] = "ann", ["X-ClickHouse-Key"] = "s3cret:x" } }))
      assert.equal("1\n", guarded:query("SELECT 1", { params = { user = "ann", password = "s3cret:x" } }))
      assert.equal("1\n", guarded:query("SELECT 1", { headers = BASIC }))
    end)

    it("keeps out all else", function()
      local function refused(code, status, options)
        local answer = guarded:request("SELECT 1", options)
        assert.same({ code, status }, { answer.code, answer.status })
      end
      refused(516, 403, {})
      refused(516, 403, { params = { user = "bob", password = "s3cret:x" } })
      refused(516, 403, { params = { user = "ann", password = "wrong" } })
      refused(194, 401, { params = { user = "ann" } })
      refused(516, 403, { params = { user = "ann", password = "s3cret:x" }, headers = BASIC })
      refused(516, 403, { params = { user = "ann" }, headers = { ["X-ClickHouse-Key"] = "s3cret:x" } })
    end)

    it("lets a query take longer than a connection may idle", function()
      assert.equal("0\n", guarded:query("SELECT sleep(1.5)", { headers = BASIC }))
    end)
  end)

  it("ends cleanly, in the middle of work too", function()
    for _ = 1, 5 do
      local s = server.chdb()
      s:query "CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n"
      s:query "INSERT INTO t SELECT number FROM numbers(100000)"
      local cut = s:start "SELECT sleep(0.3)"
      s:stop() -- throws where it did not exit with 0
      pcall(cut.finish)
      assert.is_nil(io.open(s.dir))
    end
  end)

  it("says why it does not start", function()
    assert.error_matches(function() server.chdb { libchdb = "/nonesuch.so" } end, "nonesuch%.so: cannot open")
  end)
end)

describe("clickhouse18", function()
  local s, db

  setup(function()
    s = server.shared.clickhouse18()
    db = s:database()
  end)
  teardown(function() db:drop() end)

  it("is 18.16, and words its errors as such", function()
    assert.is_true(s:ping(1))
    assert.matches("^18%.16%.", s:query "SELECT version()")
    local answer = db:request "SELECT * FROM nonesuch"
    assert.equal(60, answer.code)
    assert.equal(404, answer.status)
    assert.matches("^Code: 60, e%.displayText%(%) = DB::Exception", answer.body)
  end)

  it("stores RowBinary from plain bodies and from LZ4 and ZSTD blocks", function()
    local maker = server.shared.chdb():database()
    db:query "CREATE TABLE t (n UInt8) ENGINE = MergeTree ORDER BY n"
    db:query("INSERT INTO t FORMAT RowBinary", { body = "\1\2\3" })
    for _, codec in ipairs { "LZ4", "ZSTD" } do
      local body = blocks_of(maker, codec, 1000)
      db:query("INSERT INTO t FORMAT RowBinary", { body = body, params = { decompress = 1 } })
      assert.not_equal(200, db:request("INSERT INTO t FORMAT RowBinary",
        { body = flip_last_byte(body), params = { decompress = 1 } }).status)
    end
    maker:drop()
    assert.equal("2003\t" .. 2 * 5 * 199 * 100 + 6 .. "\n", db:query "SELECT count(), sum(n) FROM t")
  end)

  -- Not the other way: 18.16 loses the end of an answer under compress=1.
  it("accepts chserver's blocks of any length, so its checksum is right", function()
    local judge, total = server.shared.chdb(), 0
    db:query "CREATE TABLE sums (n UInt8) ENGINE = Memory"
    local function carry(rows)
      local ask = ("SELECT toUInt8(number * 73 %% 251) FROM numbers(%d) FORMAT RowBinary"):format(rows)
      local body = judge:query(ask, { params = { compress = 1 } })
      db:query("INSERT INTO sums FORMAT RowBinary", { body = body, params = { decompress = 1 } })
      total = total + rows
    end
    for rows = 1, 170 do carry(rows) end
    for rows = 255, 5000, 593 do carry(rows) end
    carry(3000000) -- several blocks
    assert.equal(total .. "\n", db:query "SELECT count() FROM sums")
  end)
end)

describe("a server", function()
  it("does not outlive the process that started it", function()
    local child = process.spawn {
      argv = { "luajit", "-e", [[
        package.path = "./?.lua;" .. package.path
        local server = require "spec.support.server"
        local a, b = server.chdb(), server.clickhouse18()
        io.write(a.pid, " ", b.pid, " ", a.dir, " ", b.dir, "\n")
        io.flush()
        io.read() ]] },
      stdin = true, stdout = true,
    }
    local line = assert(child:read_line(60))
    local a, b, dir_a, dir_b = line:match "^(%d+) (%d+) (%S+) (%S+)$"
    child:kill(process.SIGKILL)
    assert.equal(128 + process.SIGKILL, child:wait(10))
    assert.is_true(process.await_end(tonumber(a), 20))
    assert.is_true(process.await_end(tonumber(b), 20))
    process.remove_dir(dir_a)
    process.remove_dir(dir_b)
  end)
end)
