-- The encoder: goldens, names of columns, maps and deep values, places in errors, the chain.

local chute = require "chute"
local golden = require "spec.support.golden"
local judge = require "spec.support.judge"
local lib = require "chute.lib"
local random = require "spec.support.random"
local ffi = lib.ffi

local TWO = { { "a", "Int64" }, { "b", "String" } }
local GOLDENS = { RowBinaryWithNamesAndTypes = "two_columns", RowBinaryWithNames = "two_columns_names",
  RowBinary = "two_columns_rows" }

local function fill_two(format)
  local buf = chute.buffer { format = format, columns = TWO }
  assert(buf:add_row { 97, "a" })
  assert(buf:add_row { b = "b", a = 98 })
  assert.equal(2, buf:add_rows { { 99, "c" }, { 100, "d" } })
  return buf
end

local function message(columns, row)
  local ok, err = chute.buffer({ columns = columns }):add_row(row)
  assert.is_nil(ok)
  return tostring(err)
end

describe("goldens", function()
  for format, name in pairs(GOLDENS) do
    it("two columns as " .. format, function()
      golden.check(name, fill_two(format):tostring())
    end)
  end

  it("the page view, 110 bytes", function()
    local schema = chute.load "examples/pageview.lua"
    local event = dofile "examples/pageview_event.lua"
    assert.equal(110, #golden.read "pageview")
    golden.check("pageview", schema:encode(event))
    local buf = chute.buffer(schema)
    local header = #buf
    assert(buf:add_row(event))
    golden.check("pageview", buf:tostring():sub(header + 1))
  end)

  it("are missed, and their twins compared", function()
    assert.error_matches(function() golden.read "no_such_golden" end, "no golden: .*no_such_golden.bin")
    assert.error_matches(function() golden.check("two_columns", "other") end, "not the golden two_columns")
    assert.error_matches(function() golden.unhex "0" end, "no hex text")
    local dir = os.tmpname()
    for suffix, text in pairs { [".bin"] = "\1", [".hex"] = "02" } do
      local file = assert(io.open(dir .. suffix, "wb"))
      file:write(text)
      file:close()
    end
    local ok, err = pcall(golden.read, dir:match "[^/]*$", dir:match "^(.*)/")
    for _, suffix in ipairs { "", ".bin", ".hex" } do os.remove(dir .. suffix) end
    assert.is_false(ok)
    assert.matches("the twins differ:\n01\n02", err)
  end)
end)

for _, version in ipairs { "26.5", "18.16" } do
  describe("an encoder's rows in ClickHouse " .. version, function()
    local court
    setup(function() court = judge.new(version) end)
    teardown(function() court:drop() end)

    it("are the goldens' rows", function()
      local name = court:insert(fill_two(court.format))
      assert.same({ "97a", "98b", "99c", "100d" }, court:lines("SELECT concat(toString(a), b) FROM " .. name))
    end)

    it("stand under names of any kind", function()
      local names = { "ä", "数", "a.b", "a b", "`", "'", "\"", "\\", "a`b\\'", "1", "select", "n.x.y",
        ("n"):rep(200), "a\tb" }
      local columns, row = {}, {}
      for i, name in ipairs(names) do columns[i], row[name] = { name, "UInt8" }, i end
      local table_name = court:round_trip({ columns = columns }, { row })
      assert.same({ "14" }, court:lines("SELECT `a\\tb` FROM " .. table_name))
    end)

    it("tell '' from NULL in a dictionary", function()
      local name = court:round_trip({ columns = { { "v", "LowCardinality(Nullable(String))" } } },
        { { v = "" }, { v = chute.null }, { v = "x" }, {}, { v = "" } })
      assert.same({ "0", "1", "0", "1", "0" }, court:lines("SELECT isNull(v) FROM " .. name))
    end)

    it("hold columns by the hundred, of all widths", function()
      local kinds = { "UInt8", "String", "Float64", "DateTime", "Nullable(Int16)", "Array(UInt8)", "FixedString(3)" }
      local values = { 255, "text", 0.5, 86400, chute.null, { 1, 2, 3 }, "abc" }
      local columns, row = {}, {}
      for i = 1, 700 do
        columns[i], row[i] = { "c" .. i, kinds[i % #kinds + 1] }, values[i % #kinds + 1]
      end
      local name = court:round_trip({ columns = columns }, { row, row, row })
      assert.same({ "3" }, court:lines("SELECT count() FROM " .. name))
    end)
  end)
end

describe("maps and lists in ClickHouse 26.5", function()
  local court
  setup(function() court = judge.new "26.5" end)
  teardown(function() court:drop() end)

  local CASES = {
    { "Map(String, String)", { a = "1" }, "{'a':'1'}" },
    { "Map(String, Nullable(String))", { a = chute.null }, "{'a':NULL}" },
    { "Map(String, Nullable(String))", chute.pairs { { "a", "x" }, { "b", chute.null },
      { "c" } }, "{'a':'x','b':NULL,'c':NULL}" },
    { "Map(String, UInt8)", {}, "{}" },
    { "Map(String, UInt8)", chute.pairs {}, "{}" },
    { "Map(UInt64, String)", { [7] = "seven" }, "{7:'seven'}" },
    { "Map(UInt64, String)", chute.pairs { { 18446744073709551615ULL, "most" }, { "5", "five" } },
      "{18446744073709551615:'most',5:'five'}" },
    { "Map(Int64, UInt8)", chute.pairs { { 2, 1 }, { 1, 2 }, { 2, 3 } }, "{2:1,1:2,2:3}" },
    { "Array(Tuple(UInt8, String))", {}, "[]" },
    { "Array(Tuple(UInt8, String))", { { 1, "a" }, { 2, "b" } }, "[(1,'a'),(2,'b')]" },
    { "Map(LowCardinality(String), Array(UInt8))", { k = { 1, 2 } }, "{'k':[1,2]}" },
    { "Map(Date, Tuple(a UInt8, b String))", { ["2024-02-29"] = { a = 1, b = "x" } }, "{'2024-02-29':(1,'x')}" },
    { "Map(UUID, Bool)", { ["61f0c404-5cb3-11e7-907b-a6006ad3dba0"] = false },
      "{'61f0c404-5cb3-11e7-907b-a6006ad3dba0':false}" },
    { "Map(String, Map(String, UInt8))", { a = { b = 1 } }, "{'a':{'b':1}}" },
    { "Map(Enum8('x' = 1), UInt8)", { x = 1 }, "{'x':1}" },
    { "Map(FixedString(2), UInt8)", { ab = 1 }, "{'ab':1}" },
    { "Map(IPv4, UInt8)", { ["1.2.3.4"] = 1 }, "{'1.2.3.4':1}" },
    { "Array(Map(String, UInt8))", { { a = 1 }, {}, { b = 2 } }, "[{'a':1},{},{'b':2}]" },
    { "Tuple(Map(String, UInt8), Array(Nullable(String)))", { { a = 1 },
      { "x", chute.null } }, "({'a':1},['x',NULL])" },
  }

  for _, case in ipairs(CASES) do
    it(case[1] .. " " .. case[3], function()
      local name = court:round_trip({ columns = { { "v", case[1] } } }, { { v = case[2] } })
      assert.same({ case[3] }, court:lines("SELECT v FROM " .. name))
    end)
  end

  it("have a list's positions for keys", function()
    local name = court:round_trip({ columns = { { "v", "Map(UInt8, String)" } } }, { { v = { "a", "b" } } })
    assert.same({ "1:a,2:b" },
      court:lines("SELECT arrayStringConcat(arraySort(arrayMap((k, v) -> concat(toString(k), ':', v), mapKeys(v), "
        .. "mapValues(v))), ',') FROM " .. name))
  end)

  it("of a hundred keys arrive whole", function()
    local value = {}
    for i = 1, 100 do value["k" .. i] = i end
    local name = court:round_trip({ columns = { { "v", "Map(String, UInt64)" } } }, { { v = value }, { v = value } })
    assert.same({ "10100" }, court:lines("SELECT sum(arraySum(mapValues(v))) FROM " .. name))
    assert.same({ "100" }, court:lines("SELECT uniqExact(arrayJoin(mapKeys(v))) FROM " .. name))
  end)
end)

describe("columns and rows by chance", function()
  local court
  setup(function() court = judge.new "26.5" end)
  teardown(function() court:drop() end)

  local function columns_by_chance()
    local kinds, columns = {}, {}
    for c = 1, math.random(6) do
      kinds[c] = random.type(3)
      columns[c] = { "c" .. c, random.name(kinds[c]) }
    end
    return kinds, columns
  end

  local function row_by_chance(kinds, odds)
    local row = {}
    for c, kind in ipairs(kinds) do row["c" .. c] = random.value(kind, odds) end
    return row
  end

  it("come back as they went", function()
    math.randomseed(1)
    for _ = 1, 60 do
      local kinds, columns = columns_by_chance()
      local rows = {}
      for r = 1, 10 do rows[r] = row_by_chance(kinds) end
      court:round_trip({ columns = columns }, rows)
    end
  end)

  it("with wrong values among them are refused, or come back as they went", function()
    math.randomseed(2)
    local refused, taken = 0, 0
    for _ = 1, 60 do
      local kinds, columns = columns_by_chance()
      local buf = chute.buffer { columns = columns }
      for _ = 1, 20 do
        local bytes = #buf
        local ok, err = buf:add_row(row_by_chance(kinds, 12))
        if ok then
          taken = taken + 1
        else
          refused = refused + 1
          assert.equal("row", err.kind)
          assert.equal(bytes, #buf)
          assert.matches("^row %d+, column 'c%d'", tostring(err))
        end
      end
      court:check_bytes(court:insert(buf), buf)
    end
    assert.is_true(refused > 200 and taken > 200)
  end)
end)

describe("a wide FixedString", function()
  it("takes no room of cells that are none", function()
    local numbers = {}
    for i = 1, 100000 do numbers[i] = i % 256 end
    local buf = chute.buffer { format = "RowBinary", columns = {
      { "a", "Array(UInt8)" }, { "b", "Array(FixedString(1000000))" } } }
    assert(buf:add_row { numbers, {} })
    assert.equal(100004, #buf)
    assert(buf:add_row { {}, { "one", "two" } })
    local bytes = buf:tostring():sub(100005)
    assert.equal("\0\2one" .. ("\0"):rep(999997) .. "two" .. ("\0"):rep(999997), bytes)
  end)

  it("may be in a default", function()
    local buf = chute.buffer { format = "RowBinary", columns = {
      { "a", "Array(FixedString(16000000))", default = {} },
      { "b", "Array(FixedString(65))", default = { "x", "y" } }, { "c", "FixedString(300000)", default = "z" } } }
    assert(buf:add_row {})
    local function padded(text, width) return text .. ("\0"):rep(width - #text) end
    assert.equal("\0\2" .. padded("x", 65) .. padded("y", 65) .. padded("z", 300000), buf:tostring())
  end)

  it("fills a batch to its last byte", function()
    local buf = chute.buffer({ format = "RowBinary", columns = { { "a", "FixedString(1000)" } } }, { bytes = 10000 })
    for _ = 1, 10 do assert(buf:add_row { "x" }) end
    assert.equal("busy", select(2, buf:add_row { "x" }).kind)
    assert.equal(10000, #buf)
  end)
end)

-- Cells that no generated reader makes: C trusts none.
describe("cells from elsewhere", function()
  local C = lib.C

  local function add(kind, change)
    local buf = chute.buffer { format = "RowBinary", columns = { { "a", kind }, { "b", kind } } }
    local cells = ffi.gc(C.chute_cells_new(2), C.chute_cells_free)
    assert.equal(0, C.chute_cells_reserve(cells, 8))
    cells.used = 10
    for i = 0, 9 do cells.at[i].kind, cells.at[i].num = C.CHUTE_CELL_NUMBER, 1 end
    local function list(i, first, len, as)
      cells.at[i].kind, cells.at[i].first, cells.at[i].len = as or C.CHUTE_CELL_LIST, first, len
    end
    change(list, cells)
    local raw = ffi.new "chute_error[1]"
    local code = C.chute_buffer_add(buf.ptr, cells, raw)
    return code, ffi.string(raw[0].message), buf:tostring()
  end

  it("may stand in order, each once", function()
    local code, _, bytes = add("Array(UInt8)", function(list)
      list(0, 2, 3)
      list(1, 5, 5)
    end)
    assert.same({ 0, "\3\1\1\1\5\1\1\1\1\1" }, { code, bytes })
  end)

  it("that are shared, outside or in another order are refused", function()
    local places = { { 2, 3, 4, 3 }, { 5, 3, 2, 3 }, { 0, 2, 5, 1 }, { 2, 9, 5, 1 }, { 2, 2, 4294967295, 1 },
      { 2, 2, 10, 1 }, { 2, 2, 4, 4294967295 } }
    for _, place in ipairs(places) do
      local code, text, bytes = add("Array(UInt8)", function(list)
        list(0, place[1], place[2])
        list(1, place[3], place[4])
      end)
      assert.equal(C.CHUTE_E_ROW, code)
      assert.matches("whose cells are not its own$", text)
      assert.equal("", bytes)
    end
    local code, text = add("Map(UInt8, UInt8)", function(list)
      list(0, 2, 4294967295, C.CHUTE_CELL_PAIRS)
      list(1, 4, 1, C.CHUTE_CELL_PAIRS)
    end)
    assert.equal(C.CHUTE_E_ROW, code)
    assert.matches("^row 1, column 'a'", text)
  end)

  it("that are fewer than the columns are refused", function()
    local code, text, bytes = add("UInt8", function(_, cells) cells.used = 1 end)
    assert.same({ C.CHUTE_E_ARG, "row 1 has 1 cells for 2 columns", "" }, { code, text, bytes })
  end)

  it("of no known kind are refused", function()
    for _, kind in ipairs { "Array(UInt8)", "UInt8", "String", "Nullable(UInt8)", "DateTime", "Float64", "UUID" } do
      local code, text = add(kind, function(_, cells) cells.at[0].kind, cells.at[0].len = 4000000000, 0 end)
      assert.equal(C.CHUTE_E_ROW, code)
      assert.matches("^row 1, column 'a'", text)
    end
  end)
end)

describe("an error", function()
  local DEEP = { { "n", "UInt8" }, { "x", "Array(Map(String, Array(Tuple(a UInt8, b Nullable(Int16)))))" } }
  local OF = " (Array(Map(String, Array(Tuple(a UInt8, b Nullable(Int16)))))): "

  it("tells the way to the value at fault", function()
    local function x(value) return message(DEEP, { n = 1, x = value }) end
    assert.equal("row 1, column 'x'[1]['k'][2].a" .. OF .. "256 is out of range (0 to 255)",
      x { { k = { { 1, 1 }, { 256, 1 } } } })
    assert.equal("row 1, column 'x'[2]['k'][1].b" .. OF .. "'y' is not an integer", x { {},
      { k = { { a = 1, b = "y" } } } })
    assert.equal("row 1, column 'x'[1]['k']" .. OF .. "5 is not a list", x { { k = 5 } })
    assert.equal("row 1, column 'x'[1]" .. OF .. "'s' is not a table of keys and values", x { "s" })
    assert.equal("row 1, column 'x'" .. OF .. "true is not a list", x(true))
    assert.equal("row 1, column 'x'[1]['k'][1]" .. OF .. "7 is not a tuple", x { { k = { 7 } } })
    assert.equal("row 1, column 'x'[1]['k'][1]" .. OF .. "a list of 3 where 2 elements are needed",
      x { { k = { { 1, 2, 3 } } } })
    assert.equal("row 1, column 'x'[1]['k'][1].a" .. OF .. "no value where a value of UInt8 is needed",
      x { { k = { {} } } })
    assert.equal("row 1, column 'x'[1]['k'][2]" .. OF .. "no value inside a list: NULL is chute.null",
      x { { k = { { 1 }, nil, { 2 }, n = 3 } } })
  end)

  it("shows a long or binary value cut and escaped", function()
    local text = message({ { "a", "UInt8" } }, { ("x"):rep(100000) })
    assert.is_true(#text < 400)
    assert.matches("^row 1, column 'a' %(UInt8%): 'x+", text)
    text = message({ { "a", "UInt8" } }, { "\0\n\27\255" })
    assert.is_nil(text:find "[%c\255]")
    text = message({ { "a\nb", "UInt8" } }, { "q" })
    assert.is_nil(text:find "%c")
    text = message({ { ("c"):rep(4000), "UInt8" } }, { "q" })
    assert.is_true(#text < 1024)
    assert.matches("'q' is not an integer$", text)
  end)

  it("shows a key of any kind", function()
    local columns = { { "m", "Map(Int64, UInt8)" } }
    assert.equal("row 1, column 'm'[-5] (Map(Int64, UInt8)): 256 is out of range (0 to 255)", message(columns,
      { m = { [-5] = 256 } }))
    assert.equal("row 1, column 'm'[18446744073709551615] (Map(Int64, UInt8)): 18446744073709551615 is out of range "
      .. "(-9223372036854775808 to 9223372036854775807)", message(columns,
        { m = chute.pairs { { 18446744073709551615ULL, 1 } } }))
    assert.equal("row 1, column 'm'['k'] (Map(Int64, UInt8)): 'k' is not an integer", message(columns,
      { m = { k = 1 } }))
    assert.equal("row 1, column 'm'[true] (Map(Int64, UInt8)): true is not an integer", message(columns,
      { m = { [true] = 1 } }))
  end)

  it("in a list of pairs is the row's, whatever stands there", function()
    local kind = " (Map(String, UInt8)): "
    local function m(list) return message({ { "m", "Map(String, UInt8)" } }, { m = chute.pairs(list) }) end
    local other = "a list with something else than {key, value} is not a table of keys and values"
    for _, list in ipairs { { 1 }, { "ab" }, { { "a", 1 }, false }, { chute.null } } do
      assert.equal("row 1, column 'm'" .. kind .. other, m(list))
    end
    local gap = "a table with a nil inside or with other keys is not a table of keys and values"
    assert.equal("row 1, column 'm'" .. kind .. gap, m { a = 1 })
    assert.equal("row 1, column 'm'[no value]" .. kind .. "no value where a value of String is needed", m { {} })
    assert.equal("row 1, column 'm'['a']" .. kind .. "no value where a value of UInt8 is needed", m { { "a" } })
  end)

  it("deeper than the path kept is still one line", function()
    local kind, value = "UInt8", 256
    for _ = 1, 60 do kind, value = "Array(" .. kind .. ")", { value } end
    local text = message({ { "d", kind } }, { value })
    assert.matches("^row 1, column 'd'%[1%]", text)
    assert.matches("256 is out of range", text)
  end)
end)

describe("the chain", function()
  it("fuses neighbours of one family", function()
    local schema = chute.schema { columns = {
      { "a", "UInt8" }, { "b", "Int64" }, { "c", "DateTime" }, { "d", "Float64" }, { "e", "Float64" },
      { "f", "String" }, { "g", "LowCardinality(String)" }, { "h", "UUID" }, { "i", "Array(UInt8)" },
      { "j", "Nullable(UInt8)" }, { "k", "String", default = "none" } } }
    local links = {}
    for number, name, count in schema:explain():gmatch "%f[^\n%z](%d+) (%a+) × (%d+)\n" do
      links[tonumber(number)] = name .. " " .. count
    end
    assert.same({ "integers 3", "floats 2", "strings 2", "values 3", "strings 1" }, links)
    for _, column in ipairs(schema.columns) do
      assert.is_truthy(schema:explain():find(("'%s' %s: "):format(column.name, column.type), 1, true))
    end
    assert.matches("'k' String: string, absent: 5 bytes\n$", schema:explain())
  end)

  it("writes what a fused link does not know as well", function()
    local buf = chute.buffer { format = "RowBinary", columns = { { "a", "UInt8" }, { "b", "UInt8", default = 9 },
      { "c", "UInt8" } } }
    assert(buf:add_row { a = "1", c = 3ULL })
    assert(buf:add_row { 4, 5, 6 })
    assert.equal("\1\9\3\4\5\6", buf:tostring())
    assert.is_nil(buf:add_row { a = 7, b = 8, c = 256 })
    assert.equal("\1\9\3\4\5\6", buf:tostring())
  end)
end)
