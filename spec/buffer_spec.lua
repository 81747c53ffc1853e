-- Buffers: rows in, bytes out; the ceiling; reuse; compression, judged by ClickHouse.

local chute = require "chute"
local ffi = require "ffi"
local golden = require "spec.support.golden"
local judge = require "spec.support.judge"
local lib = require "chute.lib"

local ROW = { format = "RowBinary", columns = { { "a", "String" } } }

local function fill(buf, rows, bytes)
  for _ = 1, rows do assert(buf:add_row { ("x"):rep(bytes - 1) }) end
end

local function failure(buf, row)
  local ok, err = buf:add_row(row)
  assert.is_nil(ok)
  return err
end

describe("a buffer", function()
  local TWO = { columns = { { "a", "Int64" }, { "b", "String" } } }

  it("counts its rows and bytes", function()
    local buf = chute.buffer(TWO)
    assert.same({ 0, 18 }, { buf.rows, #buf })
    assert.is_true(buf:add_row { 97, "a" })
    assert.same({ 1, 28 }, { buf.rows, #buf })
    assert.equal(#buf, #buf:tostring())
    assert.equal("chute.buffer: 1 rows, RowBinaryWithNamesAndTypes", tostring(buf))
    golden.check("two_columns", (function()
      buf:add_rows { { 98, "b" }, { 99, "c" }, { 100, "d" } }
      return buf:tostring()
    end)())
  end)

  it("adds rows one by one and tells of those it did not take", function()
    local buf = chute.buffer(TWO)
    local added, failed = buf:add_rows { { 1, "a" }, { "x", "b" }, { a = 3, b = "c" }, 7, { 5, "e" }, {} }
    assert.equal(3, added)
    assert.same({ 2, 4, 6 }, { failed[1][1], failed[2][1], failed[3][1] })
    assert.equal("row 2, column 'a' (Int64): 'x' is not an integer", tostring(failed[1][2]))
    assert.equal("row 3, a row is a table, not a number", tostring(failed[2][2]))
    assert.equal("row 4, column 'a' (Int64): no value, and the column has neither a default nor NULL",
      tostring(failed[3][2]))
    for _, pair in ipairs(failed) do assert.equal("row", pair[2].kind) end
    assert.equal(3, buf.rows)
    assert.same({ 2, nil }, { buf:add_rows { { 1, "a" }, { 2, "b" } } })
    assert.same({ 0, nil }, { buf:add_rows {} })
  end)

  it("counts the rows that map drops as neither", function()
    local buf = chute.buffer { columns = { { "a", "UInt8" } }, map = function(event) return event.keep and event end }
    assert.same({ true, nil }, { buf:add_row { a = 1, keep = true } })
    assert.same({ true, "filtered" }, { buf:add_row { a = 1 } })
    local added, failed = buf:add_rows { { a = 1, keep = true }, { a = 2 }, { a = 300, keep = true },
      { a = 3, keep = true } }
    assert.same({ 2, 1, 3 }, { added, #failed, failed[1][1] })
    assert.equal(3, buf.rows)
  end)

  it("forgets its rows and keeps its memory", function()
    local buf = chute.buffer(ROW)
    fill(buf, 1000, 1000)
    local len = ffi.new "size_t[1]"
    local before = lib.C.chute_buffer_data(buf.ptr, len)
    buf:reset()
    assert.same({ 0, 0, "" }, { buf.rows, #buf, buf:tostring() })
    fill(buf, 1000, 1000)
    assert.equal(before, lib.C.chute_buffer_data(buf.ptr, len))
    assert.equal(1000 * 1001, #buf) -- lengths of 999 take two bytes
    buf:reset()
    assert.equal("row 1, column 'a' (String): true is not a string", tostring(failure(buf, { true })))
  end)

  it("shares its schema with others, each with rows of its own", function()
    local schema = chute.schema(ROW)
    local held = { one = chute.buffer(schema), other = chute.buffer(schema), last = chute.buffer(schema) }
    local other = held.other
    assert(held.one:add_row { "1" })
    assert(other:add_row { "2" })
    assert(held.one:add_row { "3" })
    assert.same({ "\0011\0013", "\0012" }, { held.one:tostring(), other:tostring() })
    held.one, held.last = nil, nil
    collectgarbage()
    collectgarbage()
    assert(other:add_row { "4" })
    assert.equal("\0012\0014", other:tostring())
  end)

  it("holds many megabytes", function()
    local buf = chute.buffer(ROW)
    local text = ("0123456789abcdef"):rep(65536)
    for _ = 1, 40 do assert(buf:add_row { text }) end
    assert.equal(40 * (#text + 3), #buf)
    assert.equal(text, buf:tostring():sub(-#text))
  end)
end)

describe("the ceiling of a buffer", function()
  it("is reached to the last byte", function()
    for _, bytes in ipairs { 1, 2, 10, 100, 4096, 65504, 65505, 65536, 70000, 200000 } do
      local buf = chute.buffer(ROW, { bytes = bytes })
      local text = ("x"):rep(bytes - (bytes < 129 and 1 or bytes < 16387 and 2 or 3))
      assert.is_true(buf:add_row { text })
      assert.same({ 1, bytes }, { buf.rows, #buf })
      local err = failure(buf, { "" })
      assert.equal("busy", err.kind)
      assert.equal(("the buffer is full: 1 rows, %d of %d bytes"):format(bytes, bytes), tostring(err))
      buf:reset()
      err = failure(buf, { text .. "y" })
      assert.same({ "row", 1 }, { err.kind, err.row })
      assert.same({ 0, 0 }, { buf.rows, #buf })
      assert.is_true(buf:add_row { text })
    end
  end)

  it("leaves nothing of a row that does not fit", function()
    local buf = chute.buffer(ROW, { bytes = 100 })
    fill(buf, 9, 10)
    local bytes = buf:tostring()
    local err = failure(buf, { ("y"):rep(10) })
    assert.equal("busy", err.kind)
    assert.same({ 9, bytes }, { buf.rows, buf:tostring() })
    assert.is_true(buf:add_row { ("z"):rep(9) })
    assert.equal(bytes .. "\9zzzzzzzzz", buf:tostring())
    err = failure(buf, { ("y"):rep(100) })
    assert.equal("row", err.kind)
    assert.equal("row 11 is larger (101 bytes) than a batch may be (100 bytes)", tostring(err))
    assert.equal(10, buf.rows)
  end)

  it("counts rows alone, not the header", function()
    local buf = chute.buffer({ columns = { { ("long_name"):rep(100), "UInt8" } } }, { bytes = 2 })
    assert.same({ 2, 1 }, { (buf:add_rows { { 1 }, { 2 }, { 3 } }), 1 })
    assert.equal("busy", failure(buf, { 4 }).kind)
  end)

  it("holds for rows whose size is only known once they are written", function()
    local def = { format = "RowBinary", columns = { { "i", "UInt64" }, { "m", "Array(Nullable(UInt8))" },
      { "s", "String" } } }
    local buf = chute.buffer(def, { bytes = 16 })
    assert.is_true(buf:add_row { 1, { chute.null, 2, chute.null }, "ab" }) -- 8 + 1 + 1 + 2 + 1 + 3
    assert.equal(16, #buf)
    buf:reset()
    assert.equal("row", failure(buf, { 1, { chute.null, 2, 3 }, "ab" }).kind)
    local err = failure(buf, { 1, { 256 }, ("x"):rep(100) })
    assert.matches("256 is out of range", tostring(err))
    assert.same({ 0, "" }, { buf.rows, buf:tostring() })
  end)

  it("is a size", function()
    assert.equal(2 ^ 20, (function()
      local buf = chute.buffer(ROW, { bytes = "1MiB" })
      assert.is_true(buf:add_row { ("x"):rep(2 ^ 20 - 3) })
      return #buf
    end)())
    for _, bytes in ipairs { 0, -1, 1.5, "x", "1 XB", true, 2 ^ 60 } do
      local ok, err = pcall(function() local _ = chute.buffer(ROW, { bytes = bytes }) end)
      assert.is_false(ok)
      assert.matches("^spec/buffer_spec.lua:%d+: chute: ", err)
    end
  end)
end)

describe("compressed bytes", function()
  -- Method, what the server is to be told of it, and who understands it.
  local WAYS = {
    { "none" }, { "zstd", encoding = "zstd" }, { "lz4", encoding = "lz4" }, { "zstd", 19, encoding = "zstd" },
    { "lz4", 9, encoding = "lz4" }, { "zstd:3", encoding = "zstd" }, { "block-lz4", block = true },
    { "block-zstd", block = true }, { "block-zstd", 7, block = true }, { "block-none", block = true },
  }

  local function big(format)
    local buf = chute.buffer { format = format, columns = { { "n", "UInt64" }, { "s", "String" } } }
    for n = 1, 60000 do assert(buf:add_row { n, "text " .. n * n }) end
    return buf
  end

  for _, version in ipairs { "26.5", "18.16" } do
    describe("arrive whole in ClickHouse " .. version .. ":", function()
      local court, buf, count, sum
      setup(function()
        court = judge.new(version)
        buf = big(court.format)
        count, sum = "60000", "1800030000"
      end)
      teardown(function() court:drop() end)

      for _, way in ipairs(WAYS) do
        if version == "26.5" or not way.encoding then
          it(way[1] .. " " .. (way[2] or ""), function()
            local bytes = buf:compress(way[1], way[2])
            if way[1] == "none" then assert.equal(buf:tostring(), bytes) end
            if way.encoding or way[1]:find "zstd" then assert.is_true(#bytes < #buf / 2) end
            local name = court:create(buf.schema)
            local params = { decompress = way.block and 1 or nil }
            local headers = way.encoding and { ["Content-Encoding"] = way.encoding }
            court.db:query(("INSERT INTO %s FORMAT %s"):format(name, buf.schema.format),
              { body = bytes, params = params, headers = headers })
            assert.same({ count }, court:lines("SELECT count() FROM " .. name))
            assert.same({ sum }, court:lines("SELECT sum(n) FROM " .. name
              .. " WHERE s = concat('text ', toString(n * n))"))
            assert.equal(60000, buf.rows)
          end)
        end
      end
    end)
  end

  it("of nothing are something that decodes to nothing", function()
    ffi.cdef [[
      size_t ZSTD_decompress(void *, size_t, const void *, size_t);
      unsigned ZSTD_isError(size_t);
    ]]
    local zstd, out = ffi.load "libzstd.so.1", ffi.new "char[16]"
    local buf = chute.buffer(ROW)
    assert.equal("", buf:compress "none")
    local frame = buf:compress "zstd"
    assert.equal(0, tonumber(zstd.ZSTD_decompress(out, 16, frame, #frame)))
    assert(buf:add_row { "abc" })
    frame = buf:compress("zstd", 3)
    assert.equal(4, tonumber(zstd.ZSTD_decompress(out, 16, frame, #frame)))
    assert.equal("\3abc", ffi.string(out, 4))
  end)

  it("are the same each time", function()
    local buf = big "RowBinary"
    for _, way in ipairs(WAYS) do
      local first = buf:compress(way[1], way[2])
      assert.is_true(first == buf:compress(way[1], way[2]), way[1])
    end
  end)

  it("of an unknown method or level are refused at the caller's line", function()
    local buf = chute.buffer(ROW)
    local function refused(message, ...)
      local arguments = { ... }
      local ok, err = pcall(function() local _ = buf:compress(unpack(arguments)) end)
      assert.is_false(ok)
      assert.matches("^spec/buffer_spec.lua:%d+: chute: " .. message, err)
    end
    refused("compress \"gzip\" is none of lz4, zstd", "gzip")
    refused("compress nil is none of", nil)
    refused("compress \"zstd:99\": the levels of zstd end at 22", "zstd", 99)
    refused("compress \"none:1\": the levels of none end at 0", "none", 1)
    refused("compress \"zstd:%-5\"", "zstd", -5)
    refused("compress \"zstd:1.5\" is none of", "zstd", 1.5)
    refused("compress \"zstd:fast\" is none of", "zstd", "fast")
  end)
end)
