-- Texts, addresses and names: see number.lua for the shape. family: what a message calls the
-- type, where not by its whole name.

-- ClickHouse's TabSeparated.
local ESCAPES = { ["\0"] = "\\0", ["\t"] = "\\t", ["\n"] = "\\n", ["\\"] = "\\\\", ["'"] = "\\'", ["\r"] = "\\r",
  ["\b"] = "\\b", ["\f"] = "\\f" }
local function escape(text) return (text:gsub("[%z\t\n\\'\r\b\f]", ESCAPES)) end

local function same(list)
  local good = {}
  for i, text in ipairs(list) do good[i] = { text, escape(text) } end
  return good
end

local function add(list, more)
  for _, item in ipairs(more) do table.insert(list, item) end
  return list
end

local every_byte = {}
for byte = 0, 255 do every_byte[byte + 1] = string.char(byte) end
every_byte = table.concat(every_byte)

local NUMBERS = {
  { 5, "5" }, { -0.0, "-0" }, { 0, "0" }, { -17, "-17" }, { 1e15, "1000000000000000" }, { 2 ^ 53, "9007199254740992" },
  { 0.1, "0.1" }, { 1 / 3, "0.3333333333333333" }, { 1e21, "1e21" }, { 1e-7, "1e-7" }, { 0 / 0, "nan" },
  { -1 / 0, "-inf" },
  { 9223372036854775807LL, "9223372036854775807" }, { -9223372036854775807LL - 1, "-9223372036854775808" },
  { 18446744073709551615ULL, "18446744073709551615" },
}

local string = {
  type = "String", old = true, low = true,
  good = add(same { "", "a", "\0", "a\0b", "\xff\xfe\xc3\x28", "Grüße, Ωmega, 🚀", "\t\n\r\\'\"`", "NULL", "\\N",
    ("x"):rep(127), ("x"):rep(128), ("y"):rep(16383), ("y"):rep(16384), ("z"):rep(100000), every_byte }, NUMBERS),
  bad = {
    { true, "true is not a string" }, { false, "false is not a string" }, { {}, "a table is not a string" },
    { print, "a function is not a string" }, { coroutine.create(print), "a coroutine is not a string" },
    { io.stdout, "a userdata is not a string" },
    { require("ffi").new "int[2]", "a cdata of another type than int64_t and uint64_t is not a string" },
  },
}

local fixed = {
  type = "FixedString(5)", family = "FixedString", old = true, low = true,
  good = { { "abcde", "abcde" }, { "abc", "abc\\0\\0" }, { "", "\\0\\0\\0\\0\\0" },
    { "\xff\0\xfe", "\xff\\0\xfe\\0\\0" },
    { 12345, "12345" }, { 7, "7\\0\\0\\0\\0" }, { -123LL, "-123\\0" }, { "Grü", "Grü\\0" } },
  bad = {
    { "abcdef", "'abcdef' is longer (6 bytes) than 5 bytes" }, { "Grüße", "'Grüße' is longer (7 bytes) than 5 bytes" },
    { 123456, "123456 is longer (6 bytes) than 5 bytes" }, { true, "true is not a string" },
    { {}, "a table is not a string" },
    { 1234567LL, "1234567 is longer (7 bytes) than 5 bytes" },
  },
}

local function not_uuid(list)
  local bad = {}
  for i, value in ipairs(list) do bad[i] = { value, ("'%s' is not a UUID"):format(value) } end
  return bad
end

local uuid = {
  type = "UUID", old = true, low = "26.5",
  good = {
    { "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000" },
    { "ffffffff-ffff-ffff-ffff-ffffffffffff", "ffffffff-ffff-ffff-ffff-ffffffffffff" },
    { "61f0c404-5cb3-11e7-907b-a6006ad3dba0", "61f0c404-5cb3-11e7-907b-a6006ad3dba0" },
    { "61F0C404-5CB3-11E7-907B-A6006AD3DBA0", "61f0c404-5cb3-11e7-907b-a6006ad3dba0" },
    { "61f0c4045cb311e7907ba6006ad3dba0", "61f0c404-5cb3-11e7-907b-a6006ad3dba0" },
  },
  bad = add(not_uuid { "", "61f0c404-5cb3-11e7-907b-a6006ad3dba", "61f0c404-5cb3-11e7-907b-a6006ad3dbag",
    "61f0c404-5cb3-11e7-907b-a6006ad3dba00", "61f0c404x5cb3-11e7-907b-a6006ad3dba0" },
    { { 5, "5 is not a UUID" }, { true, "true is not a UUID" }, { {}, "a table is not a UUID" } }),
}

local ipv4 = {
  type = "IPv4", low = true,
  good = { { "0.0.0.0", "0.0.0.0" }, { "255.255.255.255", "255.255.255.255" }, { "192.168.1.2", "192.168.1.2" },
    { "\127\0\0\1", "127.0.0.1" }, { "\0\0\0\0", "0.0.0.0" }, { "1.2.", "49.46.50.46" } },
  bad = { { "", "'' is not an IPv4 address" }, { "256.1.1.1", "'256.1.1.1' is not an IPv4 address" },
    { "1.2.3", "'1.2.3' is not an IPv4 address" }, { "1.2.3.4.5", "'1.2.3.4.5' is not an IPv4 address" },
    { " 1.2.3.4", "' 1.2.3.4' is not an IPv4 address" }, { "::1", "'::1' is not an IPv4 address" },
    { 16909060, "16909060 is not an IPv4 address" }, { {}, "a table is not an IPv4 address" } },
}

local ipv6 = {
  type = "IPv6", low = true,
  good = { { "::", "::" }, { "::1", "::1" }, { "2001:db8::8a2e:370:7334", "2001:db8::8a2e:370:7334" },
    { "FFFF:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" },
    { "::ffff:1.2.3.4", "::ffff:1.2.3.4" }, { "1.2.3.4", "::ffff:1.2.3.4" }, { "\1\2\3\4", "::ffff:1.2.3.4" },
    { "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", "2001:db8::1" }, { "2001:db8::1:2345", "2001:db8::1:2345" } },
  bad = { { "", "'' is not an IPv6 address" }, { ":::", "':::' is not an IPv6 address" },
    { "2001:db8::8a2e::7334", "'2001:db8::8a2e::7334' is not an IPv6 address" },
    { "1:2:3:4:5:6:7", "'1:2:3:4:5:6:7' is not an IPv6 address" }, { "12345::", "'12345::' is not an IPv6 address" },
    { 1, "1 is not an IPv6 address" }, { true, "true is not an IPv6 address" } },
}

-- The quoting of names is the parser's; what is told apart here are words and numbers.
local enum8 = {
  type = [[Enum8('' = -128, 'a, b' = -1, 'it\'s' = 0, 'back\\slash' = 1, 'x = 5' = 2, 'tab\tstop' = 3, 'Ωλ' = 127)]],
  family = "Enum8", old = true,
  good = { { "", "" }, { "a, b", "a, b" }, { "it's", "it\\'s" }, { "back\\slash", "back\\\\slash" },
    { "x = 5", "x = 5" },
    { "tab\tstop", "tab\\tstop" }, { "Ωλ", "Ωλ" }, { -128, "" }, { 127, "Ωλ" }, { -1LL, "a, b" }, { 2ULL, "x = 5" } },
  bad = { { "a", "'a' is no value of the enum" }, { "A, B", "'A, B' is no value of the enum" },
    { 4, "4 is no value of the enum" }, { 128, "128 is no value of the enum" }, { 0.5, "0.5 is no value of the enum" },
    { "1", "'1' is no value of the enum" }, { true, "true is no value of the enum" },
    { {}, "a table is no value of the enum" },
    { 256LL, "256 is no value of the enum" }, { 0 / 0, "nan is no value of the enum" },
    { 18446744073709551615ULL, "18446744073709551615 is no value of the enum" } },
}

local enum16 = {
  type = "Enum16('low' = -32768, 'zero' = 0, 'high' = 32767)", family = "Enum16", old = true,
  good = { { "low", "low" }, { "zero", "zero" }, { "high", "high" }, { -32768, "low" }, { 32767LL, "high" } },
  bad = { { "", "'' is no value of the enum" }, { 32768, "32768 is no value of the enum" },
    { -1, "-1 is no value of the enum" } },
}

return { string, fixed, uuid, ipv4, ipv6, enum8, enum16 }
