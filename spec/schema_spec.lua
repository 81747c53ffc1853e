-- Schemas: what a definition or a script may say, and how one that cannot be is refused: in a line
-- that begins with the caller's own place and names column, line and fault.

local chute = require "chute"

local HERE = "spec/schema_spec.lua:"

-- The message that `work` throws, which must begin with a line of this file, without that.
local function thrown(work)
  local ok, err = pcall(work)
  assert.is_false(ok)
  local line, message = tostring(err):match("^" .. HERE:gsub("%p", "%%%0") .. "(%d+): (.*)$")
  assert.is_truthy(line, tostring(err))
  local info = debug.getinfo(work, "S")
  assert.is_true(tonumber(line) >= info.linedefined and tonumber(line) <= info.lastlinedefined, tostring(err))
  return message
end

local function refusal(def)
  local built
  local message = thrown(function() built = chute.schema(def) end)
  assert.is_nil(built)
  return message
end

local function with_column(column, more)
  local def = { columns = { { "first", "UInt8" }, column } }
  for key, value in pairs(more or {}) do def[key] = value end
  return def
end

-- A schema script of `text` in a file of its own; `work` gets its path.
local function with_script(text, work)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local ok, err = pcall(work, path)
  os.remove(path)
  if not ok then error(err, 0) end
end

local function load_refusal(text)
  local message
  with_script(text, function(path)
    message = thrown(function() local _ = chute.load(path) end):gsub(path:gsub("%p", "%%%0"), "FILE")
  end)
  return message
end

describe("a definition", function()
  local REFUSED = {
    { { columns = {} }, "no columns" },
    { {}, "no columns" },
    { { columns = "a" }, "columns must be a table, not a string" },
    { { columns = { "a" } }, "column 1: not a table { name, type }" },
    { { columns = { {} } }, "column 1: no name" },
    { { columns = { { "a" } } }, "column 'a': no type" },
    { { columns = { { "a", 5 } } }, "column 'a': no type" },
    { { columns = { { "a", "UInt8" }, nil, { "b", "UInt8" } } }, "column 2: not a table { name, type }" },
    { { columns = { { "a", "UInt8" }, b = "UInt8" } }, "columns: 'b' is no position of a list" },
    { with_column { "", "UInt8" }, "a column without a name" },
    { with_column { "a\0b", "UInt8" }, "column 'a\\x00b': a NUL byte in its name" },
    { with_column { "first", "String" }, "column 'first' is there twice" },
    { with_column { "b", "Int4" }, "column 'b': at byte 1: unknown type 'Int4' (did you mean Int8?)" },
    { with_column { "b", "Array(Strin)" }, "column 'b': at byte 7: unknown type 'Strin' (did you mean String?)" },
    { with_column { "b", "" }, "column 'b': at byte 1: " },
    { with_column { "b", "Nullable(Array(UInt8))" }, "column 'b': at byte 1: Nullable cannot hold Array(UInt8)" },
    { with_column { "b", "FixedString(0)" }, "column 'b': at byte 13: " },
    { with_column { "b", "Array(Object('json'))" }, "column 'b': Object('json') has no encoder: ClickHouse replaced" },
    { with_column { "b", "UInt8", json = "paths" }, "column 'b': json is for JSON, not for UInt8" },
    { with_column { "b", "JSON", json = "binary" }, "column 'b': json \"binary\" is neither text nor paths" },
    { { columns = { { "a", "JSON" }, { "b", "Array(JSON)", json = "paths" } } },
      "column 'b': JSON goes as paths here and as text in column 'a': one INSERT has one way" },
    { with_column { "b", "DateTime('Mars/Olympus')" }, "column 'b': " },
    { with_column { "b", "DateTime", unit = "h" }, "column 'b': unit \"h\" is none of s, ms, us, ns" },
    { with_column { "b", "DateTime", unit = 1000 }, "column 'b': unit \"1000\" is none of s, ms, us, ns" },
    { with_column { "b", "Array(Int64)", unit = "s" },
      "column 'b': unit is for dates and times, not for Array(Int64)" },
    { with_column { "b", "UInt8", unit = "ms" }, "column 'b': unit is for dates and times, not for UInt8" },
    { with_column { "b", "UInt8", form = "x" }, "column 'b': unknown key form" },
    { with_column { "b", "UInt8", "more" }, "column 'b': unknown key 3" },
    { with_column { "b", "UInt8", from = 5 }, "column 'b': from must be the name of a key" },
    { with_column { "b", "UInt8", value = 5 }, "column 'b': value must be a function of the row" },
    { with_column { "b", "UInt8", default = 256 }, "column 'b' (UInt8): 256 is out of range (0 to 255)" },
    { with_column { "b", "UInt8", default = chute.null }, "column 'b' (UInt8): NULL, and the column has neither" },
    { with_column { "b", "Array(UInt8)", default = { 1, "x" } },
      "column 'b'[2] (Array(UInt8)): 'x' is not an integer" },
    { with_column({ "b", "UInt8" }, { colums = {} }), "unknown key \"colums\"" },
    { with_column({ "b", "UInt8" }, { [1] = "x" }), "unknown key \"1\"" },
    { with_column({ "b", "UInt8" }, { table = 5 }), "table must be a string, not a number" },
    { with_column({ "b", "UInt8" }, { strict = 1 }), "strict must be a boolean, not a number" },
    { with_column({ "b", "UInt8" }, { map = {} }), "map must be a function, not a table" },
    { with_column({ "b", "UInt8" }, { format = "CSV" }),
      "format \"CSV\" is none of RowBinary, RowBinaryWithNames, RowBinaryWithNamesAndTypes" },
    { with_column({ "b", "UInt8" }, { format = "rowbinary" }), "format \"rowbinary\" is none of RowBinary" },
    { with_column({ "b", "UInt8" }, { timezone = "Europe/Atlantis" }), "Europe/Atlantis" },
    { with_column({ "b", "UInt8" }, { compress = "snappy" }), "compress \"snappy\" is none of " },
    { with_column({ "b", "UInt8" }, { batch = { row = 5 } }), "unknown key batch.row" },
    { with_column({ "b", "UInt8" }, { batch = { rows = 0 } }), "batch.rows must be a whole number from 1 to 1048449" },
    { with_column({ "b", "UInt8" }, { batch = { age = "1 fortnight" } }), "batch.age must be seconds" },
    { with_column({ "b", "UInt8" }, { pending = { overflow = "explode" } }),
      "pending.overflow \"explode\" is none of" },
    { with_column({ "b", "UInt8" }, { settings = 5 }), "settings must be a table of names and values" },
  }

  for _, case in ipairs(REFUSED) do
    it("is refused: " .. case[2], function()
      local message = refusal(case[1])
      assert.is_truthy(message:find("chute: schema: ", 1, true) == 1, message)
      assert.is_truthy(message:find(case[2], 1, true), message)
      assert.is_nil(message:find "%c")
    end)
  end

  it("is a table", function()
    for _, def in ipairs { 5, "x", true, print } do
      assert.equal("chute: a schema is a table, not a " .. type(def), refusal(def))
    end
    assert.equal("chute: a schema is a table, not a nil", refusal(nil))
  end)

  it("may tell the unit of dates and times anywhere in a type", function()
    for _, kind in ipairs { "Date", "Date32", "DateTime", "DateTime64(3)", "Nullable(DateTime)",
      "Array(Nullable(Date))",
      "LowCardinality(Date)", "Tuple(UInt8, DateTime)", "Map(String, DateTime64(3))" } do
      assert.equal(kind, chute.schema { columns = { { "a", kind, unit = "ms" } } }.columns[1].type)
    end
  end)

  it("may be a schema already", function()
    local schema = chute.schema { columns = { { "a", "UInt8" } } }
    assert.equal(schema, chute.schema(schema))
    assert.equal(schema, chute.buffer(schema).schema)
  end)

  it("is not changed, and may be used again", function()
    local def = { columns = { { "a", "Array(UInt8)", default = { 1 } }, { "b", "UInt8", from = "x" } } }
    local one, other = chute.schema(def), chute.schema(def)
    assert.same({ columns = { { "a", "Array(UInt8)", default = { 1 } }, { "b", "UInt8", from = "x" } } }, def)
    assert.equal(one:encode { x = 1 }, other:encode { x = 1 })
  end)

  it("is refused by buffer and open at their caller's line too", function()
    local def = { columns = { { "a", "Int4" } } }
    assert.matches("^chute: schema: column 'a': ", thrown(function() local _ = chute.buffer(def) end))
    assert.matches("^chute: schema: column 'a': ",
      thrown(function() local _ = chute.open { schema = def, url = "http://127.0.0.1:1" } end))
    assert.equal("chute: the schema names no table", thrown(function()
      local _ = chute.open { schema = { columns = { { "a", "UInt8" } } }, url = "http://127.0.0.1:1" }
    end))
  end)
end)

describe("a schema", function()
  it("tells its columns, types in ClickHouse's spelling", function()
    local schema = chute.schema { table = "db.t", columns = {
      { "a", "int" }, { "b", "Nullable( String )", from = "B" }, { "c", "Array(Tuple(x UInt8, y Decimal32(2)))" },
      { "d", "DateTime64(3,'UTC')", value = function() return 0 end } } }
    assert.same({
      { name = "a", type = "Int32", from = "a", computed = false },
      { name = "b", type = "Nullable(String)", from = "B", computed = false },
      { name = "c", type = "Array(Tuple(x UInt8, y Decimal(9, 2)))", from = "c", computed = false },
      { name = "d", type = "DateTime64(3, 'UTC')", from = "d", computed = true },
    }, schema.columns)
    assert.equal("chute.schema: db.t, 4 columns, RowBinaryWithNamesAndTypes", tostring(schema))
  end)

  it("prints the Lua that reads its rows", function()
    local schema = chute.schema { columns = { { "a", "UInt8" }, { "b", "Map(String, Array(UInt8))" } } }
    assert.is_truthy(loadstring(schema:source()))
    assert.matches("Map%(String, Array%(UInt8%)%)", schema:source())
  end)

  it("reads rows whatever its columns are called", function()
    local names = { "a b", "\"", "'", "]]", "--", "\\", "\n", "$count", "%s", "end", "ä", "1", "a\r\nb", "\t", "]==]" }
    local columns, row, wanted = {}, {}, {}
    for i, name in ipairs(names) do
      columns[2 * i - 1] = { name, "UInt8" }
      columns[2 * i] = { name .. "t", ("Tuple(`%s` UInt8)"):format(name:gsub("[\\`]", "\\%0")) }
      row[name], row[name .. "t"], wanted[i] = i, { [name] = i }, string.char(i, i)
    end
    local schema = chute.schema { columns = columns }
    assert.equal(table.concat(wanted), schema:encode(row))
    columns[1].value = function() return 77 end
    assert.equal("M", chute.schema { columns = columns }:encode(row):sub(1, 1))
  end)

  it("encodes a row at a time, without a header", function()
    local schema = chute.schema { columns = { { "a", "UInt8" }, { "b", "String" } } }
    assert.equal("\1\1x", schema:encode { 1, "x" })
    assert.equal("\2\0", schema:encode { 2, "" })
    local bytes, err = schema:encode { 256, "x" }
    assert.is_nil(bytes)
    assert.same({ "row", "a" }, { err.kind, err.column })
    assert.equal("\3\3abc", schema:encode { 3, "abc" })
    assert.equal(1 + 4 + 3000000, #schema:encode { 4, ("x"):rep(3000000) })
  end)

  it("gives defaults of every kind", function()
    local schema = chute.schema { timezone = "Asia/Tokyo", columns = {
      { "a", "UInt64", default = 18446744073709551615ULL }, { "b", "Bool", default = false },
        { "c", "String", default = 5 },
      { "d", "Nullable(UInt8)", default = chute.null }, { "e", "Nullable(UInt8)", default = 9 },
      { "f", "Map(String, UInt8)", default = { k = 1 } }, { "g", "Tuple(x UInt8, y String)",
        default = { x = 1, y = "z" } },
      { "h", "DateTime", default = "1970-01-01 09:00:01" }, { "i", "Array(Array(UInt8))", default = { {}, { 1 } } },
      { "j", "String", value = function() end, default = ("d"):rep(1000) } } }
    assert.equal(("\255"):rep(8) .. "\0\0015\1\0\9\1\1k\1\1\1z\1\0\0\0\2\0\1\1\232\7"
      .. ("d"):rep(1000), schema:encode {})
  end)
end)

describe("a script", function()
  it("is loaded, with its path", function()
    with_script("return { table = 't', columns = { { 'a', 'UInt8' } } }", function(path)
      local schema = chute.load(path)
      assert.equal(path, schema.path)
      assert.equal("\7", schema:encode { a = 7 })
    end)
  end)

  it("with a fault names file and line", function()
    local TYPE = [[
return {
  table = "t",
  columns = {
    { "a", "UInt8" },
    { "b", "Int4" },
  },
}
]]
    assert.equal("chute: FILE:5: column 'b': at byte 1: unknown type 'Int4' (did you mean Int8?)", load_refusal(TYPE))
    assert.equal("chute: FILE:2: '}' expected (to close '{' at line 1) near 'b'",
      load_refusal "return { a = 1\n b = 2 }")
    assert.matches("^chute: FILE:2: attempt to index", load_refusal "local x\nreturn x.y")
    assert.equal("chute: FILE: the script returns a number, not a schema table", load_refusal "return 5")
    assert.equal("chute: FILE: the script returns a nil, not a schema table", load_refusal "")
    assert.equal("chute: FILE:2: column 'a' is there twice",
      load_refusal "return { columns = { { 'a', 'UInt8' },\n { 'a', 'Int8' } } }")
    assert.equal("chute: FILE: no columns", load_refusal "return {}")
    assert.equal("chute: FILE:2: column 'a' (UInt8): 300 is out of range (0 to 255)",
      load_refusal "return { columns = {\n { 'a', 'UInt8', default = 300 } } }")
    assert.equal("chute: FILE:2: odd", load_refusal "local function f()\nerror 'odd' end\nf()")
    assert.equal("chute: odd", load_refusal "error(setmetatable({}, { __tostring = function() return 'odd' end }))")
  end)

  it("that is not there is refused", function()
    assert.equal("chute: cannot open /no/such/schema.lua: No such file or directory",
      thrown(function() local _ = chute.load "/no/such/schema.lua" end))
    assert.equal("chute: load takes the path of a schema script", thrown(function() local _ = chute.load(5) end))
    assert.matches("^chute: cannot read /tmp", thrown(function() local _ = chute.load "/tmp" end))
  end)
end)
