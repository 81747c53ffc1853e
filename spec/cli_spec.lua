-- bin/chute as a child process, against a real server.
local cjson = require "cjson"
local ffi = require "ffi"
local process = require "spec.support.process"
local server = require "spec.support.server"

ffi.cdef [[
ssize_t write(int fd, const void *bytes, size_t count);
int ioctl(int fd, unsigned long request, ...);
int link(const char *old, const char *new);
int symlink(const char *old, const char *new);
]]

local TIMEOUT = 60
local FIONREAD = 0x541B

local dir, judge, database

local function path(name) return dir .. "/" .. name end

local function write(name, text)
  local file = assert(io.open(path(name), "wb"))
  file:write(text)
  file:close()
  return path(name)
end

local function read(name)
  local file = assert(io.open(name, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local starts = 0

-- Starts bin/chute; options as process.spawn's, `argv` without the program.
local function start(argv, options)
  options = options or {}
  starts = starts + 1
  options.argv = options.program or { "bin/chute" }
  for _, arg in ipairs(argv) do options.argv[#options.argv + 1] = arg end
  options.stdout, options.log = true, path("stderr" .. starts)
  local child = process.spawn(options)
  child.log = options.log
  return child
end

-- Puts a short text into its standard input.
local function feed(child, text)
  assert.are.equal(#text, tonumber(ffi.C.write(child.stdin, text, #text)))
end

local function end_input(child)
  ffi.C.close(child.stdin)
  child.stdin = nil
end

-- Waits until it has read all that was fed to it.
local function await_taken(child)
  local left, deadline = ffi.new "int[1]", process.now() + TIMEOUT
  repeat
    assert.is_true(process.now() < deadline, "input is not read")
    assert.are.equal(0, ffi.C.ioctl(child.stdin, ffi.cast("unsigned long", FIONREAD), left))
  until left[0] == 0
end

-- Its exit code, standard output and standard error, once it has ended.
local function finish(child)
  local lines = {}
  while true do
    local line, why = child:read_line(TIMEOUT)
    if not line then
      assert.are.equal("end", why)
      break
    end
    lines[#lines + 1] = line .. "\n"
  end
  local out = table.concat(lines) .. child.pending
  return assert(child:wait(TIMEOUT)), out, read(child.log)
end

local function chute(argv, options) return finish(start(argv, options)) end

local function assert_one_line(text, pattern)
  assert.matches("^chute: [^\n]+\n$", text)
  assert.matches(pattern, text)
end

-- The numbers of a summary, by name.
local function numbers(out)
  local found = {}
  for name, value in out:gmatch "([%w/]+) +([%d.]+)[^\n]*" do found[name] = tonumber(value) end
  return found
end

local SCHEMA = [[
return {
  table = "%s.events",
  columns = { { "id", "UInt64" }, { "name", "String", default = "none" }, { "score", "Nullable(Float64)" } },
}
]]

-- A fresh table and a schema script for it.
local function events()
  database:query "DROP TABLE IF EXISTS events"
  database:query [[CREATE TABLE events (id UInt64, name String, score Nullable(Float64))
    ENGINE = MergeTree ORDER BY id]]
  return write("events.lua", SCHEMA:format(database.name))
end

local function stored()
  return database:query "SELECT * FROM events ORDER BY id FORMAT TabSeparated"
end

-- Waits until what is stored is `wanted`: open batches go by age. `look` reads it.
local function await_stored(wanted, look)
  look = look or stored
  local deadline = process.now() + TIMEOUT
  while look() ~= wanted do
    assert.is_true(process.now() < deadline, "rows do not arrive")
    ffi.C.poll(nil, 0, 20)
  end
end

setup(function()
  dir = process.make_dir()
  judge = server.shared.chdb()
  database = judge:database()
end)

teardown(function()
  database:drop()
  process.remove_dir(dir)
end)

describe("chute", function()
  it("tells wrong usage in a line, with exit code 2", function()
    for _, argv in ipairs {
      {}, { "nosuch" }, { "insert" }, { "insert", "s.lua" }, { "insert", "s.lua", "x.csv" }, { "query", "x" },
      { "insert", "s.lua", "x.csv", "--to", "http://x", "--input", "xml" },
      { "insert", "s.lua", "x.csv", "--to", "http://x", "--batch-rows", "many" },
      { "check", "s.lua", "--bogus" },
    } do
      local code, out, err = chute(argv)
      assert.are.equal(2, code, table.concat(argv, " "))
      assert.are.equal("", out)
      assert_one_line(err, "%-%-help")
    end
  end)

  it("explains itself, exit codes included", function()
    local code, out, err = chute { "--help" }
    assert.are.equal(0, code)
    assert.matches("insert.*query.*check.*Exit codes:", out)
    assert.are.equal("", err)
    code, out = chute { "insert", "--help" }
    assert.are.equal(0, code)
    assert.matches("%-%-rejects", out)
  end)

  it("runs again under LuaJIT where plain Lua started it", function()
    local schema = write("it's.lua", 'return { table = "t", columns = { { "a", "Int8" } } }')
    local code, out, err = chute({ "check", schema }, { program = { "lua5.1", "bin/chute" } })
    assert.are.equal(0, code)
    assert.are.equal("", err)
    assert.matches("^a +Int8\n", out)
    code = chute({ "check", path "missing" }, { program = { "lua5.1", "bin/chute" } })
    assert.are.equal(2, code)
    code, out, err = chute({ "check", schema }, { program = { "/usr/bin/lua5.1", "bin/chute" }, env = { PATH = dir } })
    assert.are.equal(2, code)
    assert.are.equal("", out)
    assert_one_line(err, "LuaJIT")
  end)
end)

describe("output that cannot be written", function()
  it("is told, of any command and length", function()
    local schema = events()
    local row = write("row.csv", "id\n1\n")
    for _, argv in ipairs {
      { "query", judge.url, "SELECT 1" }, { "query", judge.url, "SELECT * FROM numbers(100000)" },
      { "check", schema }, { "describe", judge.url, database.name .. ".events" },
      { "insert", schema, row, "--to", judge.url },
    } do
      table.insert(argv, 1, "sh")
      table.insert(argv, 1, 'exec bin/chute "$@" >/dev/full')
      table.insert(argv, 1, "-ec")
      local code, _, err = chute(argv, { program = { "sh" } })
      assert.are.equal(2, code)
      assert_one_line(err, "the output cannot be written")
    end
  end)
end)

describe("chute check", function()
  it("prints canonical types", function()
    local schema = write("good.lua", [[return { table = "d.t",
      columns = { { "a", "bigint" }, { "longer", "Nullable( Decimal64(3) )" } } }]])
    local code, out, err = chute { "check", schema }
    assert.are.equal("", err)
    assert.are.equal(0, code)
    assert.are.equal("a       Int64\nlonger  Nullable(Decimal(18, 3))\nok: 2 columns of d.t\n", out)
  end)

  it("names the place of a fault", function()
    local faults = {
      ['return {\n table = "t", columns = { { "a", "Int7" } } }'] = "a.*Int7",
      ['return { table = "t", columns = { { "a", "Int8" }, { "a", "Int8" } } }'] = "'?a'?.*twice",
      ['return { table = "t", columns = { { "a", "DateTime", unit = "fortnight" } } }'] = "a.*fortnight",
      ["return {\n table = = 1 }"] = ":2:",
      ['return { table = "t" }'] = "columns",
    }
    for text, pattern in pairs(faults) do
      local code, out, err = chute { "check", write("bad.lua", text) }
      assert.are.equal(1, code, text)
      assert.are.equal("", out)
      assert_one_line(err, "bad%.lua")
      assert_one_line(err, pattern)
    end
  end)

  it("tells a file that is not there", function()
    local code, _, err = chute { "check", path "nosuch.lua" }
    assert.are.equal(2, code)
    assert_one_line(err, "nosuch%.lua: No such file")
  end)
end)

describe("chute insert", function()
  local inputs = {
    ["e.ndjson"] = '{"id":1,"name":"a","score":0.5}\n{"id":18446744073709551615,"score":null}\n',
    ["e.jsonl"] = '{"id":1,"name":"a","score":0.5}\n\n{"id":18446744073709551615}',
    ["e.json"] = '[{"id":1,"name":"a","score":0.5},\n{"id":18446744073709551615}]',
    ["lines.json"] = '{"id":1,"name":"a","score":0.5}\n{"id":18446744073709551615}',
    ["e.csv"] = 'score,id,name\r\n0.5,1,"a"\r\n,18446744073709551615,\r\n',
    ["e.tsv"] = "id\tscore\tname\n1\t0.5\ta\n18446744073709551615\t\\N\tnone\n",
  }

  for name, text in pairs(inputs) do
    it("takes " .. name, function()
      local code, out, err = chute { "insert", events(), write(name, text), "--to", judge.url }
      assert.are.equal("", err)
      assert.are.equal(0, code)
      assert.are.equal("1\ta\t0.5\n18446744073709551615\tnone\t\\N\n", stored())
      local n = numbers(out)
      assert.are.same({ 2, 2, 0, 0, 0 }, { n.offered, n.acked, n.rejected, n.filtered, n.undelivered })
    end)
  end

  it("takes several files, and standard input in a format it is told", function()
    local schema = events()
    local child = start({ "insert", schema, write("a.x", "id\n1\n2\n"), "-", "--input", "csv", "--to", judge.url },
      { stdin = true })
    feed(child, "id,name\n3,three\n")
    end_input(child)
    local code, out = finish(child)
    assert.are.equal(0, code)
    assert.are.equal(3, numbers(out).acked)
    assert.are.equal("1\tnone\t\\N\n2\tnone\t\\N\n3\tthree\t\\N\n", stored())
  end)

  for _, method in ipairs { "none", "lz4", "zstd:3", "block-lz4", "block-zstd" } do
    it("compresses by " .. method .. ", in batches as small as told", function()
      local rows = {}
      for i = 1, 1000 do rows[i] = ('{"id":%d}'):format(i) end
      local code, out = chute { "insert", events(), write("many.ndjson", table.concat(rows, "\n")), "--to", judge.url,
        "--compress", method, "--batch-rows", "300", "--batch-bytes", "4KiB" }
      assert.are.equal(0, code)
      assert.are.equal(1000, numbers(out).acked)
      assert.are.equal("1000\t500500\n", database:query "SELECT count(), sum(id) FROM events")
    end)
  end

  it("rejects what does not fit by file and line, and goes on", function()
    local file = write("messy.ndjson",
      '{"id":1}\n{"id":\n{"id":-2}\n{"id":4,"score":"x"}\n{"id":5}\n[]\n7\n{"id":1.5}\n')
    local code, out, err = chute { "insert", events(), file, "--to", judge.url, "--rejects", path "rejects" }
    assert.are.equal(1, code)
    assert.are.equal("", err)
    local n = numbers(out)
    assert.are.same({ 8, 2, 6, 0 }, { n.offered, n.acked, n.rejected, n.undelivered })
    for _, line in ipairs { 2, 3, 4, 6, 7 } do
      assert.matches("\n  " .. file:gsub("%p", "%%%0") .. ":" .. line .. ": [^\n]+", out)
    end
    assert.matches("\n  and 1 more\n", out)
    assert.are.equal("1\tnone\t\\N\n5\tnone\t\\N\n", stored())
    local records = {}
    for line in io.lines(path "rejects") do records[#records + 1] = cjson.decode(line) end
    assert.are.equal(6, #records)
    assert.are.equal('{"id":', records[1].record)
    assert.are.same({ file = file, line = 3, record = '{"id":-2}', error = records[2].error }, records[2])
    assert.matches("id.*%-2.*range", records[2].error)
    assert.matches("score", records[3].error)
    assert.are.equal(8, records[6].line)
    local pipe = io.popen("stat -c %a " .. path "rejects")
    assert.are.equal("600", pipe:read "*l")
    pipe:close()
  end)

  it("names what it cannot read before anything is sent", function()
    local schema, good = events(), write("good.csv", "id\n1\n")
    for _, case in ipairs {
      { path "nosuch.csv", "nosuch%.csv: No such file" },
      { dir, "%-%-input" },
      { write("odd.csv", "id,id\n1,2\n"), "odd%.csv: 'id' stands twice" },
    } do
      local code, out, err = chute { "insert", schema, good, case[1], "--to", judge.url }
      assert.are.equal(2, code)
      assert.are.equal("", out)
      assert_one_line(err, case[2])
    end
    local code, _, err = chute { "insert", schema, good, dir, "--input", "csv", "--to", judge.url }
    assert.are.equal(2, code)
    assert_one_line(err, "Is a directory")
    code, _, err = chute { "insert", schema, good, "--rejects", "/nowhere/x", "--to", judge.url }
    assert.are.equal(2, code)
    assert_one_line(err, "/nowhere/x")
    code, _, err = chute { "insert", schema, good, "--rejects", good, "--to", judge.url }
    assert.are.equal(2, code)
    assert_one_line(err, "good%.csv")
    assert.are.equal("id\n1\n", read(good))
    assert.are.equal("", stored())
  end)

  it("never empties what it reads for its rejected records", function()
    local schema, good = events(), write("kept.ndjson", '{"id":1}\n')
    local text = read(schema)
    ffi.C.symlink(good, path "symlink")
    ffi.C.link(good, path "hardlink")
    for _, case in ipairs {
      { path "./kept.ndjson", "is among the files to read" }, { path "symlink", "is among the files to read" },
      { path "hardlink", "is among the files to read" }, { dir .. "/./events.lua", "is the schema script" },
    } do
      local code, out, err = chute { "insert", schema, good, "--rejects", case[1], "--to", judge.url }
      assert.are.same({ 2, "" }, { code, out })
      assert_one_line(err, case[1]:gsub("%p", "%%%0") .. ": " .. case[2])
      assert.are.equal('{"id":1}\n', read(good))
      assert.are.equal(text, read(schema))
    end
    local code, _, err = chute({ "-ec", 'exec bin/chute insert "$1" - --rejects "$2" --to "$3" <"$2"', "sh", schema,
      good, judge.url }, { program = { "sh" } })
    assert.are.equal(2, code)
    assert_one_line(err, "is among the files to read")
    assert.are.equal('{"id":1}\n', read(good))
  end)

  it("tells where rejected records cannot be written", function()
    local bad = write("bad.ndjson", '{"id":-1}\n{"id":2}\n')
    local code, out, err = chute { "insert", events(), bad, "--rejects", "/dev/full", "--to", judge.url }
    assert.are.equal(2, code)
    assert.are.same({ 2, 1, 1 }, { numbers(out).offered, numbers(out).acked, numbers(out).rejected })
    assert_one_line(err, "rejected records cannot be written: .*No space left on device")
  end)

  it("tells a bad schema, method or address with exit code 2", function()
    local schema, good = events(), write("good.csv", "id\n1\n")
    for _, argv in ipairs {
      { "insert", write("bad.lua", 'return { table = "t", columns = { { "a", "Int7" } } }'), good, "--to", judge.url },
      { "insert", schema, good, "--to", judge.url, "--compress", "gzip" },
      { "insert", schema, good, "--to", judge.url, "--batch-bytes", "big" },
      { "insert", schema, good, "--to", "gopher://x" },
      { "insert", schema, good, "--to", judge.url, "--password-file", path "nosuch" },
    } do
      local code, out, err = chute(argv)
      assert.are.equal(2, code, table.concat(argv, " "))
      assert.are.equal("", out)
      assert_one_line(err, ".")
    end
    assert.are.equal("", stored())
  end)

  it("tells a dead server in a line, with exit code 3", function()
    local http = require "spec.support.http"
    local url = "http://127.0.0.1:" .. http.free_port()
    local code, _, err = chute { "insert", events(), write("good.csv", "id\n1\n"), "--to", url }
    assert.are.equal(3, code)
    assert_one_line(err, "nothing was sent")
  end)

  it("tells a wrong table once, and how many rows are undelivered", function()
    local schema = events()
    database:query "DROP TABLE events"
    local code, out, err = chute { "insert", schema, write("good.csv", "id\n1\n2\n3\n"), "--to", judge.url,
      "--batch-rows", "2" }
    assert.are.equal(3, code)
    assert_one_line(err, "^chute: 3 rows undelivered: .*UNKNOWN_TABLE")
    assert.are.equal(3, numbers(out).undelivered)
    assert.are.equal(0, numbers(out).acked)
  end)

  it("stops reading where batches are refused", function()
    local schema = events()
    database:query "DROP TABLE events"
    -- Endless input: only stopping ends it.
    local command = ([[yes '{"id":1}' | exec bin/chute insert %s - --to %s --batch-rows 10]]):format(schema, judge.url)
    local child = start({}, { program = { "sh", "-c", command } })
    local code, out, err = finish(child)
    assert.are.equal(3, code)
    assert_one_line(err, "UNKNOWN_TABLE")
    local n = numbers(out)
    assert.are.equal(n.offered, n.undelivered)
    assert.matches("stopped at +<stdin>:" .. n.offered .. "\n", out)
  end)

  it("sends what was accepted when it is interrupted, but no half record", function()
    local child = start({ "insert", events(), "-", "--to", judge.url }, { stdin = true })
    feed(child, '{"id":1}\n{"id":2}\n{"id":3')
    await_stored "1\tnone\t\\N\n2\tnone\t\\N\n"
    child:kill(2)
    local code, out, err = finish(child)
    assert.are.equal(130, code)
    assert.are.equal("", err)
    local n = numbers(out)
    assert.are.same({ 2, 2, 0, 0 }, { n.offered, n.acked, n.rejected, n.undelivered })
    assert.are.equal("1\tnone\t\\N\n2\tnone\t\\N\n", stored())
  end)

  it("does not wait for a silent server past a second interrupt", function()
    local child = start({ "insert", events(), "-", "--to", judge.url }, { stdin = true })
    feed(child, '{"id":1}\n')
    await_stored "1\tnone\t\\N\n"
    judge.child:kill(process.SIGSTOP)
    finally(function() judge.child:kill(process.SIGCONT) end)
    feed(child, '{"id":2}\n')
    await_taken(child)
    local deadline = process.now() + TIMEOUT
    local line
    repeat
      child:kill(2)
      line = child:read_line(0.3)
    until line or process.now() > deadline
    judge.child:kill(process.SIGCONT)
    assert.are.equal("offered     2", line)
    local code, out, err = finish(child)
    assert.are.equal(130, code)
    -- The first row's acknowledgement may have been on its way.
    local n = numbers(out)
    assert.are.equal(2, n.acked + n.undelivered)
    assert_one_line(err, n.undelivered .. " rows undelivered: .*may have arrived")
  end)

  it("tells how many rows a server that dies leaves undelivered", function()
    local mortal = server.chdb()
    finally(function()
      mortal.child:stop(0)
      process.remove_dir(mortal.dir)
    end)
    mortal:query "CREATE TABLE t (id UInt64) ENGINE = MergeTree ORDER BY id"
    local schema = write("t.lua", 'return { table = "t", columns = { { "id", "UInt64" } } }')
    -- More batches than go at once: all of them have one deadline.
    local child = start({ "insert", schema, "-", "--to", mortal.url, "--batch-rows", "20" }, { stdin = true })
    feed(child, '{"id":1}\n{"id":2}\n')
    await_stored("2\n", function() return mortal:query "SELECT count() FROM t" end)
    mortal.child:kill(process.SIGKILL)
    mortal.child:wait(TIMEOUT)
    feed(child, ('{"id":3}\n'):rep(300))
    end_input(child)
    local code, out, err = finish(child)
    assert.are.equal(3, code)
    local n = numbers(out)
    assert.are.same({ 302, 2, 0, 300 }, { n.offered, n.acked, n.rejected, n.undelivered })
    assert_one_line(err, "300 rows undelivered: 127%.0%.0%.1:%d+: .*may have arrived")
  end)

  it("leaves the rejects of a run before where nothing is sent", function()
    local rejects = write("kept.ndjson", "old\n")
    local url = "http://127.0.0.1:" .. require("spec.support.http").free_port()
    local code = chute { "insert", events(), write("some.ndjson", '{"id":1}\n'), "--to", url, "--rejects", rejects }
    assert.are.equal(3, code)
    local file = assert(io.open(rejects))
    local text = file:read "*a"
    file:close()
    assert.are.equal("old\n", text)
  end)

  it("delivers to 18.16", function()
    local old = server.shared.clickhouse18()
    local old_db = old:database()
    finally(function() old_db:drop() end)
    old_db:query("CREATE TABLE " .. old_db.name .. ".t (id UInt64) ENGINE = Memory")
    local schema = write("old.lua", ([[return { table = "%s.t", format = "RowBinary", compress = "block-lz4",
      columns = { { "id", "UInt64" } } }]]):format(old_db.name))
    local code, out = chute { "insert", schema, write("old.ndjson", '{"id":1}\n{"id":2}\n'), "--to", old.url }
    assert.are.equal(0, code, out)
    assert.are.equal("2\t3\n", old_db:query("SELECT count(), sum(id) FROM " .. old_db.name .. ".t"))
  end)

  it("draws progress on a terminal only", function()
    -- The line is drawn every 0.2 s, and looked after every 256 records: here after 0 and 0.3 s.
    local block = [[yes '{"id":1}' | head -n 256]]
    local records = ("{ %s; sleep 0.3; %s; }"):format(block, block)
    local script = write("progress.sh", ("%s | bin/chute insert %s - --input ndjson --to %s"):format(
      records, events(), judge.url))
    local pipe = io.popen("script -qec 'sh " .. script .. "' /dev/null </dev/null")
    local out = pipe:read "*a"
    pipe:close()
    assert.matches("\r\27%[K[%d,]+ rows  [%d.]+ [KMG]?i?B  [%d,]+ rows/s  %d+ batches in flight", out)
    assert.matches("acked +512", out)
  end)

  it("keeps the password out of sight", function()
    local locked = server.chdb { user = "u", password = "s3cret" }
    finally(function() locked:stop() end)
    local argv = { "query", locked.url, "SELECT 1", "--user", "u" }
    local code, out = chute(argv, { env = { CHUTE_PASSWORD = "s3cret" } })
    assert.are.equal(0, code)
    assert.are.equal("1\n", out)
    code = chute { "query", locked.url, "SELECT 1", "--user", "u", "--password-file", write("pw", "s3cret\n") }
    assert.are.equal(0, code)
    local err
    code, out, err = chute(argv, { env = { CHUTE_PASSWORD = "wr0ng" } })
    assert.are.equal(3, code)
    assert.are.equal("", out)
    assert_one_line(err, "AUTHENTICATION_FAILED")
    assert.is_nil(err:find("wr0ng", 1, true))
  end)
end)

describe("chute query", function()
  it("prints the answer, in the format asked for", function()
    local code, out = chute { "query", judge.url, "SELECT 1 AS a, 'x' AS b" }
    assert.are.equal(0, code)
    assert.are.equal("1\tx\n", out)
    code, out = chute { "query", judge.url, "SELECT 1 AS a", "--format", "CSVWithNames" }
    assert.are.equal(0, code)
    assert.are.equal('"a"\n1\n', out)
    code, out = chute { "query", judge.url, "SELECT 1 AS a FORMAT JSONEachRow", "--format", "CSV" }
    assert.are.equal(0, code)
    assert.are.equal('{"a":1}\n', out)
  end)

  it("reads the statement from standard input", function()
    local child = start({ "query", judge.url, "-" }, { stdin = true })
    feed(child, "SELECT 2\n")
    end_input(child)
    local code, out = finish(child)
    assert.are.equal(0, code)
    assert.are.equal("2\n", out)
  end)

  it("tells the server's refusal with exit code 3", function()
    local code, out, err = chute { "query", judge.url, "SELECT nosuch" }
    assert.are.equal(3, code)
    assert.are.equal("", out)
    assert_one_line(err, "UNKNOWN_IDENTIFIER")
  end)
end)

describe("chute in process #chdb", function()
  it("inserts and queries, one process after the other", function()
    local url = "chdb:" .. path "engine"
    local schema = write("mine.lua", 'return { table = "mine", columns = { { "a", "UInt8" } } }')
    local create = "CREATE TABLE mine (a UInt8) ENGINE = MergeTree ORDER BY a"
    assert.are.equal(0, (chute { "query", url, create }))
    local code, out = chute { "insert", schema, write("a.csv", "a\n1\n2\n300\n"), "--to", url }
    assert.are.equal(1, code)
    assert.are.equal(2, numbers(out).acked)
    code, out = chute { "query", url, "SELECT sum(a) FROM mine" }
    assert.are.equal(0, code)
    assert.are.equal("3\n", out)
  end)
end)
