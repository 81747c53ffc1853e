--- The spool: batches that outlive a process, a refusal, a full disk.
local chute = require "chute"
local cjson = require "cjson"
local ffi = require "ffi"
local process = require "spec.support.process"
local server = require "spec.support.server"
local spools = require "spec.support.spools"

local assert_balanced, dead_url, eventually, files, lines, read, slots, write, two_columns =
  spools.assert_balanced, spools.dead_url, spools.eventually, spools.files, spools.lines, spools.read,
  spools.slots, spools.write, spools.columns

describe("the spool", function()
  local sp = spools.new()
  local open, leave, deliver, contents, new_table = sp.open, sp.leave, sp.deliver, sp.contents, sp.new_table

  setup(sp.setup)
  teardown(sp.teardown)
  before_each(sp.before_each)
  after_each(sp.after_each)

  it("leaves nothing behind where all was delivered", function()
    local name = new_table()
    local s = open { url = server.shared.chdb().url, table = name, batch = { rows = 100 } }
    for i = 1, 1050 do assert(s:insert { i, "row" }) end
    assert.is_true(s:drain(20))
    local stats = assert_balanced(s)
    assert.same({ 1050, 0, 11 }, { stats.acked, stats.recovered, stats.batches_acked })
    assert.is_true(s:close())
    assert.equal("1050\t1050\t551775\n", contents(name))
    assert.same({}, files(sp.root .. "/spool"))
  end)

  it("keeps to itself: 0700 and 0600", function()
    local s = open { url = dead_url(), table = "t" }
    assert(s:insert { 1, "x" })
    local modes = spools.shell("stat -c '%a %F' spool spool/* spool/*/lock spool/*/*.slot", sp.root)
    assert.same({ "700 directory", "700 directory" }, { unpack(lines(modes), 1, 2) })
    for i = 3, #lines(modes) do assert.matches("^600 regular", lines(modes)[i]) end
    s:close(0)
  end)

  it("keeps what a dead server does not take, and another stream delivers it, once", function()
    local name = new_table()
    local before = leave(name, 3, 10)
    assert.same({ 30, 30, 0 }, { before.accepted, before.pending, before.acked })
    assert.equal(3, #slots(sp.root))
    local stats = deliver(name)
    assert.same({ 30, 30, 0 }, { stats.recovered, stats.acked, stats.pending })
    assert.equal("30\t30\t465\n", contents(name))
    assert.same({}, files(sp.root .. "/spool"))
  end)

  it("sends again by itself when the server is back", function()
    local name, port = new_table(), server.shared.chdb().port
    local faults = require "spec.support.faults"
    local proxy = faults.proxy { upstream = server.shared.chdb() }
    proxy:rule { kind = "insert", times = 3, at = "answer", action = "reset" }
    local s = open { url = proxy.url, table = name, batch = { rows = 10 } }
    for i = 1, 100 do assert(s:insert { i, "row" }) end
    assert.is_true(s:drain(30))
    local stats = assert_balanced(s)
    assert.same({ 100, 0 }, { stats.acked, stats.parked })
    assert.is_true(s:close())
    assert.equal("100\t100\t5050\n", contents(name))
    proxy:stop()
    assert.is_number(port)
  end)

  it("sends under the statement, settings and header it was written with", function()
    local name = new_table()
    sp.db:query("ALTER TABLE " .. name .. " ADD COLUMN c UInt8 DEFAULT 7")
    leave(name, 1, 5, { settings = { log_comment = "left 'behind'" }, compress = "lz4" })
    local other = new_table()
    local s = open { url = server.shared.chdb().url, table = other,
      schema = { format = "RowBinary", columns = { { "a", "UInt64" } } } }
    assert(s:insert { 77 })
    assert.is_true(s:drain(20))
    assert.equal(5, s:stats().recovered)
    assert.is_true(s:close())
    assert.equal("5\t35\n", sp.db:query("SELECT count(), sum(c) FROM " .. name))
    assert.equal("77\n", sp.db:query("SELECT sum(a) FROM " .. other))
  end)

  it("is adopted while running, where another worker died", function()
    local name = new_table()
    local s = open { url = server.shared.chdb().url, table = name, batch = { age = "10ms" } }
    assert(s:insert { 1000, "own" })
    assert.is_true(s:drain(20))
    leave(name, 2, 10)
    eventually(10, function() return s:stats().acked == 21 end)
    assert.equal(20, assert_balanced(s).recovered)
    assert.is_true(s:close())
    assert.equal("21\t21\t1210\n", contents(name))
  end)

  it("holds its folder against others", function()
    local name = new_table()
    local one = open { url = dead_url(), table = name }
    for i = 1, 10 do assert(one:insert { i, "row" }) end
    local two = open { url = server.shared.chdb().url, table = name }
    assert.is_true(two:drain(20))
    assert.equal(0, two:stats().recovered)
    assert.is_true(one:close(0))
    eventually(10, function() return two:stats().acked == 10 end)
    assert.is_true(two:close())
    assert.equal("10\t10\t55\n", contents(name))
  end)

  it("is adopted though a child that the dead worker forked lives on", function()
    local name = new_table()
    local child = process.spawn { argv = { "luajit", "-e", [[
      local ffi = require "ffi"
      ffi.cdef "int fork(void); int getpid(void); int kill(int pid, int signal); int pause(void);"
      local s = require "chute".open { url = "http://127.0.0.1:1", table = arg[1], spool = arg[2],
        schema = { columns = { { "a", "UInt64" }, { "b", "String" } } } }
      for i = 1, 10 do assert(s:insert { i, "row" }) end
      if ffi.C.fork() == 0 then
        print(ffi.C.getpid())
        io.stdout:flush()
        while true do ffi.C.pause() end
      end
      ffi.C.pause()
    ]], "-", name, sp.root .. "/spool" }, stdout = true, die_with_parent = true }
    local forked = tonumber((child:read_line(20)))
    child:kill(process.SIGKILL)
    child:wait(10)
    local ok, stats = pcall(deliver, name)
    ffi.C.kill(forked, process.SIGKILL)
    assert.is_true(ok, stats)
    assert.equal(10, stats.recovered)
    assert.equal("10\t10\t55\n", contents(name))
  end)

  describe("puts aside", function()
    it("batches that the server refuses, with the reason", function()
      local name = new_table()
      local s = open { url = server.shared.chdb().url, table = name .. "_not" }
      for i = 1, 10 do assert(s:insert { i, "row" }) end
      assert.is_true(s:drain(20))
      local stats = assert_balanced(s)
      assert.same({ 10, 0, 1 }, { stats.parked, stats.pending, stats.batches_parked })
      assert.is_true(s:close())
      local left = files(sp.root .. "/spool")
      assert.equal(2, #left)
      local token = left[1]:match "^dead/(.*)%.json$"
      assert.equal(("dead/%s.slot"):format(token), left[2])
      local note = cjson.decode(read(sp.root .. "/spool/" .. left[1]))
      assert.same({ token, 60, "UNKNOWN_TABLE", 10 }, { note.token, note.code, note.name, note.rows })
      assert.same({ { "a", "UInt64" }, { "b", "String" } }, note.columns)
      assert.matches("^20%d%d%-%d%d%-%d%dT.*Z$", note.time)
      assert.matches("_not", note.insert)
    end)

    it("and lets them be tried again, with the same token", function()
      local name = new_table() .. "_later"
      local s = open { url = server.shared.chdb().url, table = name }
      for i = 1, 10 do assert(s:insert { i, "row" }) end
      assert.is_true(s:drain(20))
      local parked = s:parked()
      assert.equal(1, #parked)
      assert.same({ 10, 60 }, { parked[1].rows, parked[1].error.code })
      assert.equal(("dead/%s.json"):format(parked[1].token), files(sp.root .. "/spool")[1])
      assert.equal(1, s:retry_parked())
      assert.is_true(s:drain(20))
      assert.equal(2, #files(sp.root .. "/spool/dead"))
      sp.db:query(("CREATE TABLE %s (a UInt64, b String) ENGINE = Memory"):format(name))
      assert.equal(1, s:retry_parked())
      assert.is_true(s:drain(20))
      assert.same({}, s:parked())
      assert.same({ 10, 0 }, { assert_balanced(s).acked, s:stats().parked })
      assert.equal("10\t10\t55\n", contents(name))
      eventually(5, function() return #files(sp.root .. "/spool/dead") == 0 end)
      assert.is_true(s:close())
    end)

    it("them, and counts them to its bound", function()
      local name = new_table()
      spools.shell("mkdir -p spool/dead && head -c 300000 /dev/zero > spool/dead/x.slot", sp.root)
      local s = open { url = server.shared.chdb().url, table = name, batch = { rows = 1 },
        pending = { bytes = "256KiB" } }
      eventually(5, function()
        local _, err = s:insert { 1, "row" }
        return err and err.kind == "busy"
      end)
      spools.shell("rm spool/dead/x.slot", sp.root)
      eventually(5, function() return (s:insert { 2, "row" }) end)
      assert.is_true(s:close())
    end)

    it("left ones that are refused, too", function()
      leave(new_table() .. "_not", 2, 5)
      local stats = deliver(new_table())
      assert.same({ 10, 10, 0 }, { stats.recovered, stats.parked, stats.acked })
      assert.equal(4, #files(sp.root .. "/spool/dead"))
    end)

    local function damaged(change)
      local name = new_table()
      leave(name, 2, 10)
      local path = sp.root .. "/" .. slots(sp.root)[1]
      change(path)
      local stats = deliver(name)
      return stats, name
    end

    it("a file without a header, and goes on", function()
      local stats, name = damaged(function(path) write(path, ("x"):rep(100000)) end)
      assert.equal(10, stats.acked)
      assert.equal("10\t10", contents(name):match "^%d+\t%d+")
      local left = files(sp.root .. "/spool")
      assert.equal(2, #left)
      assert.matches("^bad/stream%-.*%.slot$", left[1])
      assert.matches("headers", cjson.decode(read(sp.root .. "/spool/" .. left[2])).reason)
    end)

    it("an empty file, and one of another name", function()
      local stats = damaged(function(path)
        write(path, "")
        write(path .. ".old", "?")
      end)
      assert.equal(10, stats.acked)
      assert.equal(4, #files(sp.root .. "/spool/bad"))
    end)

    it("what remains of a damaged one, and delivers what was before", function()
      local name = new_table()
      local s = open { url = dead_url(), table = name, batch = { age = "1h" } }
      for i = 1, 3000 do assert(s:insert { i, ("x"):rep(91) }) end
      s:flush()
      s:sync()
      assert.is_true(s:close(0))
      local path = sp.root .. "/" .. slots(sp.root)[1]
      local bytes = read(path)
      local at = assert(bytes:find(ffi.string(ffi.new("uint64_t[1]", 2000), 8) .. "\91", 1, true))
      write(path, bytes:sub(1, at + 19) .. "y" .. bytes:sub(at + 21))
      local stats = deliver(name)
      assert.is_true(stats.acked > 1000 and stats.acked < 2000)
      local found, once, most = sp.db:query("SELECT count(), uniqExact(a), max(a) FROM " .. name)
        :match "(%d+)\t(%d+)\t(%d+)"
      assert.same({ tostring(stats.acked), found, found }, { found, once, most })
      assert.equal("0\n", sp.db:query("SELECT count() FROM " .. name .. " WHERE b != repeat('x', 91)"))
      assert.equal(2, #files(sp.root .. "/spool/bad"))
    end)
  end)

  describe("where the disk refuses", function()
    -- A tiny file system of our own.
    local function tiny(size)
      local dir = sp.root .. "/tiny"
      spools.shell(("mkdir tiny && mount -t tmpfs -o size=%s tmpfs tiny"):format(size), sp.root)
      return dir
    end

    it("tells insert so, keeps what it has, and goes on when there is room", function()
      local dir, name = tiny "3m", new_table()
      local s = open { url = dead_url(), table = name, spool = dir,
        batch = { bytes = "512KiB", age = "1h" } }
      local accepted, err, ok = 0, nil, true
      while ok do
        ok, err = s:insert { accepted + 1, ("x"):rep(1000) }
        if ok then accepted = accepted + 1 end
      end
      assert.equal("spool", err.kind)
      assert.matches("No space left on device", err.message)
      assert.matches(dir, err.message, 1, true)
      assert.is_true(accepted > 1000)
      assert.equal(1, assert_balanced(s).refused)
      spools.shell("mount -o remount,size=20m tiny", sp.root)
      eventually(5, function() return (s:insert { accepted + 1, "more" }) end)
      assert.is_true(s:close(0))
      deliver(name, { spool = dir })
      assert.equal(("%d\t%d"):format(accepted + 1, accepted + 1), contents(name):match "^%d+\t%d+")
    end)

    it("keeps batches in memory instead, where that was asked for", function()
      local dir, name = tiny "2m", new_table()
      local s = open { url = dead_url(), table = name, spool = dir, spool_fallback = "memory",
        batch = { bytes = "512KiB", age = "1h" } }
      for i = 1, 5000 do assert(s:insert { i, ("x"):rep(1000) }) end
      local ok, err = s:sync(10)
      assert.is_nil(ok)
      assert.equal("spool", err.kind)
      assert.is_true(s:stats().unspooled > 1000)
      ok, err = s:close(0)
      assert.is_nil(ok)
      assert.is_true(err.lost > 1000 and err.lost < 5000)
    end)

    it("is opened nevertheless, and says what is wrong at insert", function()
      local dir = tiny "64k"
      local s = open { url = dead_url(), table = "t", spool = dir }
      local ok, err = s:insert { 1, "x" }
      assert.is_nil(ok)
      assert.equal("spool", err.kind)
      s:close(0)
    end)

    it("and no folder can be had, is not opened", function()
      local function refused(spool, pattern)
        local ok, err = pcall(open, { url = dead_url(), table = "t", spool = spool })
        assert.is_false(ok)
        assert.matches(pattern, err)
      end
      refused("/nowhere/at/all", "No such file or directory")
      write(sp.root .. "/file", "")
      refused(sp.root .. "/file", "Not a directory")
    end)

    it("says that the folder vanished, and goes on when it is back", function()
      local name = new_table()
      local s = open { url = dead_url(), table = name, batch = { rows = 10, age = "1h" } }
      assert(s:insert { 1, "x" })
      spools.shell("rm -r spool", sp.root)
      local err
      for i = 2, 100 do
        local ok, why = s:insert { i, "x" }
        if not ok then err = why end
      end
      assert.equal("spool", err and err.kind)
      spools.shell("mkdir spool", sp.root)
      eventually(5, function() return (s:insert { 100, "x" }) end)
      assert_balanced(s)
      s:close(0)
    end)
  end)

  it("syncs what was accepted", function()
    local s = open { url = dead_url(), table = "t", batch = { rows = 10, age = "1h" } }
    for i = 1, 25 do assert(s:insert { i, "x" }) end
    assert.is_true(s:sync(10))
    assert.equal(3, s:stats().batches_sealed)
    assert.is_true(s:sync(10))
    s:close(0)
    local ok, err = s:sync()
    assert.is_nil(ok)
    assert.equal("closed", err.kind)
    local plain = chute.open { url = dead_url(), table = "t", schema = { columns = two_columns } }
    ok, err = plain:sync()
    assert.is_nil(ok)
    assert.equal("spool", err.kind)
    plain:close(0)
  end)

  it("gives each shard a folder of its own", function()
    local name = new_table()
    local function shards(url)
      return open { shards = { url, url }, shard_by = "a", table = name, batch = { age = "1h" } }
    end
    local s = shards(dead_url())
    for i = 1, 10 do assert(s:insert { i, "row" }) end
    assert.is_true(s:sync(10))
    assert.is_true(s:close(0))
    assert.same({ "spool-shard1", "spool-shard2" }, lines(spools.shell("ls", sp.root)))
    s = shards(server.shared.chdb().url)
    eventually(10, function() return s:stats().acked == 10 end)
    assert.is_true(s:close())
    assert.equal("10\t10\t55\n", contents(name))
  end)

  it("gives room on the disk back after a backlog", function()
    local name = new_table()
    local faults = require "spec.support.faults"
    local proxy = faults.proxy { upstream = server.shared.chdb() }
    proxy:down()
    local s = open { url = proxy.url, table = name, batch = { rows = 10, bytes = "64KiB" } }
    for i = 1, 300 do assert(s:insert { i, "row" }) end
    assert.is_true(#slots(sp.root) >= 30)
    proxy:up()
    assert.is_true(s:drain(30))
    eventually(5, function() return #slots(sp.root) < 15 end)
    assert.is_true(s:close())
    proxy:stop()
    assert.equal("300\t300\t45150\n", contents(name))
  end)

  it("is bounded, and drops the oldest where that was chosen", function()
    local name = new_table()
    leave(name, 2, 100)
    local s = open { url = dead_url(), table = name, batch = { bytes = "16KiB", age = "1h" },
      pending = { bytes = "512KiB", overflow = "drop_old" } }
    eventually(5, function() return s:stats().recovered == 200 end)
    for i = 1, 1000 do assert(s:insert { 10000 + i, ("x"):rep(1000) }) end
    local stats = assert_balanced(s)
    assert.is_true(stats.dropped > 300 and stats.dropped < 700)
    assert.is_true(stats.pending_bytes <= 513 * 1024)
    assert.is_true(s:close(0))
    deliver(name)
    local kept = tostring(1200 - stats.dropped)
    assert.equal(("%s\t%s\t11000\n"):format(kept, kept),
      sp.db:query("SELECT count(), uniqExact(a), max(a) FROM " .. name))
  end)

  it("is not opened with what makes no sense", function()
    local function refused(opts, pattern)
      opts.url, opts.table, opts.schema = dead_url(), "t", { columns = two_columns }
      local ok, err = pcall(chute.open, opts)
      assert.is_false(ok)
      assert.matches(pattern, err)
    end
    refused({ spool = 1 }, "spool must be the path")
    refused({ spool = sp.root, durability = "maybe" }, "durability")
    refused({ spool = sp.root, spool_fallback = "disk" }, "spool_fallback")
    refused({ durability = "fsync" }, "there is none")
  end)
end)
