-- Rows out of RowBinaryWithNamesAndTypes: every type as ClickHouse 26.5 writes it, alone and inside
-- of others; and written again, the same bytes.

local chute = require "chute"
local golden = require "spec.support.golden"
local rows = require "chute.rows"
local server = require "spec.support.server"
local show = require "spec.support.show"

local NULL, typed = chute.null, chute.typed
local INF, NAN = 1 / 0, 0 / 0

-- type, then SQL and what Lua has of it. `alone`: not inside of other types. `low`: inside of
-- LowCardinality too. `unordered`: of several keys, which come in an order that only ClickHouse knows.
local CASES = {
  { "UInt8", { "0", 0 }, { "255", 255 }, low = true },
  { "UInt16", { "0", 0 }, { "65535", 65535 }, low = true },
  { "UInt32", { "0", 0 }, { "4294967295", 4294967295 }, low = true },
  { "UInt64", { "0", 0ULL }, { "18446744073709551615", 18446744073709551615ULL }, low = true },
  { "UInt128", { "0", "0" },
    { "'340282366920938463463374607431768211455'", "340282366920938463463374607431768211455" } },
  { "UInt256", { "0", "0" }, { "'1000000000000000000'", "1000000000000000000" },
    { "'115792089237316195423570985008687907853269984665640564039457584007913129639935'",
      "115792089237316195423570985008687907853269984665640564039457584007913129639935" } },
  { "Int8", { "-128", -128 }, { "127", 127 }, low = true },
  { "Int16", { "-32768", -32768 }, { "32767", 32767 } },
  { "Int32", { "-2147483648", -2147483648 }, { "2147483647", 2147483647 } },
  { "Int64", { "-9223372036854775808", -9223372036854775807LL - 1 }, { "9007199254740993", 9007199254740993LL } },
  { "Int128", { "'-170141183460469231731687303715884105728'", "-170141183460469231731687303715884105728" },
    { "'-1'", "-1" } },
  { "Int256", { "'-57896044618658097711785492504343953926634992332820282019728792003956564819968'",
    "-57896044618658097711785492504343953926634992332820282019728792003956564819968" }, { "'-1000'", "-1000" } },
  { "Float32", { "0.5", 0.5 }, { "0.1", 0.10000000149011612 }, { "nan", NAN }, { "-inf", -INF } },
  { "Float64", { "0.1", 0.1 }, { "-0.0", -0.0 }, { "inf", INF }, { "1e300", 1e300 } },
  { "BFloat16", { "1.5", 1.5 }, { "-inf", -INF } },
  { "Bool", { "true", true }, { "false", false } },
  { "String", { "''", "" }, { "'\\0\\xff é'", "\0\255 é" }, low = true },
  { "FixedString(3)", { "'ab'", "ab\0" }, { "'\\0\\xffx'", "\0\255x" }, low = true },
  { "Date", { "'1970-01-01'", "1970-01-01" }, { "'2024-02-29'", "2024-02-29" }, { "65535", "2149-06-06" }, low = true },
  { "Date32", { "'1900-01-01'", "1900-01-01" }, { "'1969-12-31'", "1969-12-31" }, { "'2299-12-31'", "2299-12-31" } },
  { "DateTime('UTC')", { "0", "1970-01-01 00:00:00" }, { "4294967295", "2106-02-07 06:28:15" } },
  { "DateTime", { "0", "1970-01-01 00:00:00+00:00" } },
  { "DateTime('Europe/Berlin')", { "1729989000", "2024-10-27 02:30:00+02:00" },
    { "1729992600", "2024-10-27 02:30:00+01:00" } },
  { "DateTime('Asia/Kathmandu')", { "1729989000", "2024-10-27 06:15:00+05:45" } },
  { "DateTime('America/St_Johns')", { "1704067200", "2023-12-31 20:30:00-03:30" } },
  { "DateTime64(3, 'UTC')", { "'1969-12-31 23:59:59.500'", "1969-12-31 23:59:59.500" },
    { "'2299-12-31 23:59:59.999'", "2299-12-31 23:59:59.999" } },
  { "DateTime64(0, 'UTC')", { "'1900-01-01 00:00:00'", "1900-01-01 00:00:00" } },
  { "DateTime64(9, 'UTC')", { "'1900-01-01 00:00:00.000000001'", "1900-01-01 00:00:00.000000001" },
    { "'2262-04-11 23:47:16.854775807'", "2262-04-11 23:47:16.854775807" } },
  { "DateTime64(6)", { "'2024-01-02 03:04:05.000006'", "2024-01-02 03:04:05.000006+00:00" } },
  -- before 1937 the clock there was 19 minutes and 32 seconds ahead: no text has such an offset
  { "DateTime64(3, 'Europe/Amsterdam')",
    { "toDateTime64('1900-01-01 00:00:00', 3, 'UTC')", "1900-01-01 00:00:00.000+00:00" } },
  { "Time", { "'01:02:03'", "01:02:03" }, { "'-999:59:59'", "-999:59:59" }, { "0", "00:00:00" } },
  { "Time64(3)", { "'-00:00:00.5'", "-00:00:00.500" }, { "'999:59:59.999'", "999:59:59.999" } },
  { "Time64(0)", { "'12:00:00'", "12:00:00" } },
  { "IntervalNanosecond", { "1", 1LL } }, { "IntervalMonth", { "-5", -5LL } }, { "IntervalYear", { "3", 3LL } },
  { "Decimal(9, 2)", { "'75.57'", "75.57" }, { "'-0.01'", "-0.01" }, { "'9999999.99'", "9999999.99" } },
  { "Decimal(18, 0)", { "'-999999999999999999'", "-999999999999999999" } },
  { "Decimal(38, 10)", { "'-1.5'", "-1.5" }, { "'1234567890123456789012345678.0000000001'",
    "1234567890123456789012345678.0000000001" } },
  { "Decimal(76, 76)", { "'0.0000000000000000000000000000000000000000000000000000000000000000000000000001'",
    "0.0000000000000000000000000000000000000000000000000000000000000000000000000001" }, { "0", "0" } },
  { "UUID", { "'61f0c404-5cb3-11e7-907b-a6006ad3dba0'", "61f0c404-5cb3-11e7-907b-a6006ad3dba0" } },
  { "IPv4", { "'1.2.3.4'", "1.2.3.4" }, { "'255.0.0.255'", "255.0.0.255" } },
  { "IPv6", { "'::'", "::" }, { "'2001:db8::ff:0'", "2001:db8::ff:0" }, { "'::ffff:1.2.3.4'", "::ffff:1.2.3.4" } },
  { "Enum8('a\\'b' = -128, '' = 0, 'é' = 127)", { "'a\\'b'", "a'b" }, { "0", "" }, { "127", "é" } },
  { "Enum16('x' = -32768, 'y' = 32767)", { "'x'", "x" }, { "'y'", "y" } },
  { "Array(Array(UInt8))", { "[[], [1, 2]]", { {}, { 1, 2 } } }, { "[]", {} } },
  { "Tuple(UInt8, String)", { "(1, 'a')", { 1, "a" } } },
  { "Tuple(a UInt8, `b c` Nullable(String))", { "(1, NULL)", { a = 1, ["b c"] = NULL } } },
  { "Map(String, Nullable(String))", { "map()", {} },
    { "map('a', 'b', '', NULL)", { a = "b", [""] = NULL }, unordered = true },
    { "map('a', 'b', 'a', 'c')", chute.pairs { { "a", "b" }, { "a", "c" } } } },
  { "Map(UInt8, Bool)", { "map(1, true, 7, false)", { true, [7] = false } } },
  { "Map(Bool, UInt8)", { "map(true, 1)", { [true] = 1 } } },
  { "Map(Date, UInt8)", { "map('2024-01-01', 1)", { ["2024-01-01"] = 1 } } },
  { "Map(LowCardinality(String), Array(UInt8))", { "map('x', [1])", { x = { 1 } } } },
  { "Map(UInt64, UInt8)", { "map(1, 2)", chute.pairs { { 1ULL, 2 } } } },
  { "Map(Float64, UInt8)", { "map(nan, 2)", chute.pairs { { NAN, 2 } } } },
  { "Map(Tuple(UInt8), UInt8)", { "map(tuple(1), 2)", chute.pairs { { { 1 }, 2 } } }, alone = true },
  { "Nested(a UInt8, b String)", { "[(1, 'x'), (2, 'y')]", { { a = 1, b = "x" }, { a = 2, b = "y" } } }, { "[]", {} } },
  { "Nullable(Nothing)", { "NULL", NULL }, alone = true },
  { "Array(Nullable(Nothing))", { "[NULL]", { NULL } }, { "[]", {} } },
  { "Array(Nothing)", { "[]", {} } },
  { "Array(Tuple())", { "[tuple(), tuple()]", { {}, {} } }, alone = true },
  { "Nullable(Tuple(Nullable(UInt8)))", { "tuple(NULL)", { NULL } }, { "NULL", NULL }, alone = true },
  { "Point", { "(1, -2.5)", { 1, -2.5 } } },
  { "Ring", { "[(0, 0), (1, 1)]", { { 0, 0 }, { 1, 1 } } } },
  { "LineString", { "[(0, 0), (1, 1)]", { { 0, 0 }, { 1, 1 } } } },
  { "MultiLineString", { "[[(0, 0)], []]", { { { 0, 0 } }, {} } } },
  { "Polygon", { "[[(0, 0), (1, 1)]]", { { { 0, 0 }, { 1, 1 } } } } },
  { "MultiPolygon", { "[[[(0, 0)]]]", { { { { 0, 0 } } } } } },
  { "Geometry", { "(1, 2)::Point", typed("Point", { 1, 2 }) }, { "[(1, 2)]::Ring", typed("Ring", { { 1, 2 } }) } },
  { "QBit(Float32, 3)", { "[1, 2, 3]", { 1, 2, 3 } } }, { "QBit(BFloat16, 1)", { "[1]", { 1 } } },
  { "SimpleAggregateFunction(max, UInt64)", { "5", 5ULL } },
  { "Variant(Array(UInt8), String, UInt64)", { "NULL", NULL }, { "'x'", typed("String", "x") },
    { "5::UInt64", typed("UInt64", 5ULL) }, { "[1]", typed("Array(UInt8)", { 1 }) } },
  { "Dynamic", { "NULL", NULL }, { "'x'", "x" }, { "true", true }, { "-5::Int64", -5LL }, { "5::UInt64", 5ULL },
    { "5::UInt8", typed("UInt8", 5) }, { "0.5::Float64", typed("Float64", 0.5) },
    { "'2024-01-02'::Date", typed("Date", "2024-01-02") }, { "'2024-01-02'::Date32", typed("Date32", "2024-01-02") },
    { "'2024-01-02 03:04:05'::DateTime('UTC')", typed("DateTime('UTC')", "2024-01-02 03:04:05") },
    { "'2024-01-02 03:04:06'::DateTime", typed("DateTime", "2024-01-02 03:04:06+00:00") },
    { "'2024-01-02 03:04:05.6'::DateTime64(1, 'UTC')", typed("DateTime64(1, 'UTC')", "2024-01-02 03:04:05.6") },
    { "'2024-01-02 03:04:05.7'::DateTime64(1)", typed("DateTime64(1)", "2024-01-02 03:04:05.7+00:00") },
    { "'01:00:00'::Time", typed("Time", "01:00:00") }, { "'01:00:00'::Time64(2)", typed("Time64(2)", "01:00:00.00") },
    { "'ab'::FixedString(2)", typed("FixedString(2)", "ab") },
    { "'b'::Enum8('a\\'' = -1, 'b' = 2)", typed("Enum8('a\\'' = -1, 'b' = 2)", "b") },
    { "'b'::Enum16('b' = -2)", typed("Enum16('b' = -2)", "b") },
    { "'1.5'::Decimal(9, 1)", typed("Decimal(9, 1)", "1.5") },
    { "'-1.5'::Decimal(18, 1)", typed("Decimal(18, 1)", "-1.5") },
    { "'1.5'::Decimal(38, 1)", typed("Decimal(38, 1)", "1.5") },
    { "'1.5'::Decimal(76, 1)", typed("Decimal(76, 1)", "1.5") },
    { "toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0')", typed("UUID", "61f0c404-5cb3-11e7-907b-a6006ad3dba0") },
    { "'1.2.3.4'::IPv4", typed("IPv4", "1.2.3.4") }, { "'::1'::IPv6", typed("IPv6", "::1") },
    { "'7'::Int128", typed("Int128", "7") }, { "'7'::UInt256", typed("UInt256", "7") },
    { "1.5::BFloat16", typed("BFloat16", 1.5) }, { "toIntervalYear(1)", typed("IntervalYear", 1LL) },
    { "toIntervalNanosecond(1)", typed("IntervalNanosecond", 1LL) },
    { "[1, NULL]::Array(Nullable(UInt8))", typed("Array(Nullable(UInt8))", { 1, NULL }) },
    { "(1, 'a')::Tuple(UInt8, String)", typed("Tuple(UInt8, String)", { 1, "a" }) },
    { "(1, 'a')::Tuple(a UInt8, `b c` String)", typed("Tuple(a UInt8, `b c` String)", { a = 1, ["b c"] = "a" }) },
    { "map('a', 1)::Map(String, UInt8)", typed("Map(String, UInt8)", { a = 1 }) },
    { "(1, 2)::Point", typed("Point", { 1, 2 }) }, { "[[(1, 2)]]::Polygon", typed("Polygon", { { { 1, 2 } } }) },
    { "[1, 2]::QBit(Float32, 2)", typed("QBit(Float32, 2)", { 1, 2 }) },
    { [['{"a": 1}'::JSON(b UInt8, `c.d` String, SKIP e, SKIP REGEXP 'f.*')]],
      typed("JSON(b UInt8, `c.d` String, SKIP e, SKIP REGEXP 'f.*')", { a = 1LL, b = 0, c = { d = "" } }),
      unordered = true } },
  { "Dynamic", { "'x'::LowCardinality(String)", typed("LowCardinality(String)", "x") }, alone = true },
  { "JSON", { "'{}'", {} }, { [['{"a": 1, "b": {"c": "x", "d": {"e": true}}, "f": null}']],
    { a = 1LL, b = { c = "x", d = { e = true } } }, unordered = true },
    { [['{"a": 1.5, "b": [1, null], "d": "2024-01-02"}']], { a = typed("Float64", 1.5),
      b = typed("Array(Nullable(Int64))", { 1LL, NULL }), d = typed("Date", "2024-01-02") }, unordered = true } },
  { "JSON(a UInt8, `b.c` Array(String), d Nullable(Date))",
    { [['{"a": 7, "b": {"c": ["x"], "e": 1}}']], { a = 7, b = { c = { "x" }, e = 1LL }, d = NULL },
      unordered = true } },
}

-- The ways a value of a type T travels: the type, SQL and Lua made of those of the value.
local WAYS = {
  { type = "%s", sql = "%s", lua = function(v) return v end },
  { type = "Array(%s)", sql = "[%s]", lua = function(v) return { v } end },
  { type = "Tuple(UInt8, %s)", sql = "(7, %s)", lua = function(v) return { 7, v } end },
  { type = "Tuple(n UInt8, v Array(%s))", sql = "(7, [%s])", lua = function(v) return { n = 7, v = { v } } end },
  { type = "Map(String, %s)", sql = "map('k', %s)", lua = function(v) return { k = v } end },
  { type = "LowCardinality(%s)", sql = "%s", lua = function(v) return v end, low = true },
  { type = "LowCardinality(Nullable(%s))", sql = "%s", lua = function(v) return v end, low = true },
}

local SETTINGS = { allow_experimental_nullable_tuple_type = 1, session_timezone = "UTC",
  allow_suspicious_low_cardinality_types = 1, allow_suspicious_types_in_group_by = 1, enable_time_time64_type = 1 }

local function ways_of(case)
  local ways = {}
  for _, way in ipairs(WAYS) do
    if (not way.low or case.low) and (not case.alone or way == WAYS[1]) then ways[#ways + 1] = way end
  end
  return ways
end

-- A SELECT of one value of a case in all ways, and what Lua should have of it. (Values that differ in
-- their type alone may be mixed up by ClickHouse where they stand in one statement as constants.)
local function question(case, v)
  local columns, wanted = {}, {}
  local sql = ("CAST(%s AS %s)"):format(case[v][1], case[1])
  for w, way in ipairs(ways_of(case)) do
    local name = "w" .. w
    columns[w] = ("CAST(%s AS %s) AS %s"):format(way.sql:gsub("%%s", function() return sql end),
      way.type:format(case[1]), name)
    wanted[name] = way.lua(case[v][2])
  end
  return "SELECT " .. table.concat(columns, ", "), wanted
end

local function decode(body, size, opts)
  local decoder, list = rows.decoder(opts or {}), {}
  local at = 1
  for row in rows.iterate(decoder, function(d)
    if at > #body then return false end
    d:feed(body:sub(at, at + size - 1))
    at = at + size
    return true
  end) do list[#list + 1] = row end
  return list
end

local function failure(body, size)
  local ok, err = pcall(decode, body, size or #body)
  assert.is_false(ok)
  return tostring(err), err
end

-- The bytes that the row in `body` makes in a buffer with its columns.
local function write_again(body)
  local decoder = rows.decoder {}
  decoder:feed(body)
  decoder:finish()
  local columns = {}
  for i, column in ipairs(decoder:columns()) do
    columns[i] = { column.name, column.type, json = column.type:find "JSON" and "paths" or nil }
  end
  local buf = chute.buffer { columns = columns }
  assert(buf:add_row(decoder:next()))
  decoder:close()
  return buf:tostring()
end

local function sorted(bytes)
  local list = { bytes:byte(1, -1) }
  table.sort(list)
  return string.char(unpack(list))
end

describe("rows from ClickHouse 26.5", function()
  local s
  setup(function() s = server.shared.chdb() end)

  local function ask(sql)
    return s:query(sql .. " FORMAT RowBinaryWithNamesAndTypes", { params = SETTINGS })
  end

  for _, case in ipairs(CASES) do
    it("have values of " .. case[1], function()
      for v = 2, #case do
        local sql, wanted = question(case, v)
        local body = ask(sql)
        for _, size in ipairs { #body, 1, 7 } do
          local got = decode(body, size)
          assert.equal(1, #got)
          for name, value in pairs(wanted) do assert.equal(show(value), show(got[1][name]), name) end
        end
      end
    end)
  end

  for _, case in ipairs(CASES) do
    it("have values that are written again, the same bytes: " .. case[1], function()
      for v = 2, #case do
        local sql = question(case, v)
        local body = ask(sql)
        local again = write_again(body)
        if case[v].unordered then
          assert.equal(golden.hex(sorted(body)), golden.hex(sorted(again)), sql)
        else
          assert.equal(golden.hex(body), golden.hex(again), sql)
        end
      end
    end)
  end

  it("tell the columns with their canonical types", function()
    local conn = chute.connect(s.url)
    finally(function() conn:close() end)
    local result = assert(conn:query "SELECT 1::UInt8 AS a, 'x'::LowCardinality(String) AS `b.c` WHERE 0")
    assert.same({ { name = "a", type = "UInt8" }, { name = "b.c", type = "LowCardinality(String)" } }, result:columns())
    for _ in result:rows() do error "a row" end
    assert.same({}, assert(conn:query "SYSTEM FLUSH LOGS"):columns())
    for _ in assert(conn:query "SYSTEM FLUSH LOGS"):rows() do error "a row" end
  end)

  it("come in order, all of them", function()
    local conn = chute.connect(s.url)
    finally(function() conn:close() end)
    local n, sum = 0, 0
    for row in assert(conn:query "SELECT number AS n, repeat('x', number % 300) AS s FROM numbers(100000)"):rows() do
      assert(row.n == n and #row.s == n % 300)
      n, sum = n + 1, sum + #row.s
    end
    assert.equal(100000, n)
    assert.equal(tonumber(s:query "SELECT sum(number % 300) FROM numbers(100000)"), sum)
  end)

  it("show instants without a zone by the clock that is asked for", function()
    local body = ask "SELECT toDateTime(1729989000) AS t"
    assert.same({ { t = "2024-10-26 20:30:00-04:00" } }, decode(body, 99, { zone = "America/New_York" }))
    assert.same({ { t = "2024-10-27 00:30:00+00:00" } }, decode(body, 99, { zone = "No/Where" }))
  end)

  it("have JSON as text where it is asked for so", function()
    local conn = chute.connect(s.url)
    finally(function() conn:close() end)
    local result = assert(conn:query([[SELECT '{"a": {"b": 1}}'::JSON AS j, 5 AS n]],
      { settings = { output_format_binary_write_json_as_string = true } }))
    assert.same({ j = '{"a":{"b":1}}', n = 5 }, result:rows()())
  end)

  it("are not read from another format", function()
    local conn = chute.connect(s.url)
    finally(function() conn:close() end)
    local results = { assert(conn:query "SELECT 1 FORMAT TSV"), assert(conn:query("SELECT 1", { format = "CSV" })) }
    for _, result in ipairs(results) do
      for _, method in ipairs { "rows", "columns" } do
        local ok, err = pcall(function()
          local got = result[method](result)
          return got
        end)
        assert.is_false(ok)
        assert.matches("decoder_spec.lua:%d+: chute: rows are read from RowBinaryWithNamesAndTypes, not from %u+", err)
      end
    end
  end)

  it("with states of aggregate functions are refused by name", function()
    local text = failure(ask "SELECT 1 AS n, sumState(1::UInt8) AS s")
    assert.equal("the answer cannot be read: column 's': states of AggregateFunction(sum, UInt8) have no frame and "
      .. "cannot be decoded: ask for finalizeAggregation() of them", text)
    assert.matches("column 's': states of AggregateFunction", (failure(ask "SELECT [sumState(1::UInt8)] AS s")))
    assert.matches("row 1, column 'd': a Dynamic value of a state of an aggregate function",
      (failure(ask "SELECT CAST(sumState(1::UInt8), 'Dynamic') AS d")))
  end)

  it("are an error where they are cut short, wherever that is", function()
    local sql = question(CASES[#CASES], 2)
    local body = ask(sql)
    local header, ends = #ask(sql .. " LIMIT 0"), 0
    for len = 1, #body - 1 do
      local ok, err = pcall(decode, body:sub(1, len), len)
      if ok then
        ends = ends + 1
        assert.equal(header, len)
      else
        assert.matches("^the answer cannot be read: .*it is cut short$", tostring(err))
        assert.equal("server", err.kind)
      end
    end
    assert.equal(1, ends)
  end)
end)

describe("bytes that are no rows", function()
  local function body_of(ctype, bytes)
    return "\1\1x" .. string.char(#ctype) .. ctype .. bytes
  end

  for name, case in pairs {
    ["a type that is none"] = { body_of("Strin", ""), "column 'x': .*Strin" },
    ["a length past 64 bits"] = { body_of("String", ("\255"):rep(10)), "row 1, column 'x': a length past 64 bits" },
    ["a string of 2^40 bytes"] = { body_of("String", "\128\128\128\128\128\32"), "a text of 1099511627776 bytes" },
    ["a list of 2^40"] = { body_of("Array(UInt8)", "\128\128\128\128\128\32"), "a list of 1099511627776" },
    ["2^29 empty tuples"] = {
      body_of("Array(Tuple())", "\128\128\128\128\2"), "more than 1048576 values that take no byte",
    },
    ["a flag of a Nullable"] = { body_of("Nullable(UInt8)", "\2\0"), "2 is no flag of a Nullable" },
    ["an alternative of a Variant"] = { body_of("Variant(String, UInt8)", "\2x"), "alternative 2 of a Variant of 2" },
    ["an unknown type tag"] = { body_of("Dynamic", "\127"), "a Dynamic value of the unknown type tag 0x7F" },
    ["a type of types without end"] = { body_of("Dynamic", ("\30"):rep(1000)), "too many types in types" },
    ["values in values without end"] = {
      body_of("Array(Dynamic)", ("\1\30\43\32"):rep(2000)), "values in more than 300 values",
    },
    ["rows of nothing"] = { body_of("Tuple()", "x"), "bytes behind rows that take none" },
    ["columns without end"] = { "\255\255\255\255\15", "4294967295 columns" },
  } do
    it("are refused: " .. name, function()
      assert.matches(case[2], (failure(case[1])))
      assert.matches(case[2], (failure(case[1], 1)))
    end)
  end

  it("stay refused", function()
    local decoder = rows.decoder {}
    decoder:feed(body_of("Nullable(UInt8)", "\0\7\2\0\1"))
    assert.same({ x = 7 }, decoder:next())
    local _, first = pcall(decoder.next, decoder)
    local _, second = pcall(decoder.next, decoder)
    assert.equal("the answer cannot be read: row 2, column 'x': 2 is no flag of a Nullable", tostring(first))
    assert.same({ tostring(first), 2, "x" }, { tostring(second), second.row, second.column })
  end)

  it("may end between rows, or before any", function()
    assert.same({}, decode("", 1))
    assert.same({}, decode(body_of("UInt8", ""), 1))
    assert.same({ { x = 1 }, { x = 2 } }, decode(body_of("UInt8", "\1\2"), 1))
  end)

  it("hold NaNs of any bits, that are numbers", function()
    for _, case in ipairs { { "Float64", 8 }, { "Float32", 4 }, { "BFloat16", 2 } } do
      for _, first in ipairs { "\255", "\1", "\0" } do
        for _, last in ipairs { "\255\255", "\249\127", "\255\127" } do
          local bytes = first:rep(case[2] - 2) .. last
          for _ = 1, 100 do
            local value = decode(body_of(case[1], bytes), 99)[1].x
            assert(type(value) == "number", case[1])
            assert(value ~= value or case[2] ~= 2 and last == "\249\127")
          end
        end
      end
    end
  end)

  it("hold numbers no word of the enum is for", function()
    assert.same({ { x = 5 } }, decode(body_of("Enum8('a' = 1)", "\5"), 9))
  end)
end)
