-- Pools: inserts of buffers to every kind of destination.
local chute = require "chute"
local defer = require "spec.support.defer"
local process = require "spec.support.process"
local server = require "spec.support.server"
local shell = require "spec.support.shell"

local LIBCHDB = os.getenv "CHUTE_LIBCHDB" or ".cache/chdb/libchdb.so"
local COLUMNS = { { "a", "Int64" }, { "b", "String" } }

local function buffer_of(rows, format)
  local buf = chute.buffer { table = "t", columns = COLUMNS, format = format }
  for i = 1, rows do assert(buf:add_row { i, "b" .. i }) end
  return buf
end

local function open(opts)
  local pool = chute.pool(opts)
  defer(function() pool:close() end)
  return pool
end

local function thrown(f, ...)
  local ok, problem = pcall(f, ...)
  return not ok and tostring(problem) or nil
end

local function inserts_into(get_server, format, methods)
  local db, pool
  setup(function()
    db = get_server():database()
    pool = chute.pool { url = db.url, database = db.name, size = 2 }
  end)
  teardown(function()
    pool:close()
    db:drop()
  end)
  before_each(function()
    db:query "DROP TABLE IF EXISTS t"
    db:query "CREATE TABLE t (a Int64, b String) ENGINE = Memory"
  end)

  for _, how in ipairs(methods) do
    for _, sql in ipairs { "url", "body" } do
      it(("insert with %s, the statement in the %s"):format(how, sql), function()
        local buf = buffer_of(1000, format)
        local before = buf:tostring()
        assert(pool:insert(buf, { compress = how, sql = sql }))
        assert.equal("1000\t500500\t1000\n", db:query "SELECT count(), sum(a), uniqExact(b) FROM t")
        assert.equal(1000, buf.rows)
        assert.equal(before, buf:tostring())
      end)
    end
  end

  it("insert batches of many blocks", function()
    assert(pool:insert(buffer_of(300000, format), { compress = methods[1] }))
    assert.equal("300000\t45000150000\n", db:query "SELECT count(), sum(a) FROM t")
  end)

  return function() return db, pool end
end

describe("pools of ClickHouse 26.5", function()
  local get = inserts_into(server.shared.chdb, "RowBinaryWithNamesAndTypes",
    { "zstd", "zstd:3", "lz4", "none", "block-lz4", "block-zstd", "block-none" })

  it("insert with settings, and tell the rows written", function()
    local db, pool = get()
    local result = assert(pool:insert(buffer_of(3), { table = db.name .. ".t", settings = { max_threads = 1 } }))
    assert.equal(3, result.summary.written_rows)
    local _, err = pool:insert(buffer_of(3), { settings = { no_such_setting = 1 } })
    assert.equal(115, err.code)
  end)

  it("insert the same rows again when asked to, whatever the server's deduplication", function()
    local db, pool = get()
    db:query [[CREATE TABLE d (a Int64, b String) ENGINE = MergeTree ORDER BY a
      SETTINGS non_replicated_deduplication_window = 100]]
    local buf = buffer_of(10)
    for _ = 1, 3 do assert(pool:insert(buf, { table = "d" })) end
    assert.equal("30\n", db:query "SELECT count() FROM d")
    local same = { insert_deduplication_token = "one" } -- the caller's own token wins
    for _ = 1, 3 do assert(pool:insert(buf, { table = "d", settings = same })) end
    assert.equal("40\n", db:query "SELECT count() FROM d")
    local twice = "-- one\n/* two */ INSERT INTO d FORMAT CSV"
    for _ = 1, 2 do assert(pool:query(twice, { body = "1,one\n" })) end
    assert.equal("42\n", db:query "SELECT count() FROM d")
  end)

  it("insert into names of any kind", function()
    local db, pool = get()
    db:query "CREATE TABLE `odd.na\\`me` (`a b` UInt8, `c\\\\d` UInt8) ENGINE = Memory"
    local buf = chute.buffer { columns = { { "a b", "UInt8" }, { "c\\d", "UInt8" } } }
    assert(buf:add_row { 1, 2 })
    for _, name in ipairs { ".`odd.na``me`", ".`odd.na\\`me`" } do
      assert(pool:insert(buf, { table = db.name .. name }))
    end
    assert.equal("1\t2\n1\t2\n", db:query "SELECT * FROM `odd.na\\`me`")
  end)

  it("tell what the server refuses", function()
    local _, pool = get()
    local result, err = pool:insert(buffer_of(1), { table = "no_such_table" })
    assert.is_nil(result)
    assert.equal("server", err.kind)
    assert.equal(60, err.code)
    assert.equal("UNKNOWN_TABLE", err.name)
    assert.is_false(err.uncertain)
    local other = chute.buffer { table = "t", columns = { { "a", "String" } } }
    assert(other:add_row { "x" })
    _, err = pool:insert(other)
    assert.equal("server", err.kind)
    assert.equal(0, tonumber((get():query "SELECT count() FROM t")))
  end)

  it("throw wrong arguments at the caller's line", function()
    local _, pool = get()
    local cases = {
      { "insert takes a buffer", {} },
      { "insert has no option nosuch", buffer_of(1), { nosuch = 1 } },
      { "insert needs a table", chute.buffer { columns = COLUMNS } },
      { '"a.b.c" is no table name', buffer_of(1), { table = "a.b.c" } },
      { '"a." is no table name', buffer_of(1), { table = "a." } },
      { '"`a" is no table name', buffer_of(1), { table = "`a" } },
      { '"``" is no table name', buffer_of(1), { table = "``" } },
      { 'compress "gzip" is none of', buffer_of(1), { compress = "gzip" } },
    }
    for _, case in ipairs(cases) do
      local problem = thrown(function()
        local result = pool:insert(case[2], case[3])
        return result
      end)
      assert.matches("pool_spec.lua:%d+: chute: " .. case[1]:gsub("%p", "%%%0"), problem)
    end
  end)
end)

describe("pools of ClickHouse 18.16", function()
  local get = inserts_into(server.shared.clickhouse18, "RowBinary", { "block-lz4", "block-zstd", "block-none", "none" })

  it("tell of a compression it does not know", function()
    local _, pool = get()
    local result, err = pool:insert(buffer_of(1, "RowBinary"), { compress = "zstd" })
    assert.is_nil(result)
    assert.equal(89, err.code)
    assert.is_false(err.uncertain)
  end)
end)

describe("a pool", function()
  it("throws at the caller's line where an option is wrong", function()
    local cases = {
      { "a pool takes a table of options", "http://h" },
      { 'url must be text such as "http://localhost:8123"', {} },
      { "url must be text such as", { url = { "http://a", 1 } } },
      { "chdb:x cannot be one of several hosts", { url = { "http://a", "chdb:x" } } },
      { 'strategy "first" is none of', { url = "http://h", strategy = "first" } },
      { "bad URL: it starts with none of", { url = "ftp://h" } },
      { "size must be a whole number from 1 to 1024, not 0", { url = "http://h", size = 0 } },
      { "user must be text", { url = "http://h", user = 1 } },
      { "timeout must be seconds", { url = "http://h", timeout = "x" } },
      { "a pool has no option nosuch", { url = "http://h", nosuch = 1 } },
      { "file:/no/such/folder: cannot open the folder: No such file or directory", { url = "file:/no/such/folder" } },
    }
    for _, case in ipairs(cases) do
      local problem = thrown(function() return (chute.pool(case[2])) end)
      assert.matches("pool_spec.lua:%d+: chute: " .. case[1]:gsub("%p", "%%%0"), problem)
    end
  end)

  it("takes a list of one address", function()
    local s = server.shared.chdb()
    assert.is_true(open { url = { s.url } }:ping())
  end)

  it("loses no request that no result can be made of", function()
    local lib, result, loaded = require "chute.lib", require "chute.result", package.loaded["chute.query"]
    local new, freed = result.new, 0
    local function free(request)
      freed = freed + 1
      lib.C.chute_request_free(request)
    end
    local counting = setmetatable({ chute_request_free = free }, { __index = function(_, name) return lib.C[name] end })
    defer(function()
      result.new = new
      package.loaded["chute.lib"], package.loaded["chute.query"] = lib, loaded
    end)
    package.loaded["chute.lib"], package.loaded["chute.query"] = { C = counting, ffi = lib.ffi }, nil
    local query = require "chute.query"
    result.new = function() error("no memory", 0) end
    local pool = open { url = server.shared.chdb().url }
    assert.equal("no memory", thrown(query.ping, pool.ptr, 10000))
    assert.equal("no memory", thrown(query.send, pool.ptr, 10000, "SELECT 1", {}, 1))
    collectgarbage()
    collectgarbage()
    assert.equal(2, freed)
  end)

  it("is closed once and for all", function()
    local pool = chute.pool { url = server.shared.chdb().url }
    assert.is_true(pool:close())
    assert.is_true(pool:close(1))
    for _, answer in ipairs { { pool:query "SELECT 1" }, { pool:ping() }, { pool:insert(buffer_of(1)) } } do
      assert.is_nil(answer[1])
      assert.equal("closed", answer[2].kind)
    end
  end)
end)

describe("a pool on a folder", function()
  it("leaves each insert as a file that a server takes #shell", function()
    local dir = process.make_dir()
    defer(function() process.remove_dir(dir) end)
    local pool = open { url = "file:" .. dir }
    assert.is_true(pool:ping())
    assert(pool:insert(buffer_of(100), { compress = "zstd" }))
    local listing = shell.must("ls -l", { dir = dir })
    local body = listing:match "(%S+%.rowbinarywithnamesandtypes%.zst)\n"
    local sql = listing:match "(%S+%.sql)\n"
    assert.matches("^%d+T%d+%.%d+Z%-%x+%-%x+%-%x+%-%x+%-%x+%.sql$", sql)
    assert.equal(body:match "^%d+T%d+%.%d+Z%-[%x%-]+", sql:match "^(.*)%.sql$")
    assert.equal(2, select(2, listing:gsub("\n%-rw%-%-%-%-%-%-%-", "")))
    local db = server.shared.chdb():database()
    defer(function() db:drop() end)
    db:query "CREATE TABLE t (a Int64, b String) ENGINE = Memory"
    local function read(name)
      local file = assert(io.open(dir .. "/" .. name, "rb"))
      local text = file:read "*a"
      file:close()
      return text
    end
    db:query(read(sql):gsub("\n$", ""), { body = read(body), headers = { ["Content-Encoding"] = "zstd" } })
    assert.equal("100\t5050\n", db:query "SELECT count(), sum(a) FROM t")
  end)

  it("leaves nothing where the folder cannot be synced #shell", function()
    local dir = process.make_dir()
    defer(function() process.remove_dir(dir) end)
    shell.must(([[mkdir %s/out; cc -shared -fPIC -o %s/sync.so -x c - <<'END'
      #include <errno.h>
      #include <stdlib.h>
      #include <sys/stat.h>
      int fsync(int fd) {
        static int syncs;
        struct stat is;
        if (fstat(fd, &is) || !S_ISDIR(is.st_mode) || ++syncs != atoi(getenv("FAILING"))) return 0;
        errno = EIO;
        return -1;
      }
END]]):format(dir, dir))
    local script = [[luajit - <<'END'
      local chute = require "chute"
      local buf = chute.buffer { table = "t", columns = { { "a", "UInt8" } } }
      assert(buf:add_row { 1 })
      local _, err = chute.pool { url = "file:]] .. dir .. [[/out" }:insert(buf)
      io.write(tostring(err))
END]]
    local preload = (os.getenv "LD_PRELOAD" or "") .. " " .. dir .. "/sync.so"
    for nth = 1, 2 do -- the statement's, the body's
      local text = shell.must(script, { env = { LD_PRELOAD = preload, FAILING = tostring(nth) } })
      assert.matches("cannot write a file: Input/output error$", text)
      assert.equal("", shell.must("ls -A", { dir = dir .. "/out" }))
    end
  end)

  it("takes no queries", function()
    local dir = process.make_dir()
    defer(function() process.remove_dir(dir) end)
    local result, err = open { url = "file:" .. dir }:query "SELECT 1"
    assert.is_nil(result)
    assert.equal(("file:%s takes inserts only"):format(dir), err.message)
  end)
end)

describe("a pool on an embedded ClickHouse #chdb", function()
  local dir, pool
  setup(function()
    dir = process.make_dir()
    pool = chute.pool { url = "chdb:" .. dir .. "/data", libchdb = LIBCHDB }
  end)
  teardown(function()
    pool:close()
    process.remove_dir(dir)
  end)
  before_each(function()
    assert(pool:query "DROP TABLE IF EXISTS t")
    assert(pool:query "CREATE TABLE t (a Int64, b String) ENGINE = Memory")
  end)

  it("queries, with parameters and settings for that statement alone", function()
    assert.is_true(pool:ping())
    local sql = "SELECT getSetting('max_threads'), {x:String} FORMAT TSV"
    local result = assert(pool:query(sql, { settings = { max_threads = 7 }, params = { x = "a'b" } }))
    assert.equal("7\ta\\'b\n", result.body)
    assert.not_equal("7", assert(pool:query(sql, { params = { x = "" } })).body:match "^(%d+)")
    assert.equal('{"1":1}\n', assert(pool:query("SELECT 1", { format = "JSONEachRow" })).body)
  end)

  for _, how in ipairs { "zstd", "lz4", "none", "block-lz4" } do
    it("inserts, whatever compression is asked for: " .. how, function()
      local result = assert(pool:insert(buffer_of(1000), { compress = how, sql = "body" }))
      assert.equal(1000, result.summary.written_rows)
      assert.equal("1000\t500500\n", assert(pool:query "SELECT count(), sum(a) FROM t FORMAT TSV").body)
    end)
  end

  it("inserts rows that hold blank lines, all of them", function()
    local buf = chute.buffer { table = "t", columns = COLUMNS, format = "RowBinary" }
    for i = 1, 1000 do assert(buf:add_row { i, "\n\n" }) end
    assert(pool:insert(buf))
    assert(pool:query("INSERT INTO t FORMAT CSV", { body = '1,"x\n\n\n"\n2,"y"\n' }))
    assert(pool:query 'INSERT INTO t SETTINGS max_threads = 1 FORMAT CSV\n3,"x\n\n"\n4,"y"\n')
    assert.equal("1004\n", assert(pool:query "SELECT count() FROM t FORMAT TSV").body)
  end)

  it("tells exceptions as servers do", function()
    local result, err = pool:query "SELECT * FROM no_such_table"
    assert.is_nil(result)
    assert.equal(60, err.code)
    assert.equal("UNKNOWN_TABLE", err.name)
    assert.equal(("chdb:%s/data"):format(dir), err.host)
    assert.equal("1\n", assert(pool:query "SELECT 1 FORMAT TSV").body)
    result, err = pool:query("SELECT 1", { settings = { no_such_setting = 1 } })
    assert.is_nil(result)
    assert.equal(115, err.code)
  end)

  it("is shared by pools that name the same folder, and there is no other", function()
    local other = open { url = ("chdb:%s/../%s/data"):format(dir, dir:match "[^/]+$"), libchdb = LIBCHDB }
    assert(pool:insert(buffer_of(5)))
    assert.equal("5\n", assert(other:query "SELECT count() FROM t FORMAT TSV").body)
    assert.matches("this process has chdb:.* open, and can have no other",
      thrown(chute.pool, { url = "chdb:" .. dir .. "/second", libchdb = LIBCHDB }))
  end)

  it("keeps databases apart", function()
    assert(pool:query "CREATE DATABASE IF NOT EXISTS apart")
    local other = open { url = ("chdb:%s/data"):format(dir), libchdb = LIBCHDB, database = "apart" }
    assert.equal("apart\n", assert(other:query "SELECT currentDatabase() FORMAT TSV").body)
    assert.equal("default\n", assert(pool:query "SELECT currentDatabase() FORMAT TSV").body)
  end)
end)

describe("an embedded ClickHouse", function()
  local function run(script, env)
    env = env or {}
    env.CHUTE_LIBCHDB = env.CHUTE_LIBCHDB or LIBCHDB
    return shell.run(("luajit - <<'END'\n%s\nEND"):format(script), { env = env })
  end

  it("lives through exits without a close, and rows with it #chdb", function()
    local dir = process.make_dir()
    defer(function() process.remove_dir(dir) end)
    for i = 1, 8 do
      local code, text = run(([[
        local chute = require "chute"
        local pool = chute.pool { url = "chdb:%s" }
        assert(pool:query "CREATE TABLE IF NOT EXISTS t (a UInt8) ENGINE = MergeTree ORDER BY a")
        local buf = chute.buffer { table = "t", columns = { { "a", "UInt8" } } }
        assert(buf:add_row { %d })
        assert(pool:insert(buf))
        io.write(assert(pool:query "SELECT count() FROM t FORMAT TSV").body)
        if %d %% 2 == 0 then os.exit(0) end
      ]]):format(dir, i, i))
      assert.same({ 0, i .. "\n" }, { code, text })
    end
  end)

  it("is missed clearly #shell", function()
    local code, text = run([[require "chute".pool { url = "chdb:" }]], { CHUTE_LIBCHDB = "/no/such/libchdb.so" })
    assert.equal(1, code)
    assert.matches("chute: chdb: libchdb.so not found: set CHUTE_LIBCHDB, or the option libchdb, to its path", text)
  end)

  it("is refused inside nginx #shell", function()
    local dir = process.make_dir()
    defer(function() process.remove_dir(dir) end)
    shell.must(("echo 'void *ngx_cycle;' | cc -shared -fPIC -x c - -o %s/nginx.so"):format(dir))
    local preload = (os.getenv "LD_PRELOAD" or "") .. " " .. dir .. "/nginx.so"
    local code, text = run([[require "chute".pool { url = "chdb:" }]], { LD_PRELOAD = preload })
    assert.equal(1, code)
    assert.matches("chute: chdb: ClickHouse cannot live inside nginx: send to a server", text)
  end)
end)
