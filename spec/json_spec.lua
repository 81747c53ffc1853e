-- JSON: tables and texts, as text and as paths, into ClickHouse 26.5; and what it would refuse.

local chute = require "chute"
local judge = require "spec.support.judge"

local typed, NULL, list = chute.typed, chute.null, chute.list

-- A table and what ClickHouse shows of it.
local ALIKE = {
  { {}, "{}" },
  { { a = 1 }, '{"a":1}' },
  { { a = -9007199254740992 }, '{"a":-9007199254740992}' },
  { { a = 9223372036854775807LL }, '{"a":9223372036854775807}' },
  { { a = -9223372036854775807LL - 1 }, '{"a":-9223372036854775808}' },
  { { a = 18446744073709551615ULL }, '{"a":18446744073709551615}' },
  { { a = 0.5 }, '{"a":0.5}' }, { { a = 1e300 }, '{"a":1e300}' }, { { a = 5e-324 }, '{"a":5e-324}' },
  { { a = 1e20 }, '{"a":100000000000000000000}' }, { { a = 2 ^ 60 }, '{"a":1152921504606847000}' },
  { { a = -0.0 }, '{"a":0}' },
  { { a = true }, '{"a":true}' }, { { a = false }, '{"a":false}' },
  { { a = "" }, '{"a":""}' }, { { a = "text" }, '{"a":"text"}' },
  { { a = "\0\1\31\127\b\f\n\r\t\"\\/" }, [[{"a":"\u0000\u0001\u001F]] .. "\127" .. [[\b\f\n\r\t\"\\\/"}]] },
  { { a = "é Ω 🚀 \u{ffff} \u{10ffff}" }, '{"a":"é Ω 🚀 \u{ffff} \u{10ffff}"}' },
  { { a = ("x"):rep(100000) }, '{"a":"' .. ("x"):rep(100000) .. '"}' },
  { { [""] = 1 }, '{"":1}' }, { { ["é\n"] = 1 }, '{"é\\n":1}' },
  { { a = NULL }, "{}" }, { { a = { b = NULL } }, "{}" }, { { a = {} }, "{}" },
  { { a = { b = { c = 1 } } }, '{"a":{"b":{"c":1}}}' }, { { ["a.b"] = 1 }, '{"a":{"b":1}}' },
  { { a = { ["b.c"] = { d = 1 } } }, '{"a":{"b":{"c":{"d":1}}}}' },
  { { [""] = { [""] = { a = 1 } } }, '{"":{"":{"a":1}}}' },
  { { a = list {} }, '{"a":[]}' }, { { a = { NULL, NULL } }, '{"a":[null,null]}' },
  { { a = { 1, 2, 3 } }, '{"a":[1,2,3]}' }, { { a = { 1, NULL, 2.5 } }, '{"a":[1,null,2.5]}' },
  { { a = { "x", NULL } }, '{"a":["x",null]}' }, { { a = { true, false } }, '{"a":[true,false]}' },
  { { a = { { 1 }, { 2, 3 } } }, '{"a":[[1],[2,3]]}' }, { { a = { list {}, { 1 } } }, '{"a":[[],[1]]}' },
  { { a = { 1, "x", NULL, { 2 }, { k = 1 } } }, '{"a":[1,"x",null,[2],{"k":1}]}' },
  { { a = { { b = 1, c = { d = 2 } }, { b = "x" }, {} } }, '{"a":[{"b":1,"c":{"d":2}},{"b":"x"},{}]}' },
  { { a = { { b = { { c = 1 } } } } }, '{"a":[{"b":[{"c":1}]}]}' },
  { { a = { NULL, { b = 1 } } }, '{"a":[null,{"b":1}]}' },
  { { a = { { b = 1, c = 2 }, { ["c"] = 3 } } }, '{"a":[{"b":1,"c":2},{"c":3}]}' },
  { chute.pairs { { "b", 1 }, { "a", { 2 } } }, '{"a":[2],"b":1}' },
}

-- Values that are refused in either way: the path in the message, and what it says.
local TWICE = " is a path of the JSON twice, or one that goes on from another"
local deep = {}
for _ = 1, 101 do deep = { a = deep } end
local BAD = {
  { { a = 1, ["a.b"] = 2 }, TWICE }, { { ["a.b"] = 1, a = { b = 2 } }, TWICE }, { { a = 1, ["a."] = 2 }, TWICE },
  { { ["a.b"] = 1, a = { b = { c = 1 } } }, TWICE }, { { ["a.b"] = NULL, a = { b = NULL } }, TWICE },
  { chute.pairs { { "a", 1 }, { "a", 1 } }, "['a'] (JSON): 'a'" .. TWICE },
  { { x = { { a = 1, ["a.b"] = 1 } } }, "v'['x'][1][" },
  { { [1] = 1, a = 2 }, "1 is no key of a JSON object: keys are text" },
  { { a = { [true] = 1 } }, "v'['a'][true] (JSON): true is no key of a JSON object: keys are text" },
  { { a = { 1, [3] = 3, x = 2 } }, " is no key of a JSON object: keys are text" },
  { { 1, 2 }, "a list of 2 is neither a table of keys and values nor JSON text" },
  { 5, "5 is neither a table" }, { true, "true is neither a table" }, { NULL, "NULL, and the column has neither" },
  { { a = print }, "v'['a'] (JSON): a function has no " },
  { { a = { print } }, "v'['a'][1] (JSON): a function has no " },
  { { a = io.stdout }, "v'['a'] (JSON): a userdata has no " }, { deep, "a table nested deeper than 100" },
}

-- Texts that are no JSON object for ClickHouse.
local NO_JSON = { "", "  ", "null", "[]", "5", '"x"', "{", "}", '{"a"}', '{"a":}', '{"a":1,}', '{"a":1 "b":2}',
  "{'a':1}", "{a:1}", '{"a":1}x', '{"a":1}{"b":1}', '{"a":01}', '{"a":1.}', '{"a":.5}', '{"a":+1}', '{"a":-}',
  '{"a":1e}', '{"a":0x1}', '{"a":nan}', '{"a":NaN}', '{"a":Infinity}', '{"a":tru}', '{"a":nul}', '{"a":TRUE}',
  '{"a":[1,]}', '{"a":[1 2]}', '{"a":[1}', '{"a":"x}', '{"a":"\\x"}', '{"a":"\\u12"}', '{"a":"\\ud800"}',
  '{"a":"\\udc00"}', '{"a":"\\ud800\\u0041"}', '{"a":"\255"}', '{"\255":1}', '{"a":"\237\160\128"}',
  '{"a":"\192\128"}', '{"a":"\t"}', '{"a":"\0"}', '{"a":1}\0', "\0", '{"a":18446744073709551616}',
  '{"a":-9223372036854775809}', '{"a":12345678901234567890123}', '{"a":1e400}', '{"a":-1e400}',
  '\239\187\191{"a":1}x', '{"a":1,"a":2}', '{"a":1,"a":null}', '{"a":{"b":1},"a.b":2}', '{"a":[{"b":1,"b":2}]}',
  '{"a\\u002eb":1,"a":{"b":2}}' }

local JSON_TEXTS = {
  { '{"a":1}', '{"a":1}' }, { ' \t\r\n{ "a" : 1 , "b" : [ 1 , 2 ] } \n', '{"a":1,"b":[1,2]}' }, { "{}", "{}" },
  { '{"a":-0}', '{"a":0}' }, { '{"a":1.5e3}', '{"a":1500}' }, { '{"a":1E-2}', '{"a":0.01}' },
  { '{"a":1e+2}', '{"a":100}' },
  { '{"a":18446744073709551615}', '{"a":18446744073709551615}' },
  { '{"a":"\\u0041\\ud83d\\ude80\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"}', [[{"a":"A🚀\"\\\/\b\f\n\r\té"}]] },
  { '{"\\u0061":"x"}', '{"a":"x"}' }, { '{"a":null,"b":[null,true,false]}', '{"b":[null,true,false]}' },
  { '{"a":{"b":{},"c":[{}]}}', '{"a":{"c":[{}]}}' },
}

describe("JSON in ClickHouse 26.5", function()
  local court
  setup(function() court = judge.new "26.5" end)
  teardown(function() court:drop() end)

  local function buffer(way, kind)
    return chute.buffer { format = "RowBinary", columns = { { "v", kind or "JSON", json = way } } }
  end

  -- What of the values arrives, a text each.
  local function arrive(way, values, kind, show)
    local buf = buffer(way, kind)
    for i, value in ipairs(values) do
      local ok, err = buf:add_row { value }
      assert(ok, i .. ": " .. tostring(err))
    end
    local name = court:insert(buf)
    return court:lines(("SELECT %s FROM %s FORMAT TSVRaw --"):format(show or "v", name)), name
  end

  for _, way in ipairs { "text", "paths" } do
    describe("sent as " .. way, function()
      it("arrives", function()
        local values, wanted = {}, {}
        for i, pair in ipairs(ALIKE) do values[i], wanted[i] = pair[1], pair[2] end
        assert.same(wanted, (arrive(way, values)))
      end)

      it("arrives from text", function()
        local values, wanted = {}, {}
        for i, pair in ipairs(JSON_TEXTS) do values[i], wanted[i] = pair[1], pair[2] end
        assert.same(wanted, (arrive(way, values)))
      end)

      it("arrives inside of other types", function()
        local show = "toString(v)"
        assert.same({ [=[['{"a":1}','{}']]=] }, (arrive(way, { { { a = 1 }, {} } }, "Array(JSON)", show)))
        assert.same({ [=[('{"a":1}',7)]=] }, (arrive(way, { { { a = 1 }, 7 } }, "Tuple(JSON, UInt8)", show)))
        assert.same({ [=[{'k':'{"a":1}'}]=] }, (arrive(way, { { k = { a = 1 } } }, "Map(String, JSON)", show)))
        assert.same({ [=[{"a":1}]=], "\\N" }, (arrive(way, { { a = 1 }, NULL }, "Nullable(JSON)", "v")))
        assert.same({ [=[{"a":1}]=], "5", "\\N" }, (arrive(way, { { a = 1 }, 5, NULL }, "Variant(JSON, UInt8)", "v")))
      end)

      it("arrives at typed paths", function()
        local kind = "JSON(a UInt8, b.c DateTime('UTC'), d Nullable(String), e Map(String, UInt8), "
          .. "f Tuple(x UInt8, y String), g Array(Array(UInt8)))"
        local empty = '"b":{"c":"1970-01-01 00:00:00"},"d":null,"e":{},"f":{"x":0,"y":""},"g":[]'
        assert.same({
          '{"a":7,"b":{"c":"2024-01-02 03:04:05"},"d":"x","e":{"k":1},"f":{"x":1,"y":"z"},"g":[[1],[]],'
            .. '"h":"more"}',
          '{"a":0,' .. empty .. "}", '{"a":1,' .. empty .. "}",
        }, (arrive(way, {
          { a = 7, b = { c = "2024-01-02 03:04:05" }, d = "x", e = { k = 1 }, f = { x = 1, y = "z" },
            g = { { 1 }, list {} }, h = "more" },
          {}, { a = 1, ["b.c"] = "1970-01-01 00:00:00", d = NULL },
        }, kind)))
      end)

      it("leaves skipped paths to the server", function()
        local value = { a = 1, b = 2, c = { d = 1, e = { f = "x" } }, x1 = 1, ["g.h.i"] = 1, g = { hh = 2 } }
        assert.same({ '{"a":1,"g":{"hh":2}}' }, (arrive(way, { value },
          "JSON(SKIP b, SKIP c, SKIP g.h, SKIP REGEXP 'x.*')")))
      end)

      it("is refused where the server would refuse the whole INSERT, or take it for something else", function()
        for i, pair in ipairs(BAD) do
          local buf = buffer(way)
          assert(buf:add_row { { a = 1 } })
          local bytes = buf:tostring()
          local ok, err = buf:add_row { pair[1] }
          assert.is_nil(ok, i .. " is accepted")
          assert.is_truthy(tostring(err):find(pair[2], 1, true), i .. ": " .. tostring(err))
          assert.equal(bytes, buf:tostring())
        end
      end)

      it("is refused from text that is none, as the server would", function()
        local buf = buffer(way)
        for _, text in ipairs(NO_JSON) do
          local ok, err = buf:add_row { text }
          assert.is_nil(ok, text .. " is accepted")
          assert.is_truthy(tostring(err):find "no JSON object" or
            tostring(err):find "is a path of the JSON twice", tostring(err))
        end
        assert.equal(0, buf.rows)
      end)
    end)
  end

  it("is refused by the server too where it is refused as text", function()
    local name = court:create { columns = { { name = "v", type = "JSON" } } }
    for _, text in ipairs(NO_JSON) do
      local ok = pcall(court.send, court, name, "RowBinary", string.char(#text) .. text, true)
      -- one that it takes: {}
      assert.equal(text == "null", ok, text)
    end
  end)

  it("is refused as text where it is no UTF-8, or a number that JSON has not", function()
    local buf = buffer "text"
    for _, value in ipairs { { a = "\255" }, { ["\255"] = 1 }, { a = { b = "\237\160\128" } }, { a = 0 / 0 },
      { a = { 1 / 0 } } } do
      local ok, err = buf:add_row { value }
      assert.is_nil(ok)
      assert.is_truthy(tostring(err):find "is no UTF%-8, which text in JSON must be" or
        tostring(err):find "is no number that JSON has", tostring(err))
    end
  end)

  it("gets the same types at the same paths either way", function()
    -- One by one: what a server makes of a text depends on those before it.
    for _, pair in ipairs(ALIKE) do
      local show = "mapSort(JSONAllPathsWithTypes(v))"
      assert.same((arrive("text", { pair[1] }, nil, show)), (arrive("paths", { pair[1] }, nil, show)))
    end
  end)

  it("keeps the types that values name, as paths alone", function()
    local values = { { a = typed("Date", "2024-01-02"), b = typed("Float64", 5), c = typed("Array(UInt8)", { 1 }),
      d = typed("UInt8", NULL), e = { typed("UInt8", 1), "x" } } }
    local show = "mapSort(JSONAllPathsWithTypes(v))"
    assert.same({ "{'a':'Date','b':'Float64','c':'Array(UInt8)','e':'Array(Dynamic)'}" },
      (arrive("paths", values, nil, show)))
    assert.same({ '{"a":"2024-01-02","b":5,"c":[1],"e":[1,"x"]}' }, (arrive("text", values)))
  end)

  it("keeps bytes that are no UTF-8, as paths alone", function()
    assert.same({ "FF00" }, (arrive("paths", { { a = "\255\0" } }, nil, "hex(v.a::String)")))
  end)

  it("is the same bytes as the server's, as paths", function()
    local buf = chute.buffer { format = "RowBinary", columns = { { "v", "JSON", json = "paths" } } }
    for _, pair in ipairs(ALIKE) do
      local several = pair[2]:find(',"', 1, true) -- keys, whose order is the server's
      if not several then assert(buf:add_row { pair[1] }) end
    end
    court:check_bytes(court:insert(buf), buf)
  end)

  it("arrives through a stream and a pool, which tell the server how it goes", function()
    for _, way in ipairs { "text", "paths" } do
      local name = court:create { columns = { { name = "v", type = "JSON" } } }
      local def = { table = court.db.name .. "." .. name, columns = { { "v", "JSON", json = way } },
        settings = { input_format_binary_read_json_as_string = way == "text" and 0 or nil } }
      local stream = chute.open { url = court.db.url, schema = def }
      assert(stream:insert { v = { a = { b = 1 } } })
      assert(stream:close())
      local pool = chute.pool { url = court.db.url }
      local buf = chute.buffer(def)
      assert(buf:add_row { v = { a = { b = 2 } } })
      assert(pool:insert(buf))
      pool:close()
      assert.same({ '{"a":{"b":1}}', '{"a":{"b":2}}' },
        court:lines(("SELECT v FROM %s ORDER BY v.a.b::UInt8"):format(name)))
    end
  end)

  it("has defaults", function()
    for _, way in ipairs { "text", "paths" } do
      local buf = chute.buffer { format = "RowBinary", columns = { { "n", "UInt8" },
        { "v", "JSON", json = way, default = { a = { ("y"):rep(3000), "\n" } } } } }
      assert(buf:add_row { 1 })
      assert.same({ '{"a":["' .. ("y"):rep(3000) .. '","\\n"]}' },
        court:lines(("SELECT v FROM %s FORMAT TSVRaw --"):format(court:insert(buf))))
    end
  end)

  it("finds room for what is much longer written than given", function()
    for _, way in ipairs { "text", "paths" } do
      local key, value = ("k"):rep(1000), {}
      for i = 1, 300 do value[key .. i] = ("\1"):rep(200) end
      local row = { { [key] = { [key] = value } } }
      local buf = buffer(way)
      for i = 1, 20 do assert(buf:add_row(row), i) end
      local name = court:insert(buf)
      assert.same({ "20\t300" }, court:lines(("SELECT count(), any(length(JSONAllPaths(v))) FROM %s"):format(name)))
      local small = chute.buffer({ format = "RowBinary", columns = { { "v", "JSON", json = way } } }, { bytes = 5000 })
      local ok, err = small:add_row(row)
      assert.is_nil(ok)
      assert.is_truthy(tostring(err):find "^row 1 is larger", tostring(err))
      assert(small:add_row { { a = 1 } })
    end
  end)
end)
