-- Rows from Lua: by name, by position, absent and null values, lists, computed columns, metatables;
-- strings that the collector would like to have; and that all this compiles.

local cjson = require "cjson"
local chute = require "chute"

local function schema_of(columns, more)
  local def = { columns = columns, format = "RowBinary" }
  for key, value in pairs(more or {}) do def[key] = value end
  return chute.schema(def)
end

-- The bytes of one row; or nil and the message.
local function encode(schema, row)
  local bytes, err = schema:encode(row)
  return bytes, err and tostring(err)
end

local function refuses(message, schema, row)
  local bytes, text = encode(schema, row)
  assert.same({ nil, "row 1, " .. message }, { bytes, text })
end

describe("a row", function()
  local AB = { { "a", "UInt8" }, { "b", "String" } }
  local ab = schema_of(AB)

  it("goes by name or by position", function()
    assert.equal("\97\1x", encode(ab, { a = 97, b = "x" }))
    assert.equal("\97\1x", encode(ab, { 97, "x" }))
    assert.equal("\97\1x", encode(ab, { a = 97, b = "x", other = true }))
    assert.equal("\97\1x", encode(ab, { 97, "x", other = true }))
  end)

  it("has no value where a position is nil", function()
    local schema = schema_of { { "a", "UInt8", default = 1 }, { "b", "Nullable(String)" },
      { "c", "UInt8", default = 3 } }
    assert.equal("\1\1\9", encode(schema, { nil, nil, 9 }))
    assert.equal("\1\0\1x\3", encode(schema, { nil, "x" }))
    assert.equal("\7\1\3", encode(schema, { 7, nil }))
    assert.equal("\7\1\9", encode(schema, { 7, nil, 9 }))
    assert.equal("\1\1\3", encode(schema, {}))
    refuses("column 'a' (UInt8): no value, and the column has neither a default nor NULL", ab, {})
    refuses("column 'a' (UInt8): no value, and the column has neither a default nor NULL", ab, { nil, "x" })
    refuses("column 'b' (String): no value, and the column has neither a default nor NULL", ab, { 1 })
  end)

  it("of both forms is refused", function()
    refuses("a row by position that also has the key 'b'", ab, { 97, b = "x" })
    refuses("a row by position that also has the key 'a'", ab, { 97, "x", a = 97 })
    refuses("a row by position that also has the key 'a'", ab, { [1] = 97, a = 1 })
    local row = { a = 1, c = 1, d = 1 }
    row[1] = 97
    refuses("a row by position that also has the key 'a'", ab, row)
  end)

  it("with a position past the columns is refused", function()
    refuses("position 3 of a row of 2 columns", ab, { 97, "x", 1 })
    refuses("position 3 of a row of 2 columns", ab, { 97, nil, 1 })
    refuses("position 0 of a row of 2 columns", ab, { [0] = 5, 97, "x" })
    refuses("position 7 of a row of 2 columns", ab, { 97, "x", [7] = 1 })
    refuses("position 1.5 of a row of 2 columns", ab, { 97, "x", [1.5] = 1 })
    refuses("position -1 of a row of 2 columns", ab, { [-1] = 1 })
  end)

  it("is a table", function()
    for _, row in ipairs { 5, "x", true, print } do refuses("a row is a table, not a " .. type(row), ab, row) end
    refuses("a row is a table, not a nil", ab, nil)
  end)

  it("keeps its positions anywhere in the table", function()
    assert.equal("\97\1x", encode(ab, { [2] = "x", [1] = 97 }))
    local row = { z = 1, y = 2, x = 3 }
    row[2], row[1] = "x", 97
    assert.equal("\97\1x", encode(ab, row))
  end)

  it("of booleans counts false as a value", function()
    local schema = schema_of { { "a", "Bool" }, { "b", "Bool", default = true } }
    assert.equal("\0\0", encode(schema, { a = false, b = false }))
    assert.equal("\0\1", encode(schema, { false }))
    assert.equal("\0\1", encode(schema, { a = false }))
  end)
end)

describe("absent and null values", function()
  local schema = schema_of {
    { "plain", "UInt8" }, { "given", "UInt8", default = 5 }, { "maybe", "Nullable(UInt8)" },
    { "both", "Nullable(UInt8)", default = 6 }, { "low", "LowCardinality(Nullable(String))" },
    { "list", "Array(UInt8)", default = { 1, 2 } }, { "pair", "Tuple(UInt8, String)", default = { 9, "z" } },
  }
  local REST = "\2\1\2\9\1z"

  it("have the default, else NULL", function()
    assert.equal("\1\5\1\0\6\1" .. REST, encode(schema, { plain = 1 }))
  end)

  it("tell NULL apart where the column may hold it", function()
    for name, null in pairs { chute = chute.null, cjson = cjson.null, decoded = cjson.decode "[null]"[1] } do
      assert.equal("\1\5\1\1\1" .. REST,
        encode(schema, { plain = 1, given = null, maybe = null, both = null, low = null, list = null,
          pair = null }), name)
      refuses("column 'plain' (UInt8): NULL, and the column has neither a default nor NULL", schema, { plain = null })
    end
  end)

  it("take no other userdata for NULL", function()
    refuses("column 'plain' (UInt8): a userdata is not an integer", schema, { plain = newproxy() })
    refuses("column 'plain' (UInt8): a userdata is not an integer", schema, { plain = io.stdout })
  end)

  it("take the place of a list's elements only as NULL", function()
    local lists = schema_of { { "v", "Array(Nullable(UInt8))" } }
    assert.equal("\3\0\1\1\0\3", encode(lists, { v = { 1, chute.null, 3 } }))
    assert.equal("\2\1\1", encode(lists, { v = cjson.decode "[null, null]" }))
  end)
end)

describe("a list", function()
  local lists = schema_of { { "v", "Array(Nullable(UInt8))" } }
  local GAP = "column 'v' (Array(Nullable(UInt8))): a table with a nil inside or with other keys is not a list"

  it("has the length n, or its border", function()
    assert.equal("\0", encode(lists, { v = {} }))
    assert.equal("\0", encode(lists, { v = { n = 0 } }))
    assert.equal("\2\0\1\0\2", encode(lists, { v = { 1, 2 } }))
    assert.equal("\2\0\1\0\2", encode(lists, { v = { 1, 2, n = 2 } }))
    assert.equal("\1\0\1", encode(lists, { v = { 1, 2, n = 1 } }))
    assert.equal("\0", encode(lists, { v = { 1, 2, n = 0 } }))
  end)

  it("with a nil inside is refused", function()
    local NIL = "column 'v'[2] (Array(Nullable(UInt8))): no value inside a list: NULL is chute.null"
    refuses(NIL, lists, { v = { 1, nil, 3, n = 3 } })
    refuses(NIL, lists, { v = { 1, nil, n = 2 } })
    assert.is_nil(lists:encode { v = { 1, nil, 3 } }) -- either message: the border may be 1 or 3
    assert.is_nil(lists:encode { v = { nil, 2 } })
    refuses(NIL, lists, { v = { 1, n = 3 } })
    refuses(GAP, lists, { v = { [1] = 1, [3] = 3 } })
    refuses(GAP, lists, { v = { [2] = 1 } })
  end)

  it("with other keys is refused", function()
    for _, v in ipairs { { a = 1 }, { 1, 2, a = 1 }, { [0] = 1, 2 }, { [1.5] = 1 }, { n = "2" }, { n = -1 },
      { n = 0.5 },
      { n = 2 ^ 40 }, { n = 0 / 0 } } do refuses(GAP, lists, { v = v }) end
  end)

  it("keeps its positions anywhere in the table", function()
    local v = { [3] = 3, [2] = 2, [1] = 1 }
    assert.equal("\3\0\1\0\2\0\3", encode(lists, { v = v }))
    v = { a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8 }
    for key in pairs(v) do v[key] = nil end
    for k = 5, 1, -1 do v[k] = k end
    assert.equal("\5\0\1\0\2\0\3\0\4\0\5", encode(lists, { v = v }))
  end)

  it("of many elements grows the cells", function()
    local v, wanted = {}, {}
    for k = 1, 5000 do v[k], wanted[k] = k % 200, "\0" .. string.char(k % 200) end
    assert.equal("\136\39" .. table.concat(wanted), encode(lists, { v = v }))
    local deep = schema_of { { "v", "Array(Array(UInt8))" }, { "w", "String" } }
    local bytes = encode(deep, { v = { v, {}, v }, w = "end" })
    assert.equal(1 + 2 * 5002 + 1 + 4, #bytes)
    assert.equal("\3end", bytes:sub(-4))
  end)
end)

describe("a tuple", function()
  local tuples = schema_of { { "v", "Tuple(a UInt8, b Nullable(String))" } }

  it("goes by name or by position", function()
    assert.equal("\1\0\1x", encode(tuples, { v = { a = 1, b = "x" } }))
    assert.equal("\1\0\1x", encode(tuples, { v = { 1, "x" } }))
    assert.equal("\1\1", encode(tuples, { v = { 1 } }))
    assert.equal("\1\1", encode(tuples, { v = { a = 1 } }))
    assert.equal("\1\1", encode(tuples, { v = { 1, chute.null } }))
  end)

  it("of another size or form is refused", function()
    local OF = "column 'v' (Tuple(a UInt8, b Nullable(String))): "
    refuses(OF .. "a list of 3 where 2 elements are needed", tuples, { v = { 1, "x", 3 } })
    refuses(OF .. "'x' is not a tuple", tuples, { v = "x" })
    refuses("column 'v'.a (Tuple(a UInt8, b Nullable(String))): no value where a value of UInt8 is needed",
      tuples, { v = { b = "x" } })
  end)
end)

describe("columns", function()
  it("are read from another key", function()
    local schema = schema_of { { "a", "UInt8", from = "Key A" }, { "b", "UInt8", from = "a" } }
    assert.equal("\1\2", encode(schema, { ["Key A"] = 1, a = 2 }))
    assert.equal("\1\2", encode(schema, { 1, 2 }))
    local twice = schema_of { { "a", "UInt8", from = "x" }, { "b", "String", from = "x" } }
    assert.equal("\7\0017", encode(twice, { x = 7 }))
  end)

  it("are computed from the row as it came", function()
    local schema = schema_of {
      { "a", "String" }, { "up", "String", value = function(row) return row.a:upper() .. (row.more or "") end },
      { "list", "Array(String)", value = function(row) return { row.a .. "1", row.a .. "2" } end },
      { "none", "UInt8", default = 4, value = function() end },
    }
    assert.equal("\1x\1X\2\2x1\2x2\4", encode(schema, { a = "x" }))
    assert.equal("\1x\2X!\2\2x1\2x2\4", encode(schema, { a = "x", more = "!" }))
    local behind = setmetatable({}, { __index = { a = "x", more = "?" } })
    assert.equal("\1x\2X?\2\2x1\2x2\4", encode(schema, behind))
  end)

  it("that throw nothing, or a word of ours, refuse the row all the same", function()
    for _, thrown in ipairs { "nil", "filtered" } do
      local schema = schema_of { { "a", "UInt8" }, { "b", "Nullable(UInt8)", value = function()
        error(thrown ~= "nil" and thrown or nil, 0)
      end } }
      local buf = chute.buffer(schema)
      local ok, err = buf:add_row { a = 1 }
      assert.is_nil(ok)
      assert.equal("row 1, column 'b': " .. thrown, err.message)
      assert.equal(0, buf.rows)
    end
  end)

  it("that let another row through their own schema refuse theirs, and spoil neither", function()
    local inner
    local schema = schema_of { { "a", "UInt8" }, { "b", "UInt8", value = function(row)
      if row.a == 1 then assert(inner:add_row { a = 9 }) end
      return row.a + 1
    end } }
    inner = chute.buffer(schema)
    local bytes, err = schema:encode { a = 1 }
    assert.is_nil(bytes)
    assert.matches("let another row through its schema", err.message)
    assert.equal(1, inner.rows)
    assert.equal("\2\3", (schema:encode { a = 2 }))
  end)

  it("that yield and are left leave the schema as it was", function()
    local schema = schema_of { { "a", "UInt8" }, { "b", "UInt8", value = function(row)
      if row.a == 1 then coroutine.yield() end
      return 7
    end } }
    coroutine.resume(coroutine.create(function() return schema:encode { a = 1 } end))
    assert.equal("\2\7", (schema:encode { a = 2 }))
  end)

  it("may change their row: what is encoded is reachable", function()
    local schema = schema_of { { "a", "String" }, { "b", "UInt8", value = function(row)
      row.a = row.a .. "!"
      collectgarbage()
      return 7
    end } }
    local buf = chute.buffer(schema)
    for i = 1, 50 do assert(buf:add_row { a = ("value number %d"):format(i) }) end
    local text = buf:tostring()
    for i = 1, 50 do assert.truthy(text:find(("value number %d!\7"):format(i), 1, true)) end
  end)

  it("and metatables of nested values too", function()
    local schema = schema_of { { "s", "String" }, { "l", "Array(String)" } }
    local buf = chute.buffer(schema)
    local function nosy(during)
      return setmetatable({ n = 1 }, { __index = function()
        during()
        return "x"
      end })
    end
    local ok, err = buf:add_row { s = "outer", l = nosy(function() assert(buf:add_row { s = "inner", l = {} }) end) }
    assert.is_nil(ok)
    assert.matches("let another row through its schema", err.message)
    assert.equal(1, buf.rows)
    local row = { s = ("long text %d"):format(7) }
    row.l = nosy(function()
      row.s = nil
      collectgarbage()
      collectgarbage()
    end)
    assert(buf:add_row(row))
    assert.truthy(buf:tostring():find("long text 7\1\1x", 1, true))
  end)

  it("whose function throws refuse the row", function()
    local schema = schema_of { { "a", "UInt8" }, { "b", "UInt8", value = function(row) return row.x.y end } }
    local bytes, text = encode(schema, { a = 1 })
    assert.is_nil(bytes)
    assert.matches("^row 1, column 'b': spec/row_spec.lua:%d+: attempt to index", text)
    assert.equal("\1\2", encode(schema, { a = 1, x = { y = 2 } }))
  end)

  it("go through map first", function()
    local schema = schema_of({ { "a", "UInt8" } }, { map = function(event)
      if event == "throw" then error("odd event", 0) end
      if event.skip then return nil end
      if event.odd then return event.odd end
      return { a = event.value + 1 }
    end })
    assert.equal("\6", encode(schema, { value = 5 }))
    assert.same({ nil, "filtered" }, { encode(schema, { skip = true }) })
    refuses("map returned a number, not a row", schema, { odd = 7 })
    refuses("map: odd event", schema, "throw")
    refuses("a row by position that also has the key 'a'", schema, { odd = { 1, a = 1 } })
  end)
end)

describe("a strict schema", function()
  local schema = schema_of({ { "a", "UInt8", from = "x" }, { "b", "UInt8", value = function() return 2 end } },
    { strict = true })

  it("refuses keys that no column is read from", function()
    assert.equal("\1\2", encode(schema, { x = 1 }))
    assert.equal("\1\2", encode(schema, { 1 }))
    refuses("unknown key 'y'", schema, { x = 1, y = 2 })
    refuses("unknown key 'a'", schema, { x = 1, a = 2 })
    refuses("unknown key 'b'", schema, { x = 1, b = 2 })
    refuses("unknown key 'y'", schema, { y = 2 })
    refuses("unknown key 'y'", schema, { 1, y = 2 })
    refuses("unknown key 'true'", schema, { x = 1, [true] = 2 })
    refuses("unknown key 'y'", schema, setmetatable({ y = 2 }, { __index = { x = 1 } }))
  end)
end)

describe("metatables", function()
  it("may make up a row's values", function()
    local schema = schema_of { { "a", "String" }, { "b", "UInt8", default = 1 }, { "c", "Array(String)" } }
    local fresh = setmetatable({}, { __index = function(_, key)
      if key == "a" then return "fresh" .. tostring(key) end
      if key == "c" then return { "x" .. key } end
    end })
    assert.equal("\6fresha\1\1\2xc", encode(schema, fresh))
    assert.equal("\1p\2\0", encode(schema, setmetatable({ "p", 2, {} }, { __index = {} })))
    assert.equal("\1p\2\0", encode(schema, setmetatable({ a = "p", b = 2, c = {} }, { __metatable = false })))
  end)

  it("may make up a list's or a tuple's", function()
    local schema = schema_of { { "v", "Array(String)" }, { "t", "Tuple(x String, y UInt8)" } }
    local list = setmetatable({ n = 3 }, { __index = function(_, k) return "e" .. k end })
    local tuple = setmetatable({}, { __index = function(_, key) return ({ x = "X" .. key, y = 7 })[key] end })
    assert.equal("\3\2e1\2e2\2e3\2Xx\7", encode(schema, { v = list, t = tuple }))
  end)
end)

-- ---- memory --------------------------------------------------------------------------------------

describe("strings", function()
  local ROWS = 20000

  local function text(s) return string.char(#s) .. s end

  -- Encodes { i = 1 } to { i = ROWS } while the collector runs all the time, then looks at every
  -- row. wanted(i): its bytes.
  local function check(schema, wanted)
    local buf = chute.buffer(schema)
    local pause, step = collectgarbage("setpause", 50), collectgarbage("setstepmul", 1000)
    for i = 1, ROWS do assert(buf:add_row { i = i }) end
    collectgarbage("setpause", pause)
    collectgarbage("setstepmul", step)
    local bytes, at = buf:tostring(), 1
    for i = 1, ROWS do
      local row = wanted(i)
      if bytes:sub(at, at + #row - 1) ~= row then error("row " .. i .. " is not what was written") end
      at = at + #row
    end
    assert.equal(#bytes, at - 1)
  end

  it("that functions make live until their row is written", function()
    check(schema_of({
      { "a", "String", value = function(row) return "a" .. row.i end },
      { "b", "Array(String)", value = function(row) return { "b" .. row.i, "c" .. row.i } end },
      { "m", "Map(String, String)", value = function(row) return { ["k" .. row.i] = "v" .. row.i } end },
      { "d", "String" }, { "e", "Array(String)" }, { "f", "String",
        value = function(row) return ("f"):rep(row.i % 90) end },
    }, { map = function(event)
      return { i = event.i, d = "d" .. event.i, e = { "e" .. event.i, "f" .. event.i } }
    end }), function(i)
      return text("a" .. i) .. "\2" .. text("b" .. i) .. text("c" .. i) .. "\1" .. text("k" .. i) .. text("v" .. i)
        .. text("d" .. i) .. "\2" .. text("e" .. i) .. text("f" .. i) .. text(("f"):rep(i % 90))
    end)
  end)

  it("that metatables make live until their row is written", function()
    local function proxy(n, make) return setmetatable({ n = n },
      { __index = function(_, key) return make(key) end }) end
    local function garbage(row) return tostring(row):sub(1, 0) .. "Z" end
    check(schema_of({ { "d", "String" }, { "e", "Array(String)" }, { "t", "Tuple(x String, y String)" },
      { "z", "String", value = garbage }, { "zz", "String", value = garbage } }, { map = function(event)
        local i = event.i
        return proxy(nil, function(key)
          if key == "d" then return "d" .. i end
          if key == "e" then return proxy(2, function(k) return "e" .. k .. "." .. i end) end
          if key == "t" then return proxy(nil, function(name) return name .. i end) end
        end)
      end }), function(i)
      return text("d" .. i) .. "\2" .. text("e1." .. i) .. text("e2." .. i) .. text("x" .. i) .. text("y" .. i)
        .. text "Z" .. text "Z"
    end)
  end)

  it("are not copied, nor is anything else, a row", function()
    local schema = schema_of { { "a", "Int64" }, { "b", "String" }, { "c", "Array(String)" },
      { "d", "Map(String, UInt8)" },
      { "e", "Tuple(x UInt8, y Nullable(String))" }, { "f", "DateTime" }, { "g", "UInt64" },
        { "h", "Nullable(UInt8)" } }
    local row = { a = 1, b = "x", c = { "y", "z" }, d = { k = 1 }, e = { x = 1, y = chute.null },
      f = "2024-01-01 00:00:00",
      g = 18446744073709551615ULL, h = cjson.null }
    local buf = chute.buffer(schema)
    local function run(rows) for _ = 1, rows do buf:add_row(row) end end
    run(20000)
    collectgarbage()
    collectgarbage "stop"
    local before = collectgarbage "count"
    run(100000)
    local grown = collectgarbage "count" - before
    collectgarbage "restart"
    assert.equal(120000, buf.rows)
    assert.is_true(grown < 64, ("%.1f KiB for 100000 rows"):format(grown))
  end)
end)

-- ---- compiling -----------------------------------------------------------------------------------

-- Runs `work` with a fresh trace cache: how many traces were made, and the recordings that broke
-- off inside chute, as "times × where: why"; also those that end at a call of what does not compile.
local function watch(work)
  local vmdef, jutil = require "jit.vmdef", require "jit.util"
  local traces, aborts = 0, {}
  local function seen(what, trace, fn, pc, code, reason)
    if what == "stop" then
      traces = traces + 1
      if jutil.traceinfo(trace).linktype == "stitch" then
        aborts.stitched = (aborts.stitched or 0) + 1
      end
    end
    if what ~= "abort" then return end
    local where = jutil.funcinfo(fn, pc).loc or "a C function"
    if type(reason) == "function" then reason = jutil.funcinfo(reason).loc or "a C function" end
    local text = where .. ": " .. vmdef.traceerr[code]:format(reason)
    if where:find "chute" then aborts[text] = (aborts[text] or 0) + 1 end
  end
  jit.flush()
  jit.attach(seen, "trace")
  local ok, err = pcall(work)
  jit.attach(seen)
  assert(ok, err)
  local list = {}
  for text, times in pairs(aborts) do table.insert(list, times .. " × " .. text) end
  return traces, list
end

-- What a recording may break off for: another one starts where it matters, or it is tried again
-- (an "error thrown" is then the collector's step, run in the midst of it).
local PASSING = { "leaving loop in root trace", "inner loop in root trace", "retry recording", "loop unroll limit",
  "down%-recursion", "call unroll limit", "error thrown or hook called" }

local function lasting(aborts)
  local list = {}
  for _, text in ipairs(aborts) do
    local passes = false
    for _, pattern in ipairs(PASSING) do passes = passes or text:find(pattern) end
    if not passes then table.insert(list, text) end
  end
  return list
end

local KINDS = { "UInt64", "String", "Nullable(Int32)", "DateTime", "LowCardinality(String)", "Float64", "Bool", "UUID" }
local VALUES = { 5, "text", 7, "2024-01-01 00:00:00", "word", 0.5, true, "61f0c404-5cb3-11e7-907b-a6006ad3dba0" }

-- A buffer of `count` columns with defaults, and a row for it.
local function flat(count, map)
  local columns, row = {}, {}
  for i = 1, count do
    local k = (i - 1) % #KINDS + 1
    columns[i] = { "c" .. i, KINDS[k], default = VALUES[k] }
    row["c" .. i] = VALUES[k]
  end
  return chute.buffer { columns = columns, map = map }, row
end

describe("the insertion of rows compiles:", function()
  local function check(buf, rows, most)
    local count = #rows
    local traces, aborts = watch(function()
      for i = 1, 20000 do
        if i % 5000 == 0 then buf:reset() end
        local ok, err = buf:add_row(rows[i % count + 1])
        if not ok then error(err) end
      end
    end)
    assert.same({}, lasting(aborts))
    assert.is_true(traces >= 1 and traces <= most, traces .. " traces")
  end

  it("alike", function()
    for _, count in ipairs { 1, 8, 40, 200 } do
      local buf, row = flat(count)
      check(buf, { row }, 20)
    end
  end)

  it("by position", function()
    local buf = flat(8)
    check(buf, { VALUES }, 20)
  end)

  it("with cdata, nulls and booleans", function()
    local buf = chute.buffer { columns = { { "a", "UInt64" }, { "b", "Nullable(Int64)" }, { "c", "Nullable(Bool)" },
      { "d", "Nullable(String)" }, { "e", "Nullable(UInt8)" } } }
    check(buf, { { a = 1ULL, b = 5LL, c = true, d = cjson.null, e = chute.null },
      { a = 2, b = chute.null, c = false, d = "x", e = "7" }, { a = "3", c = 1, d = 5 } }, 60)
  end)

  it("nested", function()
    local buf = chute.buffer { columns = { { "a", "Array(String)" }, { "m", "Map(String, String)" },
      { "t", "Tuple(x UInt8, y Array(UInt8))" }, { "n", "Nullable(UInt8)" }, { "aa", "Array(Array(UInt8))" },
      { "l", "Map(UInt64, UInt8)" } } }
    check(buf, {
      { a = { "x", "y" }, m = { k = "v", l = "w" }, t = { x = 1, y = { 1, 2 } }, aa = { { 1 }, {}, { 2, 3 } },
        l = chute.pairs { { 1ULL, 2 } } },
      { a = {}, m = {}, t = { 1, {} }, n = 5, aa = {}, l = chute.pairs {} },
    }, 60)
  end)

  it("computed and mapped", function()
    local columns = { { "a", "UInt64" }, { "b", "String", value = function(row) return row.word end },
      { "c", "Array(UInt64)", value = function(row) return row.list end } }
    local buf = chute.buffer { columns = columns, map = function(event) return event.row end }
    check(buf, { { row = { a = 1, word = "x", list = { 1, 2 } } } }, 20)
  end)

  it("strictly", function()
    local buf = chute.buffer { columns = { { "a", "UInt64" }, { "b", "String" } }, strict = true }
    check(buf, { { a = 1, b = "x" } }, 20)
  end)

  it("with keys absent at random", function()
    math.randomseed(7)
    local buf, full = flat(40)
    local rows = {}
    for r = 1, 500 do
      rows[r] = {}
      for key, value in pairs(full) do
        if math.random(2) == 1 then rows[r][key] = value end
      end
      rows[r].c1 = 1
    end
    check(buf, rows, 60)
  end)

  it("with values of any kind at random", function()
    math.randomseed(11)
    local columns = {}
    for i = 1, 40 do columns[i] = { "c" .. i, "Nullable(Int64)" } end
    local buf, kinds, rows = chute.buffer { columns = columns }, { 5, "6", 7LL, 8ULL, chute.null, cjson.null }, {}
    for r = 1, 500 do
      rows[r] = { c1 = 1 }
      for i = 1, 40 do rows[r]["c" .. i] = kinds[math.random(#kinds + 1)] end
    end
    check(buf, rows, 200)
  end)
end)
