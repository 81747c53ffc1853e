-- Is it better to compress a batch once, at its end, or as its rows come?
local measure = require "bench.measure"
local native = require "bench.native"
local chute = require "chute"
local errors = require "chute.errors"
local lib = require "chute.lib"
local C, ffi = lib.C, lib.ffi

local LEVEL, ROWS_A_RUN = 1, 2000
local out, len = ffi.new "const char *[1]", ffi.new "size_t[1]"

local buffer = chute.buffer { format = "RowBinary", columns = { { "id", "UInt64" },
  { "title", "String" }, { "digits", "Array(UInt8)" }, { "at", "DateTime" } } }

local row = { 0, "Golang SQL database driver", { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, 1734094439 }

local function encode(i)
  row[1] = i
  assert(buffer:add_row(row))
end

-- ---- once ------------------------------------------------------------------------------------

local function once(method)
  local compressor = ffi.gc(C.chute_compressor_new(method, LEVEL, errors.raw), C.chute_compressor_free)
  return function(rows)
    buffer:reset()
    for i = 1, rows do encode(i) end
    local data = C.chute_buffer_data(buffer.ptr, len)
    assert(C.chute_compress(compressor, data, len[0], out, len, errors.raw) == 0)
    return tonumber(len[0])
  end
end

-- ---- as rows come ----------------------------------------------------------------------------

--- Hands each row to zstd as soon as it is encoded. `flush`: what came of it is wanted at once.
local function add_streamed(stream, rows, flush)
  for i = 1, rows do
    buffer:reset()
    encode(i)
    local data = C.chute_buffer_data(buffer.ptr, len)
    assert(native.streamed_add(stream, data, len[0], flush) == 0)
  end
end

local function streamed(flush)
  local stream = ffi.gc(native.streamed_new(LEVEL), native.streamed_free)
  return function(rows)
    native.streamed_begin(stream)
    add_streamed(stream, rows, flush)
    return tonumber(native.streamed_end(stream))
  end
end

local function streamed_anew(rows)
  local stream = native.streamed_new(LEVEL)
  add_streamed(stream, rows, 0)
  local size = tonumber(native.streamed_end(stream))
  native.streamed_free(stream)
  return size
end

--- A context and a frame of its own for every row.
local function streamed_each(rows)
  local size = 0
  for i = 1, rows do
    buffer:reset()
    encode(i)
    local stream = native.streamed_new(LEVEL)
    local data = C.chute_buffer_data(buffer.ptr, len)
    assert(native.streamed_add(stream, data, len[0], 0) == 0)
    size = size + tonumber(native.streamed_end(stream))
    native.streamed_free(stream)
  end
  return size
end

local function encoded(rows)
  buffer:reset()
  for i = 1, rows do encode(i) end
  return #buffer
end

-- ---- table -----------------------------------------------------------------------------------

local WAYS = {
  { "not compressed", encoded },
  { "zstd, once", once(C.CHUTE_COMPRESS_ZSTD) },
  { "lz4, once", once(C.CHUTE_COMPRESS_LZ4) },
  { "zstd streamed, a context kept", streamed(0) },
  { "the same, flushed at each row", streamed(1) },
  { "zstd streamed, a context a batch", streamed_anew },
  { "zstd streamed, a context a row", streamed_each },
}

local function report(rows)
  local cases, lines = {}, {}
  for _, way in ipairs(WAYS) do
    cases[#cases + 1] = { name = way[1], against = "zstd, once", size = way[2](rows),
      count = math.max(1, math.floor(ROWS_A_RUN / rows)), run = function(n)
        for _ = 1, n do way[2](rows) end
      end }
  end
  for i, case in ipairs(measure.compare(cases, {})) do
    lines[i] = { case.name, measure.duration(case.ns), measure.duration(case.ns / rows),
      ("%.1f"):format(case.size / rows), measure.ratio(case) }
  end
  measure.print(("encoding and compressing (zstd at level %d) a batch of %d"):format(LEVEL, rows),
    { "", "a batch", "a row", "bytes a row", "ratio of time", "to", "that to itself" }, lines)
end

for _, rows in ipairs { 1, 1000, 100000 } do report(rows) end
