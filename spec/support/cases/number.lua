-- Numbers: values of each type, what ClickHouse shows of them, and values that are refused.
-- { type, good = { { value, text } … }, bad = { { value, message } … } }; old: 18.16 knows the
-- type; low: LowCardinality may hold it (or the only version where it may).

local NAN, INF = 0 / 0, 1 / 0
local PAST = " is past 2^53, where numbers lose digits: give an int64 or uint64 cdata, or text"

local function join(list, more)
  for _, value in ipairs(more) do table.insert(list, value) end
  return list
end

-- What no integer column takes.
local function not_integers(range)
  local bad = {
    { 3.5, "3.5 is not an integer" }, { -0.5, "-0.5 is not an integer" },
    { NAN, "nan is not an integer" }, { INF, "inf is not an integer" },
    { -INF, "-inf is not an integer" }, { 1e300, "1e300" .. PAST },
    { true, "true is not an integer" }, { false, "false is not an integer" },
    { "", "'' is not an integer" }, { "1.0", "'1.0' is not an integer" },
    { "1e3", "'1e3' is not an integer" }, { " 1", "' 1' is not an integer" },
    { "12x", "'12x' is not an integer" }, { "0x10", "'0x10' is not an integer" },
    { "--1", "'--1' is not an integer" }, { "-", "'-' is not an integer" },
    { {}, "a table is not an integer" }, { print, "a function is not an integer" },
    { io.stdout, "a userdata is not an integer" },
  }
  for _, value in ipairs(range) do
    local shown = type(value[1]) == "string" and "'" .. value[1] .. "'" or value[2]
    table.insert(bad, { value[1], ("%s is out of range (%s)"):format(shown, value[3]) })
  end
  return bad
end

local function unsigned(bits, max, past)
  local span = "0 to " .. max
  local good = { { 0, "0" }, { -0.0, "0" }, { 1, "1" }, { 1LL, "1" }, { 1ULL, "1" }, { "0", "0" },
    { "-0", "0" }, { "007", "7" }, { "+5", "5" }, { max, max }, { "000" .. max, max } }
  local bad = { { -1, "-1", span }, { -1LL, "-1", span }, { "-1", nil, span }, { past, nil, span },
    { "99999999999999999999999999", nil, span } }
  if bits < 64 then
    join(good, { { tonumber(max), max }, { tonumber(max) + 0LL, max } })
    join(bad, { { tonumber(past), past, span }, { tonumber(past) + 0ULL, past, span },
      { -2 ^ 53, "-9007199254740992", span }, { -9223372036854775807LL - 1, "-9223372036854775808", span } })
  end
  return { type = "UInt" .. bits, old = true, low = true, good = good, bad = not_integers(bad) }
end

local function signed(bits, min, max, below, past)
  local span = min .. " to " .. max
  local good = { { 0, "0" }, { -0.0, "0" }, { -1, "-1" }, { -1LL, "-1" }, { 1ULL, "1" }, { "-7", "-7" },
    { min, min }, { max, max } }
  local bad = { { below, nil, span }, { past, nil, span },
    { 18446744073709551615ULL, "18446744073709551615", span },
    { "-99999999999999999999999999", nil, span } }
  if bits < 64 then
    join(good, { { tonumber(min), min }, { tonumber(max), max }, { tonumber(min) + 0LL, min } })
    join(bad, { { tonumber(below), below, span }, { tonumber(past), past, span },
      { tonumber(below) + 0LL, below, span }, { tonumber(past) + 0ULL, past, span } })
  end
  return { type = "Int" .. bits, old = true, low = true, good = good, bad = not_integers(bad) }
end

local int64 = signed(64, "-9223372036854775808", "9223372036854775807", "-9223372036854775809",
  "9223372036854775808")
join(int64.good, {
  { 2 ^ 53, "9007199254740992" }, { -2 ^ 53, "-9007199254740992" },
  { 9007199254740993LL, "9007199254740993" }, { 9223372036854775807LL, "9223372036854775807" },
  { -9223372036854775807LL - 1, "-9223372036854775808" }, { 9223372036854775807ULL, "9223372036854775807" },
})
join(int64.bad, {
  { 2 ^ 53 + 2, "9007199254740994" .. PAST }, { -2 ^ 63, "-9223372036854776000" .. PAST },
  { 9223372036854775808ULL, "9223372036854775808 is out of range (-9223372036854775808 to 9223372036854775807)" },
})

local uint64 = unsigned(64, "18446744073709551615", "18446744073709551616")
join(uint64.good, {
  { 2 ^ 53, "9007199254740992" }, { 18446744073709551615ULL, "18446744073709551615" },
  { 9223372036854775807LL, "9223372036854775807" },
})
join(uint64.bad, {
  { 2 ^ 53 + 2, "9007199254740994" .. PAST }, { 2 ^ 64, "18446744073709552000" .. PAST },
})

local NO_NUMBERS = {
  { true, "true is not a number" }, { "", "'' is not a number" }, { "x", "'x' is not a number" },
  { "1,5", "'1,5' is not a number" }, { {}, "a table is not a number" }, { "0x1p3", "'0x1p3' is not a number" },
}

local float64 = {
  type = "Float64", old = true, low = true,
  good = {
    { 0, "0" }, { -0.0, "-0" }, { 1.5, "1.5" }, { 0.1, "0.1" }, { NAN, "nan" }, { INF, "inf" }, { -INF, "-inf" },
    { 2 ^ 53 + 2, "9007199254740994" }, { 1.7976931348623157e308, "1.7976931348623157e308" },
    { 5e-324, "5e-324" }, { "1e-400", "0" }, { 2.2250738585072014e-308, "2.2250738585072014e-308" },
    { -7LL, "-7" }, { 7ULL, "7" }, { "2.5", "2.5" }, { "-1e3", "-1000" }, { "nan", "nan" }, { "-inf", "-inf" },
    { ".5", "0.5" }, { "1e308", "1e308" },
  },
  bad = join({ { "1e309", "'1e309' is not a number" } }, NO_NUMBERS),
}

local float32 = {
  type = "Float32", old = true, low = true,
  good = {
    { 0, "0" }, { -0.0, "-0" }, { 1.5, "1.5" }, { 0.1, "0.1" }, { NAN, "nan" }, { INF, "inf" }, { -INF, "-inf" },
    { 16777217, "16777216" }, { 3.4028234663852886e38, "3.4028235e38" }, { 1e-45, "1e-45" }, { 1e-60, "0" },
    { "0.5", "0.5" }, { 7LL, "7" },
  },
  bad = join({
    { 3.5e38, "3.5e38 is out of range for Float32" }, { -1e300, "-1e300 is out of range for Float32" },
    { "1e39", "'1e39' is out of range for Float32" },
  }, NO_NUMBERS),
}

local bool = {
  type = "Bool", low = true,
  good = {
    { true, "true" }, { false, "false" }, { 1, "true" }, { 0, "false" }, { -0.0, "false" }, { 1LL, "true" },
    { 0ULL, "false" }, { "true", "true" }, { "false", "false" }, { "1", "true" }, { "0", "false" },
  },
  bad = {
    { 2, "2 is not a boolean, 0 or 1" }, { -1, "-1 is not a boolean, 0 or 1" }, { 0.5, "0.5 is not a boolean, 0 or 1" },
    { NAN, "nan is not a boolean, 0 or 1" }, { 2LL, "2 is not a boolean, 0 or 1" },
    { -1LL, "-1 is not a boolean, 0 or 1" },
    { "yes", "'yes' is not a boolean, 0 or 1" }, { "", "'' is not a boolean, 0 or 1" },
    { {}, "a table is not a boolean, 0 or 1" },
  },
}

-- With all the digits of the scale.
local function pad(text, scale)
  local whole, fraction = text:match "^(.-)%.(.*)$"
  fraction = fraction or ""
  return scale == 0 and text or (whole or text) .. "." .. fraction .. ("0"):rep(scale - #fraction)
end

local function decimal(precision, scale, good, bad)
  local name = ("Decimal(%d, %d)"):format(precision, scale)
  for _, value in ipairs(good) do value[2] = pad(value[2], scale) end
  for _, value in ipairs(bad) do value[2] = value[2]:gsub("%$T", name) end
  join(bad, {
    { "", "'' is not a decimal number" }, { "1.2.3", "'1.2.3' is not a decimal number" },
    { " 1", "' 1' is not a decimal number" }, { true, "true is not a decimal number" },
    { {}, "a table is not a decimal number" }, { "x", "'x' is not a decimal number" },
  })
  return { type = name, family = "Decimal", old = true, good = good, bad = bad }
end

return {
  unsigned(8, "255", "256"), unsigned(16, "65535", "65536"), unsigned(32, "4294967295", "4294967296"), uint64,
  signed(8, "-128", "127", "-129", "128"), signed(16, "-32768", "32767", "-32769", "32768"),
  signed(32, "-2147483648", "2147483647", "-2147483649", "2147483648"), int64,
  float64, float32, bool,
  decimal(9, 0, { { "0", "0" }, { "-999999999", "-999999999" }, { 999999999, "999999999" }, { 2.5, "3" },
    { -2.5, "-3" }, { 7LL, "7" }, { "5.000", "5" } },
    { { "1000000000", "'1000000000' is out of range for $T" }, { 1e9, "1000000000 is out of range for $T" },
      { "0.5", "'0.5' has digits past the scale of $T" }, { 1000000000ULL, "1000000000 is out of range for $T" } }),
  decimal(10, 2, {
    { 75.57, "75.57" }, { "75.57", "75.57" }, { 0.1 + 0.2, "0.3" }, { 1.005, "1.01" }, { -1.005, "-1.01" },
    { "-0.01", "-0.01" }, { "99999999.99", "99999999.99" }, { "-99999999.99", "-99999999.99" }, { "1.500", "1.5" },
    { 99999999.99, "99999999.99" }, { -5LL, "-5" }, { 5ULL, "5" }, { "1e2", "100" }, { ".5", "0.5" }, { 0, "0" } },
    { { "1.005", "'1.005' has digits past the scale of $T" }, { "100000000", "'100000000' is out of range for $T" },
      { 99999999.996, "99999999.996 is out of range for $T" }, { NAN, "nan is not a decimal number" },
      { INF, "inf is not a decimal number" }, { 1e300, "1e300 is out of range for $T" },
      { 9223372036854775807LL, "9223372036854775807 is out of range for $T" } }),
  decimal(18, 9, { { "999999999.999999999", "999999999.999999999" }, { "-999999999.999999999", "-999999999.999999999" },
    { 0.1, "0.1" }, { 1e-9, "0.000000001" } },
    { { "1000000000", "'1000000000' is out of range for $T" } }),
  decimal(38, 10, {
    { "-9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999" },
    { "9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999999" },
    { "-0.0000000001", "-0.0000000001" }, { -1, "-1" }, { 18446744073709551615ULL, "18446744073709551615" },
    { -9223372036854775807LL - 1, "-9223372036854775808" }, { 0.1, "0.1" } },
    { { "10000000000000000000000000000", "'10000000000000000000000000000' is out of range for $T" } }),
  decimal(38, 38, { { "0.99999999999999999999999999999999999999", "0.99999999999999999999999999999999999999" } },
    { { 1, "1 is out of range for $T" } }),
}
