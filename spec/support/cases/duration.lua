-- Times of day, as durations are, and intervals: see number.lua for the shape.

local NAN, INF = 0 / 0, 1 / 0

local function refused(what, list)
  local bad = { { true, "true" .. what }, { {}, "a table" .. what } }
  for _, text in ipairs(list) do table.insert(bad, { text, "'" .. text .. "'" .. what }) end
  return bad
end

local NOT_TIMES = { "", "x", "1", "12:00", "12:00:", "12:60:00", "12:00:60", "1000:00:00", "12:00:00.",
  "12:00:00 ", "12:00:00Z", "--1:00:00", "2024-01-01 12:00:00" }

local function far(name, list)
  local bad = {}
  for _, value in ipairs(list) do
    table.insert(bad, { value[1], value[2] .. (" is out of range for %s (-999:59:59 to 999:59:59)"):format(name) })
  end
  return bad
end

local function join(list, more)
  for _, value in ipairs(more) do table.insert(list, value) end
  return list
end

local FAR_SECONDS = { { 3600000, "3600000" }, { -3600000, "-3600000" }, { NAN, "nan" }, { INF, "inf" },
  { 1e300, "1e300" }, { 9223372036854775807LL, "9223372036854775807" },
  { 18446744073709551615ULL, "18446744073709551615" } }

local cases = {
  { type = "Time", family = "Time",
    good = { { "00:00:00", "00:00:00" }, { "999:59:59", "999:59:59" }, { "-999:59:59", "-999:59:59" },
      { "1:02:03", "01:02:03" }, { "-00:00:01", "-00:00:01" }, { "12:34:56.999", "12:34:56" },
      { "-00:00:00.5", "-00:00:01" }, { 0, "00:00:00" }, { 3599999, "999:59:59" }, { -3599999, "-999:59:59" },
      { 1.9, "00:00:01" }, { -0.1, "-00:00:01" }, { 61LL, "00:01:01" }, { 61ULL, "00:01:01" } },
    bad = join(join(refused(" is not a time", NOT_TIMES), far("Time", FAR_SECONDS)),
      far("Time", { { "-999:59:59.1", "'-999:59:59.1'" } })) },
  { type = "Time", unit = "ms", family = "Time",
    good = { { 1999, "00:00:01" }, { -1, "-00:00:01" }, { 3599999999, "999:59:59" } },
    bad = far("Time", { { 3600000000, "3600000000" } }) },
  { type = "Time64(0)", family = "Time64",
    good = { { "00:00:00", "00:00:00" }, { "999:59:59", "999:59:59" }, { "-999:59:59", "-999:59:59" },
      { 1.5, "00:00:02" } },
    bad = join(refused(" is not a time", NOT_TIMES), far("Time64", FAR_SECONDS)) },
  { type = "Time64(3)", family = "Time64",
    good = { { "00:00:00", "00:00:00.000" }, { "999:59:59.999", "999:59:59.999" },
      { "-999:59:59.999", "-999:59:59.999" }, { "12:34:56.7891", "12:34:56.789" }, { "12:34:56,5", "12:34:56.500" },
      { "-00:00:00.0001", "-00:00:00.001" },
      { 1.0006, "00:00:01.001" }, { -0.5, "-00:00:00.500" }, { 5LL, "00:00:05.000" } },
    bad = join(refused(" is not a time", NOT_TIMES), far("Time64", FAR_SECONDS)) },
  { type = "Time64(9)", family = "Time64",
    good = { { "999:59:59.999999999", "999:59:59.999999999" },
      { "-999:59:59.999999999", "-999:59:59.999999999" },
      { "00:00:00.000000001", "00:00:00.000000001" }, { 1e-9, "00:00:00.000000001" } },
    bad = far("Time64", FAR_SECONDS) },
  { type = "Time64(9)", unit = "ns", family = "Time64",
    good = { { 1, "00:00:00.000000001" }, { -1LL, "-00:00:00.000000001" },
      { 3599999999999999LL, "999:59:59.999999999" } },
    bad = far("Time64", { { 3600000000000000LL, "3600000000000000" } }) },
}

local SPAN = " is out of range (-9223372036854775808 to 9223372036854775807)"
for _, unit in ipairs { "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour", "Day",
  "Week", "Month", "Quarter", "Year" } do
  table.insert(cases, { type = "Interval" .. unit,
    good = { { 0, "0" }, { 1, "1" }, { -5, "-5" }, { 9223372036854775807LL, "9223372036854775807" },
      { "-9223372036854775808", "-9223372036854775808" }, { 7ULL, "7" } },
    bad = { { 1.5, "1.5 is not an integer" }, { "9223372036854775808", "'9223372036854775808'" .. SPAN },
      { 9223372036854775808ULL, "9223372036854775808" .. SPAN }, { true, "true is not an integer" },
      { "1 day", "'1 day' is not an integer" } } })
end

return cases
