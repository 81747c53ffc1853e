-- RowBinaryWithDefaults: absent values take the server's DEFAULT, if the schema gives none.

local chute = require "chute"
local golden = require "spec.support.golden"
local judge = require "spec.support.judge"

local NULL = chute.null

local COLUMNS = {
  { "n", "UInt8" }, { "f", "Float64" }, { "s", "String" }, { "v", "Nullable(UInt8)" }, { "a", "Array(UInt8)" },
  { "own", "UInt8", default = 9 }, { "nil", "Nullable(String)", default = NULL }, { "j", "JSON" },
  { "d", "Dynamic" }, { "c", "Variant(String, UInt8)", default = "mine" }, { "t", "DateTime('UTC')" },
  { "fix", "FixedString(2)" },
}

describe("RowBinaryWithDefaults", function()
  local court
  setup(function() court = judge.new "26.5" end)
  teardown(function() court:drop() end)

  local function insert(rows)
    local buf = chute.buffer { format = "RowBinaryWithDefaults", columns = COLUMNS }
    for _, row in ipairs(rows) do assert(buf:add_row(row)) end
    court.tables = court.tables + 1
    local name = "d" .. court.tables
    court:query(("CREATE TABLE " .. name .. [[ (n UInt8 DEFAULT 7, f Float64 DEFAULT n + 0.5, s String DEFAULT 'there',
      v Nullable(UInt8) DEFAULT 8, a Array(UInt8) DEFAULT [n, 2], own UInt8 DEFAULT 1, nil Nullable(String) DEFAULT 'x',
      j JSON DEFAULT '{"n":1}', d Dynamic DEFAULT 5, c Variant(String, UInt8) DEFAULT 3,
      t DateTime('UTC') DEFAULT '2024-01-02', fix FixedString(2) DEFAULT 'yz') ENGINE = Memory]]))
    court:send(name, "RowBinaryWithDefaults", buf:tostring(), true)
    return court:lines("SELECT * FROM " .. name)
  end

  it("takes the server's for what is absent, and the schema's before it", function()
    assert.same({
      "7\t7.5\tthere\t8\t[7,2]\t9\t\\N\t{\"n\":1}\t5\tmine\t2024-01-02 00:00:00\tyz",
      "1\t1.5\tthere\t8\t[1,2]\t9\t\\N\t{\"n\":1}\t5\tmine\t2024-01-02 00:00:00\tyz",
      "0\t0\t\t0\t[]\t0\t\t{}\tx\t4\t1970-01-01 00:00:00\t\\0\\0",
    }, insert {
      {}, { n = 1 },
      { n = 0, f = 0, s = "", v = 0, a = {}, own = 0, ["nil"] = "", j = {}, d = "x", c = 4, t = 0, fix = "" },
    })
  end)

  it("takes NULL where it is a value, and elsewhere as absent", function()
    assert.same({ "7\t7.5\tthere\t\\N\t[7,2]\t9\t\\N\t{\"n\":1}\t\\N\t\\N\t2024-01-02 00:00:00\tyz" }, insert {
      { n = NULL, f = NULL, s = NULL, v = NULL, a = NULL, own = NULL, ["nil"] = NULL, j = NULL, d = NULL, c = NULL,
        t = NULL, fix = NULL },
    })
  end)

  it("is a byte before each value, and no header", function()
    local schema = chute.schema { format = "RowBinaryWithDefaults", columns = { { "n", "UInt16" }, { "s", "String" },
      { "v", "Nullable(UInt8)" }, { "d", "UInt8", default = 5 } } }
    local function hex(row) return golden.hex(assert(schema:encode(row))) end
    assert.equal("01" .. "01" .. "01" .. "0005", hex {})
    assert.equal("000100" .. "000161" .. "000007" .. "0008", hex { 1, "a", 7, 8 })
    assert.equal("01" .. "01" .. "0001" .. "0005", hex { NULL, NULL, NULL, NULL })
    assert.equal("", (chute.buffer { format = "RowBinaryWithDefaults", columns = { { "n", "UInt8" } } }):tostring())
    local ok, err = schema:encode { n = 70000 }
    assert.is_nil(ok)
    assert.equal("row 1, column 'n' (UInt16): 70000 is out of range (0 to 65535)", tostring(err))
    assert.matches("flagged", schema:explain())
  end)

  it("goes through a stream", function()
    local name = court.db.name .. ".stream"
    court:query "CREATE TABLE stream (a UInt8, b UInt8 DEFAULT a + 1) ENGINE = Memory"
    local s = chute.open { url = court.db.url, schema = { table = name, format = "RowBinaryWithDefaults",
      columns = { { "b", "UInt8" }, { "a", "UInt8" } } } }
    assert(s:insert { a = 1 })
    assert(s:insert { a = 1, b = 7 })
    assert(s:close())
    assert.same({ "1\t2", "1\t7" }, court:lines "SELECT a, b FROM stream ORDER BY b")
  end)
end)
