-- Values of several types in one column: see number.lua for the shape. takes_null: NULL is one.

local chute = require "chute"
local typed = chute.typed

local function more(name)
  return (" fits more than one type of the %s: chute.typed(\"Type\", value) says which"):format(name)
end
local function none(name) return (" fits no type of the %s"):format(name) end

local function choice(name, good, bad)
  table.insert(good, { chute.null, "\\N" })
  return { type = name, family = name:match "^%w+", good = good, bad = bad, bare = true, takes_null = true }
end

local NO_TYPE = " has no type of its own: chute.typed(\"Map(…)\" or \"JSON\", value) says which it is"
local MIXED = " of no one plain type: chute.typed(\"Array(…)\", list) says which it is"
local NOT_IT = " is no type of a value: at byte 1: unknown type 'Foo'"

return {
  choice("Variant(String, UInt64)",
    { { "", "" }, { "5", "5" }, { "text", "text" }, { 5, "5" }, { 5ULL, "5" }, { typed("UInt64", "7"), "7" },
      { typed("String", 7), "7" }, { typed("VARCHAR", "x"), "x" } },
    { { true, "true" .. none "Variant" }, { { 1 }, "a list of 1" .. none "Variant" },
      { -1, "-1 is out of range (0 to 18446744073709551615)" },
      { typed("UInt8", 1), "a typed value of UInt8, which is no type of the Variant" },
      { typed("Foo", 1), "'Foo'" .. NOT_IT },
      { typed("UInt64", chute.null), "NULL where a value of UInt64 is needed" },
      { { a = 1 }, "a table of 1 pairs" .. none "Variant" } }),
  choice("Variant(Float64, UInt8)",
    { { 5LL, "5" }, { typed("UInt8", 5), "5" }, { typed("Float64", 5), "5" }, { typed("DOUBLE", 0.5), "0.5" } },
    { { 5, "5" .. more "Variant" }, { 0.5, "0.5" .. more "Variant" }, { 300LL, "300 is out of range (0 to 255)" } }),
  choice("Variant(Array(String), Array(UInt8), Bool, Map(String, UInt8))",
    { { { 1, 2 }, "[1,2]" }, { { "a" }, "['a']" }, { true, "true" }, { { k = 1 }, "{'k':1}" }, { {}, "{}" },
      { typed("Array(UInt8)", {}), "[]" }, { typed("Array(String)", { 1 }), "['1']" } },
    { { chute.list {}, "a list of 0" .. more "Variant" }, { { "a", true }, "a list of 2" .. none "Variant" } }),
  choice("Variant(Date, DateTime('UTC'))",
    { { typed("Date", "2024-01-02"), "2024-01-02" }, { typed("DateTime('UTC')", 0), "1970-01-01 00:00:00" } },
    { { "2024-01-02", "'2024-01-02'" .. more "Variant" }, { 5, "5" .. more "Variant" } }),
  choice("Variant(DateTime('UTC'), UUID)", { { 0, "1970-01-01 00:00:00" } },
    { { "x", "'x'" .. more "Variant" } }),
  choice("Geometry",
    { { { 1, 2 }, "(1,2)" }, { { { { { 1, 2 } } } }, "[[[(1,2)]]]" }, { typed("Ring", { { 1, 2 } }), "[(1,2)]" },
      { typed("LineString", { { 1, 2 } }), "[(1,2)]" }, { typed("Polygon", { { { 1, 2 } } }), "[[(1,2)]]" },
      { typed("MultiLineString", { { { 1, 2 } } }), "[[(1,2)]]" }, { typed("MultiPolygon", {}), "[]" },
      { typed("Point", { 3, 4 }), "(3,4)" } },
    { { { { 1, 2 } }, "a list of 1" .. more "Geometry" }, { { { { 1, 2 } } }, "a list of 1" .. more "Geometry" },
      { { 1, 2, 3 }, "a list of 3" .. none "Geometry" }, { "x", "'x'" .. none "Geometry" } }),
  choice("Dynamic",
    { { 0, "0" }, { -5, "-5" }, { 2 ^ 53, "9007199254740992" }, { 2 ^ 53 + 2, "9007199254740994" }, { 0.5, "0.5" },
      { 0 / 0, "nan" }, { 9223372036854775807LL, "9223372036854775807" },
      { 18446744073709551615ULL, "18446744073709551615" }, { "", "" }, { "text", "text" },
      { ("x"):rep(5000), ("x"):rep(5000) }, { true, "true" }, { false, "false" },
      { { 1, 2 }, "[1,2]" }, { { 1, 2.5 }, "[1,2.5]" }, { { "a", chute.null }, "['a',NULL]" }, { { true }, "[true]" },
      { { { 1 }, { 2, 3 }, chute.list {} }, "[[1],[2,3],[]]" }, { chute.list {}, "[]" }, { { chute.null }, "[NULL]" },
      { { 1ULL, 2ULL }, "[1,2]" }, { { 9223372036854775807LL, 1 }, "[9223372036854775807,1]" },
      { typed("UInt8", 255), "255" }, { typed("Nullable(UInt8)", 7), "7" },
      { typed("Nullable(UInt8)", chute.null), "\\N" },
      { typed("LowCardinality(Nullable(String))", "x"), "x" },
      { typed("DateTime64(3, 'UTC')", "2024-01-02 03:04:05.678"), "2024-01-02 03:04:05.678" },
      { typed("Array(Dynamic)", { 1, "a", { 2 } }), "[1,'a',[2]]" },
      { typed("Map(String, UInt8)", {}), "{}" }, { typed("Tuple(a UInt8, b String)", { b = "x", a = 1 }), "(1,'x')" },
      { typed("Array(Variant(String, UInt8))", { 1, "a", chute.null }), "[1,'a',NULL]" },
      { typed("FixedString(3)", "ab"), "ab\\0" }, { typed("JSON", { a = 1 }), "{\"a\":1}" } },
    { { {}, "a table of 0 pairs" .. NO_TYPE }, { { a = 1 }, "a table of 1 pairs" .. NO_TYPE },
      { { 1, "a" }, "a list of 2" .. MIXED }, { { chute.null, { 1 } }, "a list of 2" .. MIXED },
      { { { a = 1 } }, "a list of 1" .. MIXED }, { { 1, 1ULL }, "a list of 2" .. MIXED },
      { typed("Foo", 1), "'Foo'" .. NOT_IT }, { typed("UInt8", 300), "300 is out of range (0 to 255)" },
      { typed("Variant(String, UInt8)", 1),
        "a typed value of Variant, which Dynamic cannot hold: name the type that the value has in it" },
      { print, "a function has no type in ClickHouse" } }),
}
