-- Nested, flattened to columns and not; states of aggregate functions: into ClickHouse 26.5.

local chute = require "chute"
local judge = require "spec.support.judge"

local function message(buf, row)
  local bytes = buf:tostring()
  local ok, err = buf:add_row(row)
  assert.is_nil(ok)
  assert.equal(bytes, buf:tostring())
  return tostring(err)
end

describe("a Nested", function()
  local court
  setup(function() court = judge.new "26.5" end)
  teardown(function() court:drop() end)

  describe("that is flattened", function()
    local COLUMNS = { { "k", "UInt8" }, { "n.a", "Array(UInt8)" }, { "n.b", "Array(String)", default = {} },
      { "n.c.d", "Array(Nullable(UInt8))", default = { 1, chute.null } }, { "m.a", "Array(UInt8)" },
      { "n", "Array(UInt8)" }, { "x.a", "String" } }
    local function row(over)
      local made = { k = 1, ["n.a"] = { 1, 2 }, ["n.b"] = { "x", "y" }, ["m.a"] = { 1 }, n = {}, ["x.a"] = "z" }
      for key, value in pairs(over) do made[key] = value end
      return made
    end

    for _, format in ipairs { "RowBinary", "RowBinaryWithNamesAndTypes" } do
      it("takes lists of one length: " .. format, function()
        local columns = { COLUMNS[1], COLUMNS[2], COLUMNS[3] }
        court.tables = court.tables + 1
        local name = "nested" .. court.tables
        court:query(("CREATE TABLE %s (k UInt8, n Nested(a UInt8, b String)) ENGINE = MergeTree ORDER BY k")
          :format(name))
        local buf = chute.buffer { format = format, columns = columns }
        assert(buf:add_row { k = 1, ["n.a"] = { 1, 2 }, ["n.b"] = { "x", "y" } })
        assert(buf:add_row { k = 2, ["n.a"] = {}, ["n.b"] = {} })
        assert(buf:add_row { k = 3, ["n.a"] = {} })
        court:send(name, format, buf:tostring())
        assert.same({ "1\t[1,2]\t['x','y']", "2\t[]\t[]", "3\t[]\t[]" },
          court:lines(("SELECT k, n.a, n.b FROM %s ORDER BY k"):format(name)))
      end)
    end

    it("refuses lists of several lengths, which the server would with the whole INSERT", function()
      local buf = chute.buffer { columns = COLUMNS }
      assert(buf:add_row(row {}))
      assert.equal("row 2, column 'n.b' (Array(String)): a list of 1 where n.a, of the same Nested, has 2",
        message(buf, row { ["n.b"] = { "x" } }))
      assert.equal("row 2, column 'n.b' (Array(String)): no value where n.a, of the same Nested, has 1",
        message(buf, { k = 1, ["n.a"] = { 1 }, ["m.a"] = {}, n = {}, ["x.a"] = "z" }))
      assert.equal("row 2, column 'n.c.d' (Array(Nullable(UInt8))): a list of 0 where n.a, of the same Nested, has 2",
        message(buf, row { ["n.c.d"] = {} }))
      assert.equal("row 2, column 'n.c.d' (Array(Nullable(UInt8))): no value where n.a, of the same Nested, has 0",
        message(buf, row { ["n.a"] = {}, ["n.b"] = {} }))
      assert(buf:add_row(row { ["n.a"] = {}, ["n.b"] = {}, ["n.c.d"] = {}, ["m.a"] = { 1, 2, 3 }, n = { 5 } }))
    end)

    it("leaves lengths that the server gives to the server", function()
      local buf = chute.buffer { format = "RowBinaryWithDefaults",
        columns = { { "n.a", "Array(UInt8)" }, { "n.b", "Array(UInt8)" }, { "n.c", "Array(UInt8)", default = { 1 } } } }
      assert(buf:add_row { ["n.a"] = { 7 } })
      assert.equal("row 2, column 'n.c' (Array(UInt8)): no value where n.a, of the same Nested, has 2",
        message(buf, { ["n.a"] = { 7, 8 } }))
    end)
  end)

  it("that is not flattened takes a list of tuples", function()
    local kind = "Nested(a UInt8, b Array(String), c Nested(d Nullable(UInt8)))"
    court.tables = court.tables + 1
    local name = "nested" .. court.tables
    local params = court.params
    court.params = { flatten_nested = 0 }
    court:query(("CREATE TABLE %s (n %s) ENGINE = Memory"):format(name, kind))
    court.params = params
    local buf = chute.buffer { columns = { { "n", kind } } }
    assert(buf:add_row { n = { { a = 1, b = { "x" }, c = { { d = 1 }, { d = chute.null } } }, { 2, {}, {} } } })
    assert(buf:add_row { n = {} })
    court:send(name, buf.schema.format, buf:tostring())
    court:check_bytes(name, buf)
    assert.same({ "[(1,['x'],[(1),(NULL)]),(2,[],[])]", "[]" }, court:lines("SELECT n FROM " .. name))
    assert.equal("row 3, column 'n'[2].a (Nested(a UInt8, b Array(String), c Nested(d Nullable(UInt8)))): "
      .. "256 is out of range (0 to 255)", message(buf, { n = { { 1, {}, {} }, { a = 256, b = {}, c = {} } } }))
    assert.matches(": a list of 4 where 3 elements are needed$", message(buf, { n = { { 1, {}, {}, 4 } } }))
    assert.matches(": 5 is not a list$", message(buf, { n = 5 }))
  end)
end)

describe("states of aggregate functions", function()
  local court
  setup(function() court = judge.new "26.5" end)
  teardown(function() court:drop() end)

  it("arrive as the server gave them", function()
    for _, case in ipairs {
      { "sum, UInt8", "sumState(toUInt8(number))", "sumMerge", "4950" },
      { "uniq, UInt64", "uniqState(number)", "uniqMerge", "100" },
      { "count", "countState()", "countMerge", "100" },
      { "quantiles(0.5, 0.9), UInt64", "quantilesState(0.5, 0.9)(number)",
        "arrayMap(x -> round(x * 2) / 2, quantilesMerge(0.5, 0.9)", "[49.5,89]", ")" },
      { "groupArray, String", "groupArrayState(toString(number))", "length(groupArrayMerge", "100", ")" },
    } do
      local bytes = court:query(("SELECT %s FROM numbers(100) FORMAT RowBinary"):format(case[2]))
      local buf = chute.buffer { columns = { { "n", "UInt8" }, { "v", ("AggregateFunction(%s)"):format(case[1]) } } }
      assert(buf:add_row { 1, bytes })
      assert(buf:add_row { 2, bytes })
      assert.equal("row 3, column 'v' (AggregateFunction(" .. case[1] .. ")): '' is not the bytes of a state",
        message(buf, { 3, "" }))
      assert.matches("5 is not the bytes of a state$", message(buf, { 3, 5 }))
      local name = court:insert(buf)
      court:check_bytes(name, buf)
      assert.same({ case[4] }, court:lines(("SELECT %s(v)%s FROM %s WHERE n = 1"):format(case[3], case[5] or "", name)))
    end
  end)
end)
