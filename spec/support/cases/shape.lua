-- Geometric types, Nested, QBit and stored aggregates: see number.lua for the shape. bare: not
-- inside of Nullable.

local NOT_LISTS = { { 5, "5 is not a list" }, { "x", "'x' is not a list" }, { true, "true is not a list" },
  { { a = 1 }, "a table with a nil inside or with other keys is not a list" } }

local function lists(good)
  return { good = good, bad = NOT_LISTS, bare = true }
end

local function of(name, case)
  case.type, case.family = name, case.family or name:match "^%w+"
  return case
end

return {
  of("Point", { bare = true,
    good = { { { 0, 0 }, "(0,0)" }, { { 1.5, -2.5 }, "(1.5,-2.5)" }, { { "3", 4LL }, "(3,4)" } },
    bad = { { 5, "5 is not a tuple" }, { { 1, 2, 3 }, "a list of 3 where 2 elements are needed" } } }),
  of("Ring", lists { { { { 0, 0 }, { 1, 1 } }, "[(0,0),(1,1)]" }, { {}, "[]" } }),
  of("LineString", lists { { { { 0, 0 }, { 1, 1 } }, "[(0,0),(1,1)]" }, { {}, "[]" } }),
  of("Polygon", lists { { { { { 0, 0 }, { 1, 1 } }, {} }, "[[(0,0),(1,1)],[]]" }, { {}, "[]" } }),
  of("MultiLineString", lists { { { { { 0, 0 } } }, "[[(0,0)]]" }, { {}, "[]" } }),
  of("MultiPolygon", lists { { { { { { 0, 0 } }, {} }, {} }, "[[[(0,0)],[]],[]]" }, { {}, "[]" } }),
  of("QBit(Float32, 3)", { bare = true,
    good = { { { 0, 0, 0 }, "[0,0,0]" }, { { 1, -2.5, "3" }, "[1,-2.5,3]" } },
    bad = { { {}, "a list of 0 where 3 elements are needed" },
      { { 1, 2, 3, 4 }, "a list of 4 where 3 elements are needed" },
      { 5, "5 is not a list" } } }),
  of("QBit(BFloat16, 1)", { bare = true, good = { { { 1 }, "[1]" } },
    bad = { { { 1, 2 }, "a list of 2 where 1 elements are needed" } } }),
  of("QBit(Float64, 2)", { bare = true, good = { { { 0.1, -1 }, "[0.1,-1]" } },
    bad = { { "x", "'x' is not a list" } } }),
  of("SimpleAggregateFunction(sum, UInt64)", { family = "UInt64", bare = true,
    good = { { 0, "0" }, { 18446744073709551615ULL, "18446744073709551615" } },
    bad = { { -1, "-1 is out of range (0 to 18446744073709551615)" } } }),
}
