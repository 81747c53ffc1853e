-- Types: every spelling of spec/golden/types.txt, here and in ClickHouse 26.5.

local lib = require "chute.lib"
local server = require "spec.support.server"
local C, ffi = lib.C, lib.ffi

local err_t = ffi.typeof "chute_error"
local char_t = ffi.typeof "char[?]"

-- The type of a text, freed by the collector; nil and the error.
local function parse(text)
  local err = err_t()
  local type = C.chute_type_parse(text, #text, err)
  if type == nil then return nil, ffi.string(err.message), err end
  return ffi.gc(type, C.chute_type_free)
end

local function print_type(type)
  local len = tonumber(C.chute_type_print(type, nil, 0))
  local out = char_t(len + 1)
  assert.equal(len, tonumber(C.chute_type_print(type, out, len + 1)))
  return ffi.string(out)
end

local function canonical(text)
  local type, message = parse(text)
  return type and print_type(type) or "error: " .. message
end

-- { ["="] = list of { spelling, canonical }, ["!"] = …, ["+"] = …, ["-"] = … }
local function read_golden()
  local golden = { ["="] = {}, ["!"] = {}, ["+"] = {}, ["-"] = {} }
  for line in assert(io.open "spec/golden/types.txt"):lines() do
    local mark, spelling, answer = line:match "^([=!+-]) (.-)\t(.*)$"
    if mark then
      table.insert(golden[mark], { spelling, answer })
    else
      assert(line == "" or line:sub(1, 1) == "#", line)
    end
  end
  return golden
end

local golden = read_golden()

-- What a table of the server may have only where it is told so.
local SETTINGS = {
  allow_suspicious_low_cardinality_types = 1, allow_suspicious_fixed_string_types = 1,
  allow_suspicious_variant_types = 1, allow_experimental_nullable_tuple_type = 1,
  enable_time_time64_type = 1, allow_experimental_qbit_type = 1, flatten_nested = 0,
}

describe("a type", function()
  it("prints as the golden table says, and reads back as itself", function()
    assert.is_true(#golden["="] > 800)
    for _, mark in ipairs { "=", "+" } do
      for _, row in ipairs(golden[mark]) do
        assert.equal(row[2], canonical(row[1]), row[1])
        assert.equal(row[2], canonical(row[2]))
      end
    end
  end)

  it("is refused with the golden table's message", function()
    assert.is_true(#golden["!"] > 200)
    for _, mark in ipairs { "!", "-" } do
      for _, row in ipairs(golden[mark]) do
        local type, message, err = parse(row[1])
        assert.is_nil(type, row[1])
        assert.equal(row[2], message, row[1])
        assert.equal(C.CHUTE_E_SCHEMA, err.kind)
      end
    end
  end)

  it("nests 100 deep and no deeper", function()
    local function nested(n) return ("Array("):rep(n - 1) .. "Int8" .. (")"):rep(n - 1) end
    assert.equal(nested(100), canonical(nested(100)))
    local _, message = parse(nested(101))
    assert.equal("at byte 601: types nest at most 100 deep", message)
    local arrays = ("AggregateFunction(f(%s1%s), Int8)"):format(("["):rep(200), ("]"):rep(200))
    assert.matches("arrays nest too deep", select(2, parse(arrays)))
    local path = "JSON(a" .. (".a"):rep(100) .. " Int8)"
    assert.matches("a path of more than 100 parts", select(2, parse(path)))
  end)

  it("is at most a mebibyte of text", function()
    local blanks = (" "):rep(2 ^ 20 - 4)
    assert.equal("Int8", canonical(blanks .. "Int8"))
    assert.equal("error: a type of 1048577 bytes: at most 1048576 are taken", canonical(blanks .. " Int8"))
  end)

  it("takes any bytes for what they are", function()
    assert.equal("Enum8('\\0\255' = 1)", canonical "Enum8('\0\255' = 1)")
    assert.equal("error: at byte 5: the end of the type is wanted, not '\\x00'", canonical "Int8\0")
    assert.equal("error: at byte 1: a type is wanted, not '\\xFF'", canonical "\255")
    assert.equal("error: at byte 1: a type is wanted, not the end of the text", canonical "")
    local long = ("x"):rep(100000)
    assert.equal("error: at byte 1: unknown type '" .. ("x"):rep(64) .. "'…", canonical(long))
  end)

  it("is cut to the room there is, and tells how long it is", function()
    local type = parse "Array(String)"
    local out = char_t(8, "*******")
    assert.equal(13, tonumber(C.chute_type_print(type, out, 6)))
    assert.equal("Array", ffi.string(out))
    assert.equal(("*"):byte(), out[6])
  end)

  it("tells its children and their names", function()
    local tuple = parse "Tuple(a UInt8, `b c` Array(String))"
    assert.equal(C.CHUTE_TYPE_TUPLE, C.chute_type_kind(tuple))
    assert.equal(2, tonumber(C.chute_type_count(tuple)))
    assert.equal("b c", ffi.string(C.chute_type_child_name(tuple, 1)))
    local array = C.chute_type_child(tuple, 1)
    assert.equal(C.CHUTE_TYPE_ARRAY, C.chute_type_kind(array))
    assert.equal(C.CHUTE_TYPE_STRING, C.chute_type_kind(C.chute_type_child(array, 0)))
    assert.is_true(C.chute_type_child_name(array, 0) == nil)
    assert.is_true(C.chute_type_child(tuple, 2) == nil)
    assert.is_true(C.chute_type_child_name(tuple, 2) == nil)
  end)

  it("that stands for others has their shape", function()
    local function shape(type)
      local parts = {}
      for i = 0, tonumber(C.chute_type_count(type)) - 1 do parts[#parts + 1] = shape(C.chute_type_child(type, i)) end
      local own = C.chute_type_count(type) == 0 and print_type(type) or ""
      return own .. (#parts > 0 and "[" .. table.concat(parts, " ") .. "]" or "")
    end
    assert.equal("[Float64 Float64]", shape(parse "Point"))
    assert.equal("[[Float64 Float64]]", shape(parse "LineString"))
    assert.equal("[[[[Float64 Float64]]]]", shape(parse "MultiPolygon"))
    assert.equal(6, tonumber(C.chute_type_count(parse "Geometry")))
    assert.equal(C.CHUTE_TYPE_POINT, C.chute_type_kind(C.chute_type_child(parse "Geometry", 3)))
  end)

  it("may be freed when it is none", function() C.chute_type_free(nil) end)
end)

describe("ClickHouse 26.5", function()
  local db
  setup(function() db = server.shared.chdb():database() end)
  teardown(function() db:drop() end)

  local function create(columns)
    return db:request("CREATE OR REPLACE TABLE t (" .. columns .. "\n) ENGINE = Memory", { params = SETTINGS })
  end

  -- Columns x1 … of the spellings from `first` on; what the server calls their types.
  local function stored(rows, first, last)
    local columns = {}
    for i = first, last do columns[#columns + 1] = ("x%d %s\n"):format(i, rows[i][1]) end
    local answer = create(table.concat(columns, ", "))
    assert.equal(200, answer.status, answer.body)
    return db:query("SELECT type FROM system.columns WHERE database = currentDatabase() AND table = 't' "
      .. "ORDER BY position FORMAT RowBinary")
  end

  -- RowBinary of one string: LEB128 length, bytes.
  local function row_binary(text)
    local n, out = #text, ""
    while n >= 128 do out, n = out .. string.char(n % 128 + 128), math.floor(n / 128) end
    return out .. string.char(n) .. text
  end

  it("prints every spelling as we do", function()
    local rows = golden["="]
    for first = 1, #rows, 100 do
      local last, wanted = math.min(first + 99, #rows), {}
      for i = first, last do wanted[#wanted + 1] = row_binary(rows[i][2]) end
      assert.equal(table.concat(wanted), stored(rows, first, last))
    end
  end)

  it("refuses what we refuse", function()
    for _, mark in ipairs { "!", "+" } do
      for _, row in ipairs(golden[mark]) do
        assert.is_truthy(create("x " .. row[1]).code, row[1])
      end
    end
  end)

  it("takes what the golden table says that only it takes", function()
    for _, row in ipairs(golden["-"]) do
      assert.is_nil(create("x " .. row[1]).code, row[1])
    end
  end)

  it("has no family that we do not know", function()
    local names = db:query "SELECT name, case_insensitive FROM system.data_type_families FORMAT TSV"
    local count = 0
    for name, folded in names:gmatch "([^\n\t]+)\t(%d)\n" do
      assert.not_matches("unknown type", canonical(name))
      if folded == "1" then
        assert.not_matches("unknown type", canonical(name:lower()))
        assert.not_matches("unknown type", canonical(name:upper()))
      end
      count = count + 1
    end
    assert.is_true(count > 100)
  end)
end)
