-- Compression as ClickHouse sees it: bytes compressed here, unpacked there.
local lib = require "chute.lib"
local options = require "chute.options"
local server = require "spec.support.server"
local C, ffi = lib.C, lib.ffi

local out, len = ffi.new "const char *[1]", ffi.new "size_t[1]"

local function compressor(how)
  local method, level = options.compress(how)
  local err = ffi.new "chute_error"
  local c = C.chute_compressor_new(method, level, err)
  assert(c ~= nil, ffi.string(err.message))
  return ffi.gc(c, C.chute_compressor_free)
end

local function compress(c, bytes)
  assert(C.chute_compress(c, bytes, #bytes, out, len, nil) == 0)
  return ffi.string(out[0], len[0])
end

-- `count` numbers as lines, neither all alike nor all different.
local function lines(count)
  local list = {}
  for i = 1, count do list[i] = tostring(i * 7919 % 10007) end
  return table.concat(list, "\n") .. "\n"
end

local function sent(db, how, body)
  local headers, params = {}, { database = db.name }
  if how:match "^block" then params.decompress = 1 else headers["Content-Encoding"] = how:match "^%a+%d?" end
  if how == "none" then headers["Content-Encoding"] = nil end
  db:query("INSERT INTO t FORMAT TSV", { body = body, headers = headers, params = params })
  return db:query "SELECT count(), sum(n) FROM t"
end

local function judged_by(get_server, methods)
  local db
  setup(function() db = get_server():database() end)
  teardown(function() db:drop() end)
  before_each(function()
    db:query "DROP TABLE IF EXISTS t"
    db:query "CREATE TABLE t (n UInt32) ENGINE = Memory"
  end)

  for _, how in ipairs(methods) do
    it("reads " .. how .. " of every size", function()
      local c, count, sum = compressor(how), 0, 0
      for _, lines_each in ipairs { 1, 2, 3, 10, 1000, 100000, 700000 } do
        for i = 1, lines_each do sum = sum + i * 7919 % 10007 end
        count = count + lines_each
        assert.equal(("%d\t%d\n"):format(count, sum), sent(db, how, compress(c, lines(lines_each))))
      end
    end)
  end

  return function() return db end
end

describe("ClickHouse 26.5", function()
  judged_by(server.shared.chdb,
    { "none", "lz4", "lz4:9", "zstd", "zstd:5", "block-lz4", "block-lz4:9", "block-zstd", "block-none" })
end)

describe("ClickHouse 18.16", function()
  local get_db = judged_by(server.shared.clickhouse18, { "block-lz4", "block-lz4:9", "block-zstd", "block-none" })

  -- A block's checksum covers 9 bytes and the packed ones: with the next sizes in turn, every path
  -- of the hash is taken.
  it("agrees on the checksum of every length", function()
    local c, db, blocks, bytes = compressor "block-none", get_db(), {}, 0
    for size = 1, 700 do
      blocks[size] = compress(c, ("chute "):rep(117):sub(1, size - 1) .. "\n")
      bytes = bytes + size - 1
    end
    db:query "CREATE TABLE words (word String) ENGINE = Memory"
    db:query("INSERT INTO words FORMAT TSV", { body = table.concat(blocks), params = { decompress = 1 } })
    assert.equal(("700\t%d\n"):format(bytes), db:query "SELECT count(), sum(length(word)) FROM words")
  end)

  it("refuses a block with a changed byte", function()
    local block = compress(compressor "block-lz4", lines(1000))
    local at = 200
    block = block:sub(1, at - 1) .. string.char((block:byte(at) + 1) % 256) .. block:sub(at + 1)
    local answer = get_db():request("INSERT INTO t FORMAT TSV", { body = block, params = { decompress = 1 } })
    assert.not_equal(200, answer.status)
    assert.equal("0\n", get_db():query "SELECT count() FROM t")
  end)
end)

describe("buffer:compress", function()
  local chute = require "chute"

  it("gives what the server unpacks to the buffer's bytes", function()
    local buf = chute.buffer { columns = { { "n", "UInt32" } }, format = "RowBinary" }
    for i = 1, 1000 do assert(buf:add_row { i }) end
    local db = server.shared.chdb():database()
    db:query "CREATE TABLE t (n UInt32) ENGINE = Memory"
    db:query("INSERT INTO t FORMAT RowBinary",
      { body = buf:compress("zstd", 3), headers = { ["Content-Encoding"] = "zstd" } })
    assert.equal("1000\t500500\n", db:query "SELECT count(), sum(n) FROM t")
    db:drop()
  end)
end)
