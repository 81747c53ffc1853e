local cjson = require "cjson"
local ffi = require "ffi"
local input = require "chute.input"
local source = require "chute.input.source"

-- All that a reader of `text` gives, read in blocks of `block` bytes.
local function read(format, text, block, limit)
  local out = {}
  local reader, err = input.reader(source.text(text, block), format, limit)
  if not reader then return { refused = err } end
  while true do
    local row, fault, line, raw = reader()
    if not row and not fault then return out end
    out[#out + 1] = { row = row, err = fault, line = line, raw = raw }
    if fault and not raw then return out end
  end
end

local function rows(format, text, block)
  local out = {}
  for i, item in ipairs(read(format, text, block)) do
    assert(item.row, item.err)
    out[i] = item.row
  end
  return out
end

-- The errors, as "line: message", of all that a reader gives.
local function faults(items)
  local out = {}
  for _, item in ipairs(items) do
    if item.err then out[#out + 1] = item.line .. ": " .. item.err end
  end
  return out
end

-- The same wherever the blocks are cut.
local function read_at_every_cut(format, text, limit)
  local whole = read(format, text, nil, limit)
  for block = 1, #text do
    assert.are.same(whole, read(format, text, block, limit), "blocks of " .. block)
  end
  return whole
end

describe("input", function()
  it("tells the format by the file's name", function()
    assert.are.equal("ndjson", input.format_of "a/b.ndjson")
    assert.are.equal("ndjson", input.format_of "b.c.jsonl")
    assert.are.equal("json", input.format_of "B.JSON")
    assert.are.equal("csv", input.format_of "x.csv")
    assert.are.equal("tsv", input.format_of "x.tsv")
    assert.are.equal("json", input.format_of "-")
    assert.is_nil(input.format_of "x.txt")
    assert.is_nil(input.format_of "csv")
    assert.is_nil(input.format_of "a.csv/x")
  end)

  it("names what it cannot open or read", function()
    local reader, err = input.open("/nowhere/x.csv", "csv")
    assert.is_nil(reader)
    assert.are.equal("No such file or directory", err)
    reader, err = input.open("/", "ndjson")
    assert.is_nil(reader)
    assert.are.equal("Is a directory", err)
  end)

  it("gives the failure of a read that comes later, once, without raw text", function()
    local calls = 0
    local from = { read = function()
      calls = calls + 1
      if calls == 1 then return '{"a":1}\n{"a":' end
      return nil, "Input/output error"
    end }
    local reader = input.reader(from, "ndjson")
    assert.are.same({ a = 1 }, (reader()))
    local row, err, line, raw = reader()
    assert.is_nil(row)
    assert.are.equal("Input/output error", err)
    assert.are.equal(2, line)
    assert.is_nil(raw)
  end)

  for _, format in ipairs(input.formats) do
    it("takes an empty " .. format .. " input", function()
      assert.are.same({}, read(format, ""))
      assert.are.same({}, read(format, "\239\187\191"))
    end)
  end
end)

describe("NDJSON", function()
  it("takes either line ending, blank lines, a byte order mark and a last line without an end", function()
    local text = '\239\187\191{"a":1}\r\n\n  \r\n["x",null]\n{"a":{"b":[1,2]}}'
    local items = read_at_every_cut("ndjson", text)
    assert.are.same({
      { row = { a = 1 }, line = 1, raw = '{"a":1}' },
      { row = { "x", cjson.null }, line = 4, raw = '["x",null]' },
      { row = { a = { b = { 1, 2 } } }, line = 5, raw = '{"a":{"b":[1,2]}}' },
    }, items)
  end)

  it("numbers malformed lines and goes on", function()
    local text = '{"a":1}\n{"a":\n7\nnull\n"x"\n{"a":2}x\n{"a":NaN}\n{"a":0x10}\n{"a":3}\n'
    local items = read_at_every_cut("ndjson", text)
    assert.are.same({ a = 1 }, items[1].row)
    for i = 2, 8 do
      assert.is_nil(items[i].row)
      assert.are.equal(i, items[i].line)
    end
    assert.are.equal("a record is a JSON object or array, not a number", items[3].err)
    assert.are.equal("a record is a JSON object or array, not null", items[4].err)
    assert.are.equal("a record is a JSON object or array, not a string", items[5].err)
    assert.matches("^malformed JSON: .*character 8", items[6].err)
    assert.are.equal('{"a":2}x', items[6].raw)
    assert.are.same({ a = 3 }, items[9].row)
    assert.are.equal(9, #items)
  end)

  it("refuses a line past the limit, and only that", function()
    local long = '{"a":"' .. ("x"):rep(40) .. '"}'
    local text = '{"a":1}\n' .. long .. '\n{"a":2}\n' .. long
    for block = 1, #text do
      local items = read("ndjson", text, block, 20)
      assert.are.same({ 1, 2, 3, 4 }, { items[1].line, items[2].line, items[3].line, items[4].line })
      assert.are.same({ a = 1 }, items[1].row)
      assert.are.equal("line is longer than 20 bytes", items[2].err)
      assert.are.same({ a = 2 }, items[3].row)
      assert.are.equal("line is longer than 20 bytes", items[4].err)
      assert.is_string(items[4].raw)
      assert.are.equal(4, #items)
    end
  end)

  it("takes a line of exactly the limit", function()
    local text = '{"a":"123456"}\n{"a":"123456"}'
    for block = 1, #text do assert.are.equal(2, #rows("ndjson", text, block, 14)) end
  end)
end)

describe("JSON numbers", function()
  local function value(text)
    return rows("ndjson", '{"v":' .. text .. "}")[1].v
  end

  it("stay exact past 2^53", function()
    local v = value "18446744073709551615"
    assert.is_true(ffi.istype("uint64_t", v))
    assert.are.equal("18446744073709551615ULL", tostring(v))
    assert.are.equal("9223372036854775808ULL", tostring(value "9223372036854775808"))
    assert.are.equal("9223372036854775807LL", tostring(value "9223372036854775807"))
    assert.are.equal("-9223372036854775808LL", tostring(value "-9223372036854775808"))
    assert.are.equal("9007199254740993LL", tostring(value "9007199254740993"))
    assert.are.equal("18446744073709551616", value "18446744073709551616")
    assert.are.equal("-9223372036854775809", value "-9223372036854775809")
    assert.are.equal(("9"):rep(70), value(("9"):rep(70)))
  end)

  it("stay plain numbers within it", function()
    assert.are.equal(9007199254740992, value "9007199254740992")
    assert.are.equal(-9007199254740992, value "-9007199254740992")
    assert.are.equal(0.12345678901234567, value "0.12345678901234567")
    assert.are.equal(1234567890123456789.5, value "1234567890123456789.5")
    assert.are.equal(1234567890123456789e2, value "1234567890123456789e2")
    assert.are.equal(1e10, value "1E0000000000000000010")
  end)

  it("are found in arrays and objects, and left alone in strings", function()
    local text = [==[{"a":[18446744073709551615,-9007199254740993],"b":{"c": 9007199254740993 },]==]
      .. [==["1234567890123456789":"1234567890123456789\"","d":"\\","e":9007199254740993,"f":"\""}]==]
    local row = rows("ndjson", text)[1]
    assert.are.equal("18446744073709551615ULL", tostring(row.a[1]))
    assert.are.equal("-9007199254740993LL", tostring(row.a[2]))
    assert.are.equal("9007199254740993LL", tostring(row.b.c))
    assert.are.equal('1234567890123456789"', row["1234567890123456789"])
    assert.are.equal("\\", row.d)
    assert.are.equal("9007199254740993LL", tostring(row.e))
    assert.are.equal('"', row.f)
  end)

  it("are not confused by bytes that look like the mark", function()
    local row = rows("ndjson", '{"a":18446744073709551615,"b":"\255\25512","c":"\\u00ff1"}')[1]
    assert.are.equal("18446744073709551615ULL", tostring(row.a))
    assert.are.equal("\255\25512", row.b)
    assert.are.equal("\195\1911", row.c)
  end)

  it("name the place of a fault in the text as it came", function()
    local items = read("ndjson", '{"a":18446744073709551615,}')
    assert.matches("character 27", items[1].err)
    assert.are.equal(1, #read("ndjson", '{"a":18446744073709551615,"b'))
  end)
end)

describe("JSON array", function()
  it("gives its elements with their lines", function()
    local text = ' [ {"a":"],[{}\\"\\\\"} ,\n{"a":[1,[2]]},[3,\n{"b":4}]\n]\n\n'
    assert.are.same({
      { row = { a = '],[{}"\\' }, line = 1, raw = '{"a":"],[{}\\"\\\\"} ' },
      { row = { a = { 1, { 2 } } }, line = 2, raw = '{"a":[1,[2]]}' },
      { row = { 3, { b = 4 } }, line = 2, raw = '[3,\n{"b":4}]\n' },
    }, read_at_every_cut("json", text))
  end)

  it("may be empty", function()
    assert.are.same({}, read_at_every_cut("json", " [ \n ] "))
  end)

  it("goes on behind malformed elements", function()
    local items = read_at_every_cut("json", '[{"a":1},\n{"a" 2},\n,17,{"a":1}}, {"a":1} x,\n{"a":3},]')
    assert.are.same({ a = 1 }, items[1].row)
    assert.are.same({ 2, 3, 3, 3, 3 },
      { items[2].line, items[3].line, items[4].line, items[5].line, items[6].line })
    for i = 2, 6 do assert.is_string(items[i].err) end
    assert.are.same({ a = 3 }, items[7].row)
    assert.is_string(items[8].err)
    assert.are.equal(8, #items)
  end)

  it("finds its feet on the next line after an element that does not end", function()
    local items = read_at_every_cut("json", '[{"a":1},\n{"a":[1},\n{"a":"x},\n{"a":2},\n{"a":3}]\n')
    assert.are.same({ a = 1 }, items[1].row)
    assert.are.same({ 2, 3 }, { items[2].line, items[3].line })
    assert.are.equal('{"a":[1},', items[2].raw)
    assert.are.same({ a = 2 }, items[4].row)
    assert.are.same({ a = 3 }, items[5].row)
    assert.are.equal(5, #items)
  end)

  it("tells when it is cut short, and what follows it", function()
    assert.are.same({ "1: the array is not closed" }, faults(read_at_every_cut("json", '[{"a":1},')))
    assert.are.same({ "1: the array is not closed after this element" },
      { faults(read_at_every_cut("json", '[{"a":1}'))[1] })
    assert.are.same({ "2: text follows the end of the array" },
      faults(read_at_every_cut("json", '[{"a":1}]\n{"a":2}\n')))
  end)

  it("refuses an element past the limit, and only that", function()
    local text = '[{"a":1},\n{"a":"' .. ("x"):rep(50) .. '"},\n{"a":2}]'
    local items = read("json", text, 7, 20)
    assert.are.same({ a = 1 }, items[1].row)
    assert.are.equal("element is longer than 20 bytes", items[2].err)
    assert.are.same({ a = 2 }, items[3].row)
    assert.are.equal(3, #items)
  end)

  it("is told from records a line by its first byte", function()
    assert.are.same({ { a = 1 }, { a = 2 } }, rows("json", '\239\187\191 \n{"a":1}\n{"a":2}', 1))
    assert.are.same({ { a = 1 } }, rows("json", '\239\187\191 \n[{"a":1}]', 1))
  end)
end)

describe("CSV", function()
  it("reads quotes, doubled quotes, newlines in quotes and either ending", function()
    local text = 'a,"b ""x"""\r\n1,"two, ""three"""\r\n"x\r\ny\n","",\r\n\n"",\n,""\n"a""",z\n"""",last'
    text = text:gsub('"",\r\n', '""\r\n')
    local items = read_at_every_cut("csv", text)
    assert.are.same({
      { row = { a = "1", ['b "x"'] = 'two, "three"' }, line = 2, raw = '1,"two, ""three"""' },
      { row = { a = "x\r\ny\n", ['b "x"'] = "" }, line = 3, raw = '"x\r\ny\n",""' },
      { row = { a = "" }, line = 7, raw = '"",' },
      { row = { ['b "x"'] = "" }, line = 8, raw = ',""' },
      { row = { a = 'a"', ['b "x"'] = "z" }, line = 9, raw = '"a""",z' },
      { row = { a = '"', ['b "x"'] = "last" }, line = 10, raw = '"""",last' },
    }, items)
  end)

  it("keeps an empty field absent, a quoted one empty, and takes \\N as NULL", function()
    assert.are.same({ { b = "", c = cjson.null, d = "\\N" } }, rows("csv", 'a,b,c,d\n,"",\\N,"\\N"\n'))
  end)

  it("leaves a quote inside an unquoted field alone", function()
    assert.are.same({ { a = '5" pipe', b = 'x"' } }, rows("csv", 'a,b\n5" pipe,x"\n'))
  end)

  it("numbers ragged and malformed lines and goes on", function()
    local items = read_at_every_cut("csv", 'a,b\n1\n"x\ny",2,3\n"x"y,2\n1,2\n')
    assert.are.same({
      "2: 1 fields where the header has 2",
      "3: 3 fields where the header has 2",
      "5: text follows a closing quote",
    }, faults(items))
    assert.are.equal('"x\ny",2,3', items[2].raw)
    assert.are.same({ row = { a = "1", b = "2" }, line = 6, raw = "1,2" }, items[4])
  end)

  it("loses one line to a quote that is never closed", function()
    local items = read_at_every_cut("csv", 'a,b\n1,2\n3,"4\n5,6\n7,8')
    assert.are.same({ "3: a quoted field is not closed" }, faults(items))
    assert.are.equal('3,"4', items[2].raw)
    assert.are.same({ a = "5", b = "6" }, items[3].row)
    assert.are.same({ a = "7", b = "8" }, items[4].row)
    assert.are.equal(4, #items)
  end)

  it("refuses a record past the limit, and only its first line", function()
    local text = 'a\n"' .. ("x"):rep(30) .. "\n" .. ("y"):rep(10) .. '"\nz\n' .. ("w"):rep(60) .. "\nlast\n"
    for block = 1, #text do
      local items = read("csv", text, block, 20)
      assert.are.equal("2: record is longer than 20 bytes", faults(items)[1])
      assert.are.same({ row = { a = "last" }, line = 6, raw = "last" }, items[#items])
    end
  end)

  it("refuses a header that names no field, or one twice", function()
    assert.are.same({ refused = "field 2 of the header has no name" }, read("csv", "a,,b\n1,2,3\n"))
    assert.are.same({ refused = "'a' stands twice in the header" }, read("csv", "a,a\n1,2\n"))
    assert.are.same({ refused = "a quoted field is not closed" }, read("csv", '"a,b\n1,2\n'))
  end)
end)

describe("TSV", function()
  it("reads escapes and NULL", function()
    local text = "a\tb\\tc\r\n1\t\\N\n\\\\N\\\\x41\tt\\tn\\nr\\r0\\0s\\\\q\\'x\\x41\\x5cn\n\t\n"
    assert.are.same({
      { row = { a = "1", ["b\tc"] = cjson.null }, line = 2, raw = "1\t\\N" },
      { row = { a = "\\N\\x41", ["b\tc"] = "t\tn\nr\r0\0s\\q'xA\\n" }, line = 3,
        raw = "\\\\N\\\\x41\tt\\tn\\nr\\r0\\0s\\\\q\\'x\\x41\\x5cn" },
      { row = { a = "", ["b\tc"] = "" }, line = 4, raw = "\t" },
    }, read_at_every_cut("tsv", text))
  end)

  it("numbers ragged lines and goes on", function()
    local items = read_at_every_cut("tsv", "a\tb\n1\n1\t2\t3\n\n1\t2")
    assert.are.same({ "2: 1 fields where the header has 2", "3: 3 fields where the header has 2" }, faults(items))
    assert.are.same({ row = { a = "1", b = "2" }, line = 5, raw = "1\t2" }, items[3])
  end)

  it("takes a blank line as a row where there is one column", function()
    assert.are.same({ { a = "x" }, { a = "" }, { a = "y" } }, rows("tsv", "a\nx\n\ny\n"))
  end)
end)
