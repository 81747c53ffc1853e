-- chute.describe and `chute describe`: schema scripts out of real tables, that load and insert.

local chute = require "chute"
local process = require "spec.support.process"
local server = require "spec.support.server"
local shell = require "spec.support.shell"

-- What a sanitizer run preloads is for chute on the command line too.
local CHUTE = { env = { LD_PRELOAD = os.getenv "LD_PRELOAD" } }

-- What both versions take; the default of a column is told differently by 18.16 (CAST).
local COLUMNS = [[a UInt8, b String DEFAULT 'x\'y\n\\', c DateTime DEFAULT now(), d Int64 DEFAULT -5,
  e Float64 DEFAULT 0.5, m UInt8 MATERIALIZED a + 1, l UInt8 ALIAS a + 2,
  `we\`ird.name "q" \\ é` Array(String) DEFAULT [], n Nested(x UInt8, y String),
  f Enum8('a' = 1, 'b\'' = 2) DEFAULT 'b\'', p UInt64 DEFAULT 18446744073709551615, q Decimal(10, 2) DEFAULT 1.5,
  r String DEFAULT concat(b, 'z')]]

local WANTED = [==[
return {
  table = "$db.`odd $table`",
  columns = {
    { "a", "UInt8" },
    { "b", "String", default = "x'y\n\\" },
    { "c", "DateTime" }, -- DEFAULT now()
    { "d", "Int64", default = -5 },
    { "e", "Float64", default = 0.5 },
    { "we`ird.name \"q\" \\ é", "Array(String)", default = {} },
    { "n.x", "Array(UInt8)" },
    { "n.y", "Array(String)" },
    { "f", "Enum8('a' = 1, 'b\\'' = 2)", default = "b'" },
    { "p", "UInt64", default = "18446744073709551615" },
    { "q", "Decimal(10, 2)", default = "1.5" },
    { "r", "String" }, -- DEFAULT concat(b, 'z')
$more  },
}
]==]

local function wanted(db, more)
  return (WANTED:gsub("%$(%w+)", { db = db.name, table = "table", more = more or "" }))
end

local function load(text, folder)
  local path = folder .. "/schema.lua"
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  return chute.load(path), path
end

for _, case in ipairs {
  { version = "26.5", server = "chdb", format = "RowBinaryWithNamesAndTypes",
    more = [[, g Bool DEFAULT true, h Nullable(String) DEFAULT NULL, i Map(String, UInt8) DEFAULT map(),
      j String EPHEMERAL, k UUID DEFAULT generateUUIDv4(), s UInt8 DEFAULT 300,
      t LowCardinality(String) DEFAULT 'low', u DateTime64(3, 'UTC') DEFAULT '2024-01-01 00:00:00',
      v Int32 DEFAULT length(j)]],
    lines = [==[
    { "g", "Bool", default = true },
    { "h", "Nullable(String)" }, -- DEFAULT NULL
    { "i", "Map(String, UInt8)", default = {} },
    -- { "j", "String" }, -- EPHEMERAL: for DEFAULTs of others to use, not stored
    { "k", "UUID" }, -- DEFAULT generateUUIDv4()
    { "s", "UInt8" }, -- DEFAULT 300
    { "t", "LowCardinality(String)", default = "low" },
    { "u", "DateTime64(3, 'UTC')" }, -- DEFAULT '2024-01-01 00:00:00'
    { "v", "Int32" }, -- DEFAULT length(j)
]==], row = { k = "61f0c404-5cb3-11e7-907b-a6006ad3dba0", s = 1, u = 0, v = 1 } },
  { version = "18.16", server = "clickhouse18", format = "RowBinary", more = "", lines = "", row = {} },
} do
  describe("a table of ClickHouse " .. case.version, function()
    local db, conn, dir

    setup(function()
      dir = process.make_dir()
      db = server.shared[case.server]():database()
      db:query(("CREATE TABLE `odd table` (%s%s) ENGINE = Memory"):format(COLUMNS, case.more))
      conn = chute.connect(db.url)
    end)
    teardown(function()
      conn:close()
      db:drop()
      process.remove_dir(dir)
    end)

    it("makes a script", function()
      local text = assert(chute.describe(conn, db.name .. ".`odd table`"))
      assert.equal(wanted(db, case.lines), text)
    end)

    it("is found in the connection's database", function()
      local own = chute.connect(db.url, { database = db.name })
      finally(function() own:close() end)
      assert.equal(wanted(db, case.lines), (assert(chute.describe(own, "odd table"))))
    end)

    it("takes rows by that script, defaults and all", function()
      local text = assert(chute.describe(conn, db.name .. ".`odd table`"))
      local schema = load(text:gsub("return {", ("return { format = %q,"):format(case.format), 1), dir)
      local row = { a = 7, c = 0, r = "r", ["n.x"] = { 1 }, ["n.y"] = { "y" } }
      for key, value in pairs(case.row) do row[key] = value end
      local buf = chute.buffer(schema)
      assert(buf:add_row(row))
      local pool = chute.pool { url = db.url }
      finally(function() pool:close() end)
      assert(pool:insert(buf, { compress = case.version == "18.16" and "block-lz4" or "zstd" }))
      local shown = db:query([[SELECT a, b, d, e, `we\`ird.name "q" \\ é`, n.x, f, p, q, m, l FROM `odd table`]])
      assert.equal([[7	x\'y\n\\	-5	0.5	[]	[1]	b\'	18446744073709551615	]] ..
        (case.version == "18.16" and "1.50" or "1.5") .. "\t8\t9\n", shown)
    end)

    it("is described on the command line", function()
      local text = shell.must(("bin/chute describe %s '%s.`odd table`'"):format(db.url, db.name), CHUTE)
      assert.equal(wanted(db, case.lines), text)
      assert.equal(text,
        shell.must(("bin/chute describe %s 'odd table' --database %s"):format(db.url, db.name), CHUTE))
    end)

    it("is missed where there is none", function()
      local text, err = chute.describe(conn, db.name .. ".nosuch")
      assert.is_nil(text)
      assert.same({ "server", 60, "UNKNOWN_TABLE" }, { err.kind, err.code, err.name })
      local code, out = shell.run(("bin/chute describe %s nosuch"):format(db.url), CHUTE)
      assert.same({ 3, "chute: there is no table nosuch, or no right to see it\n" }, { code, out })
    end)
  end)
end

describe("describing", function()
  it("throws at the caller's line where the name is none", function()
    local conn = chute.connect(server.shared.chdb().url)
    finally(function() conn:close() end)
    for _, name in ipairs { "", "a.b.c", "`a", 7 } do
      local ok, err = pcall(function()
        local text = chute.describe(conn, name)
        return text
      end)
      assert.is_false(ok)
      assert.matches("describe_spec.lua:%d+: chute: .* is no table name$", err)
    end
  end)

  it("tells usage and network apart", function()
    local code, out = shell.run("bin/chute describe http://127.0.0.1:1 a.b.c", CHUTE)
    assert.same({ 2, 'chute: "a.b.c" is no table name\n' }, { code, out })
    code, out = shell.run("bin/chute describe http://127.0.0.1:1 t", CHUTE)
    assert.equal(3, code)
    assert.matches("^chute: 127%.0%.0%.1:1: ", out)
  end)
end)
