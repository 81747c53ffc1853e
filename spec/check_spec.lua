-- `chute check --to`, and the comparison behind it: every difference between a script and a table.

local chute = require "chute"
local drift = require "chute.drift"
local process = require "spec.support.process"
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local table_of = require "chute.table"

-- What a sanitizer run preloads is for chute on the command line too.
local CHUTE = { env = { LD_PRELOAD = os.getenv "LD_PRELOAD" } }

local SCRIPT = [[
return {
  table = "%s",
  columns = {
    { "a", "UInt8" }, { "b", "Nullable(String)" }, { "c", "DateTime('UTC')" }, { "m", "UInt8" },
    { "l", "UInt8" }, { "gone", "String" }, { "e", "Enum8('y' = 2, 'x' = 1)" }, { "d", "Decimal64(2)" },
  },
}
]]

local FINDINGS = [[
type: column 'b' is Nullable(String) here and String in the table
type: column 'c' is DateTime('UTC') here and DateTime in the table
not insertable: column 'm' is MATERIALIZED: the server computes it
not insertable: column 'l' is ALIAS: the server computes it
missing: column 'gone' (String) is not in the table
note: column 'x' (Array(UInt8)) is not in the script and has no DEFAULT: it gets the empty value of its type
]]

describe("a script and a table", function()
  local dir

  setup(function() dir = process.make_dir() end)
  teardown(function() process.remove_dir(dir) end)

  local function write(text)
    local file = assert(io.open(dir .. "/s.lua", "w"))
    file:write(text)
    file:close()
  end

  -- stdout first, then stderr.
  local function check(url, more)
    return shell.run(("code=0; bin/chute check %s/s.lua --to %s %s 2>%s/err || code=$?; cat %s/err; exit $code")
      :format(dir, url, more or "", dir, dir), CHUTE)
  end

  -- What is told behind the columns.
  local function told(output) return output:match "\nok: %d+ columns of [^\n]+\n(.*)$" end

  for _, case in ipairs {
    { version = "26.5", server = "chdb", engine = "MergeTree ORDER BY a",
      warning = "warning: a batch that is sent twice is stored twice: the deduplication window of %s.t is 0\n" },
    { version = "18.16", server = "clickhouse18", engine = "MergeTree ORDER BY a",
      warning = "warning: a batch that is sent twice is stored twice: this server's MergeTree tables remember none\n" },
  } do
    describe("of ClickHouse " .. case.version, function()
      local db

      setup(function()
        db = server.shared[case.server]():database()
        db:query(([[CREATE TABLE t (a UInt8, b String, c DateTime, m UInt8 MATERIALIZED a, l UInt8 ALIAS a,
          x Array(UInt8), y UInt8 DEFAULT 7, e Enum8('x' = 1, 'y' = 2), d Decimal(18, 2))
          ENGINE = %s]]):format(case.engine))
      end)
      teardown(function() db:drop() end)

      it("are compared, difference by difference", function()
        write(SCRIPT:format(db.name .. ".t"))
        local code, out = check(db.url)
        assert.equal(1, code)
        assert.equal(FINDINGS .. case.warning:format(db.name)
          .. ("chute: %s/s.lua does not fit %s.t: 5 differences\n"):format(dir, db.name), told(out))
      end)

      it("fit where nothing fails an insert", function()
        write [[return { table = "t", columns = { { "a", "UInt8" }, { "x", "Array(UInt8)" } } }]]
        local code, out = check(db.url, "--database " .. db.name)
        assert.equal(0, code)
        assert.equal([[
note: column 'b' (String) is not in the script and has no DEFAULT: it gets the empty value of its type
note: column 'c' (DateTime) is not in the script and has no DEFAULT: it gets the empty value of its type
note: column 'e' (Enum8('x' = 1, 'y' = 2)) is not in the script and has no DEFAULT: it gets the empty value of its type
note: column 'd' (Decimal(18, 2)) is not in the script and has no DEFAULT: it gets the empty value of its type
]] .. case.warning:format(db.name) .. ("ok: rows fit %s.t\n"):format(db.name), told(out))
      end)

      it("fit where the script was made from the table", function()
        local conn = chute.connect(db.url)
        finally(function() conn:close() end)
        write((assert(chute.describe(conn, db.name .. ".t"))))
        assert.equal(0, (check(db.url)))
      end)
    end)
  end

  it("are compared with what the table's engine remembers", function()
    local db = server.shared.chdb():database()
    local conn = chute.connect(db.url, { database = db.name })
    finally(function()
      conn:close()
      db:drop()
    end)
    local schema = chute.schema { table = "t", columns = { { "a", "Nullable(UInt8)" } } }
    local function findings(engine)
      db:query("CREATE TABLE t (a Nullable(UInt8), b Nullable(UInt8)) ENGINE = " .. engine)
      local list, described = assert(drift.find(conn, schema))
      db:query "DROP TABLE t"
      assert.equal("note", list[1].kind)
      assert.matches("it gets NULL$", list[1].message)
      return list[2] and list[2].message, described.window
    end
    local tree = "MergeTree ORDER BY tuple()"
    assert.same({ nil, 100 }, { findings(tree .. " SETTINGS non_replicated_deduplication_window = 100") })
    assert.same({ ("a batch that is sent twice is stored twice: the deduplication window of %s.t is 0"):format(db.name),
      0 }, { findings(tree) })
    assert.matches("this server's Memory tables remember none", (findings "Memory"))
    assert.matches("is up to the tables behind spec_[%d_]+%.t %(Buffer%)",
      (findings(("Buffer(%s, u, 1, 1, 1, 1, 1, 1, 1)"):format(db.name))))
  end)

  it("need a table, a server and a script", function()
    write [[return { columns = { { "a", "UInt8" } } }]]
    local code, out = check "http://127.0.0.1:1"
    assert.same({ 1, ("chute: %s/s.lua names no table to compare with\n"):format(dir) }, { code, told(out) })
    write [[return { table = "t", columns = { { "a", "UInt8" } } }]]
    code, out = check "http://127.0.0.1:1"
    assert.equal(3, code)
    assert.matches("^chute: 127%.0%.0%.1:1: ", told(out))
    code, out = check "nowhere"
    assert.equal(2, code)
    assert.matches("^chute: bad URL", told(out))
    code, out = check(server.shared.chdb().url)
    assert.same({ 3, "chute: there is no table t, or no right to see it\n" }, { code, told(out) })
  end)

  it("have types in one spelling", function()
    for text, canonical in pairs { ["DateTime( 'UTC' )"] = "DateTime('UTC')", ["varchar(5)"] = "String",
      ["Nested(a Array(Int8), b BOOL)"] = "Nested(a Array(Int8), b Bool)", ["NoSuch(1)"] = "NoSuch(1)" } do
      assert.equal(canonical, table_of.canonical(text))
    end
  end)
end)
