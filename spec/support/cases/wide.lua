-- Numbers of more than 64 bits, and BFloat16: see number.lua for the shape.

local NAN, INF = 0 / 0, 1 / 0
local PAST = " is past 2^53, where numbers lose digits: give an int64 or uint64 cdata, or text"

local function join(list, more)
  for _, value in ipairs(more) do table.insert(list, value) end
  return list
end

-- What no integer column takes, and texts that are out of range.
local function bad_integers(name, beyond)
  local bad = {
    { 3.5, "3.5 is not an integer" }, { NAN, "nan is not an integer" }, { INF, "inf is not an integer" },
    { 2 ^ 53 + 2, "9007199254740994" .. PAST }, { -1e300, "-1e300" .. PAST }, { true, "true is not an integer" },
    { "", "'' is not an integer" }, { "1.0", "'1.0' is not an integer" }, { "1e3", "'1e3' is not an integer" },
    { " 1", "' 1' is not an integer" }, { "-", "'-' is not an integer" }, { {}, "a table is not an integer" },
  }
  for _, text in ipairs(beyond) do
    local shown = #text > 64 and "'" .. text:sub(1, 64) .. "'…" or "'" .. text .. "'"
    table.insert(bad, { text, ("%s is out of range for %s"):format(shown, name) })
  end
  return bad
end

local function signed(bits, min, max, below, past)
  local name = "Int" .. bits
  return { type = name, low = true,
    good = { { 0, "0" }, { -0.0, "0" }, { 1, "1" }, { -1, "-1" }, { -1LL, "-1" }, { 1ULL, "1" }, { "0", "0" },
      { "-007", "-7" }, { 2 ^ 53, "9007199254740992" }, { -2 ^ 53, "-9007199254740992" },
      { 9223372036854775807LL, "9223372036854775807" }, { -9223372036854775807LL - 1, "-9223372036854775808" },
      { 18446744073709551615ULL, "18446744073709551615" }, { "-18446744073709551616", "-18446744073709551616" },
      { min, min }, { max, max } },
    bad = bad_integers(name, { below, past, ("9"):rep(100), "-" .. ("9"):rep(100) }) }
end

local function unsigned(bits, max, past)
  local name = "UInt" .. bits
  return { type = name, low = true,
    good = { { 0, "0" }, { -0.0, "0" }, { 1, "1" }, { 1LL, "1" }, { "+5", "5" }, { "-0", "0" },
      { 2 ^ 53, "9007199254740992" }, { 18446744073709551615ULL, "18446744073709551615" },
      { "18446744073709551616", "18446744073709551616" }, { max, max }, { ("0"):rep(50) .. max, max } },
    bad = join(bad_integers(name, { "-1", past, ("9"):rep(100) }),
      { { -1, "-1 is out of range for " .. name }, { -1LL, "-1 is out of range for " .. name } }) }
end

local ALL_76 = ("9"):rep(76)

return {
  signed(128, "-170141183460469231731687303715884105728", "170141183460469231731687303715884105727",
    "-170141183460469231731687303715884105729", "170141183460469231731687303715884105728"),
  signed(256, "-57896044618658097711785492504343953926634992332820282019728792003956564819968",
    "57896044618658097711785492504343953926634992332820282019728792003956564819967",
    "-57896044618658097711785492504343953926634992332820282019728792003956564819969",
    "57896044618658097711785492504343953926634992332820282019728792003956564819968"),
  unsigned(128, "340282366920938463463374607431768211455", "340282366920938463463374607431768211456"),
  unsigned(256, "115792089237316195423570985008687907853269984665640564039457584007913129639935",
    "115792089237316195423570985008687907853269984665640564039457584007913129639936"),
  { type = "Decimal(76, 0)", family = "Decimal",
    good = { { "0", "0" }, { ALL_76, ALL_76 }, { "-" .. ALL_76, "-" .. ALL_76 }, { -1, "-1" }, { 2.5, "3" },
      { 18446744073709551615ULL, "18446744073709551615" } },
    bad = { { "1" .. ("0"):rep(76), "'1" .. ("0"):rep(63) .. "'… is out of range for Decimal(76, 0)" },
      { "0.5", "'0.5' has digits past the scale of Decimal(76, 0)" },
      { 1e77, "1e77 is out of range for Decimal(76, 0)" },
      { NAN, "nan is not a decimal number" }, { {}, "a table is not a decimal number" } } },
  { type = "Decimal(76, 76)", family = "Decimal",
    good = { { "0." .. ALL_76, "0." .. ALL_76 }, { "-0." .. ALL_76, "-0." .. ALL_76 },
      { "-0." .. ("0"):rep(75) .. "1", "-0." .. ("0"):rep(75) .. "1" }, { 0.5, "0.5" .. ("0"):rep(75) } },
    bad = { { 1, "1 is out of range for Decimal(76, 76)" }, { true, "true is not a decimal number" } } },
  -- The upper half of the Float32: cut, not rounded.
  { type = "BFloat16",
    good = { { 0, "0" }, { -0.0, "-0" }, { 1, "1" }, { -1.5, "-1.5" }, { 1.999, "1.9921875" },
      { -1.999, "-1.9921875" }, { 1.0039062, "1" }, { 0.1, "0.099609375" }, { 256, "256" }, { 257, "256" },
      { 3.3895313892515355e38, "3.3895314e38" }, { 3.4028234663852886e38, "3.3895314e38" }, { 1e-45, "0" },
      { NAN, "nan" }, { INF, "inf" }, { -INF, "-inf" }, { "2.5", "2.5" }, { 7LL, "7" }, { 7ULL, "7" } },
    bad = { { 3.5e38, "3.5e38 is out of range for BFloat16" }, { "-1e300", "'-1e300' is out of range for BFloat16" },
      { true, "true is not a number" }, { "x", "'x' is not a number" }, { {}, "a table is not a number" } } },
}
