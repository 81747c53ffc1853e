--- Rows: values out of an answer in RowBinaryWithNamesAndTypes, each in a form that insert takes.
--
-- Numbers for integers up to 32 bits and floats; int64 and uint64 cdata; booleans; chute.null;
-- text for all else that is one value. Lists for Array, Tuple, QBit and the geometric types; tables
-- by name for named tuples, by key for Map, nested by path for JSON; chute.pairs for maps whose
-- keys are no keys of Lua or come twice; chute.typed where a Variant, Dynamic or JSON would not
-- take the plain value for one of the same type.
local errors = require "chute.errors"
local lib = require "chute.lib"
local values = require "chute.values"
local C, ffi = lib.C, lib.ffi

local M = {}

local NULL, NUMBER, INT64, UINT64 = C.CHUTE_CELL_NULL, C.CHUTE_CELL_NUMBER, C.CHUTE_CELL_INT64,
  C.CHUTE_CELL_UINT64
local null = values.null
local raw = errors.raw
local cells_out = ffi.new "const chute_cells *[1]"
local len_out = ffi.new "size_t[1]"

-- ---- values ---------------------------------------------------------------------------------

local value

local function text(_, cell) return ffi.string(cell.ptr, cell.len) end

local function list(cells, cell)
  local out, first = {}, cell.first
  for k = 1, cell.len do out[k] = value(cells, first + k - 1) end
  return out
end

local function list_of_pairs(cells, cell)
  local out, at = {}, cell.first
  for k = 1, cell.len do
    out[k] = { value(cells, at), value(cells, at + 1) }
    at = at + 2
  end
  return values.pairs(out)
end

local function keyed(cells, cell)
  local out, at = {}, cell.first
  for _ = 1, cell.len do
    local key = value(cells, at)
    if out[key] ~= nil then return list_of_pairs(cells, cell) end
    out[key] = value(cells, at + 1)
    at = at + 2
  end
  return out
end

-- The table that a path's value goes into, and its key there. Where a shorter path has a value
-- itself, what goes on from it stays one key.
local function place(root, path, leaves)
  local at, start = root, 1
  while true do
    local dot = path:find(".", start, true)
    if not dot or leaves[path:sub(1, dot - 1)] then return at, path:sub(start) end
    local part = path:sub(start, dot - 1)
    at[part] = at[part] or {}
    at, start = at[part], dot + 1
  end
end

local function object(cells, cell)
  local root, paths, leaves = {}, {}, {}
  local first, count = cell.first, cell.len
  for k = 1, count do
    local path = value(cells, first + 2 * k - 2)
    paths[k], leaves[path] = path, true
  end
  for k, path in ipairs(paths) do
    local at, key = place(root, path, leaves)
    at[key] = value(cells, first + 2 * k - 1)
  end
  return root
end

local READERS = {
  [C.CHUTE_CELL_BOOL] = function(_, cell) return cell.u64 ~= 0 end,
  [C.CHUTE_CELL_STRING] = text,
  [C.CHUTE_CELL_LIST] = list,
  [C.CHUTE_CELL_PAIRS] = list_of_pairs,
  [C.CHUTE_CELL_TABLE] = keyed,
  [C.CHUTE_CELL_PATHS] = object,
  [C.CHUTE_CELL_TYPED] = function(cells, cell)
    return values.typed(value(cells, cell.first), value(cells, cell.first + 1))
  end,
}

--- The value in cell i.
function value(cells, i)
  local cell = cells[i]
  local kind = cell.kind
  if kind == NUMBER then return cell.num end
  if kind == NULL then return null end
  if kind == INT64 then return cell.i64 end
  if kind == UINT64 then return cell.u64 end
  return READERS[kind](cells, cell)
end

-- ---- decoding -------------------------------------------------------------------------------

local Decoder = {}
Decoder.__index = Decoder

--- A decoder. opts: zone (whose clock shows a DateTime that names none; UTC), json_text (JSON
-- comes as text).
function M.decoder(opts)
  local flags = opts.json_text and C.CHUTE_DECODE_JSON_TEXT or 0
  local ptr = C.chute_decoder_new(flags, opts.zone)
  if ptr == nil then error("chute: no memory for a decoder", 0) end
  return setmetatable({ ptr = ffi.gc(ptr, C.chute_decoder_free) }, Decoder)
end

--- Hands over bytes: text, or a pointer and a length. Throws an error table.
function Decoder:feed(bytes, len)
  if C.chute_decoder_feed(self.ptr, bytes, len or #bytes, raw) < 0 then error(errors.take(), 0) end
end

--- No more bytes will come.
function Decoder:finish() C.chute_decoder_end(self.ptr) end

--- The columns, a list of { name, type } by these names; nil where more bytes are needed.
-- Throws an error table where the bytes cannot be read.
function Decoder:columns()
  if self.list then return self.list end
  local ready = C.chute_decoder_head(self.ptr, raw)
  if ready < 0 then error(errors.take(), 0) end
  if ready == 0 then return nil end
  local columns, names = {}, {}
  for i = 0, C.chute_decoder_count(self.ptr) - 1 do
    local name = C.chute_decoder_name(self.ptr, i, len_out)
    names[i + 1] = ffi.string(name, len_out[0])
    local ctype = C.chute_decoder_type(self.ptr, i)
    local size = C.chute_type_print(ctype, nil, 0) + 1
    local out = ffi.new("char[?]", size)
    C.chute_type_print(ctype, out, size)
    columns[i + 1] = { name = names[i + 1], type = ffi.string(out) }
  end
  self.list, self.names = columns, names
  return columns
end

--- The next row, a table by column names (of two columns with one name: the last); nil where more
-- bytes are needed. Throws an error table.
function Decoder:next()
  if not self:columns() then return nil end
  local got = C.chute_decoder_next(self.ptr, cells_out, raw)
  if got < 0 then error(errors.take(nil, self.names), 0) end
  if got == 0 then return nil end
  local row, names, cells = {}, self.names, cells_out[0].at
  for i = 1, #names do row[names[i]] = value(cells, i - 1) end
  return row
end

--- Frees it. Idempotent.
function Decoder:close()
  local ptr = self.ptr
  self.ptr = nil
  if ptr then C.chute_decoder_free(ffi.gc(ptr, nil)) end
end

-- ---- iterating ------------------------------------------------------------------------------

--- What `ask` (a method of the decoder) gives, bytes being had from `more(decoder)`, which feeds
-- some and returns true, or returns false where there are no more. Nil at the end.
local function await(decoder, ask, more)
  while true do
    local got = ask(decoder)
    if got ~= nil then return got end
    if decoder.ended then return nil end
    if not more(decoder) then
      decoder.ended = true
      decoder:finish()
    end
  end
end

--- The columns of what `more` brings.
function M.columns(decoder, more)
  return await(decoder, decoder.columns, more) or {}
end

--- An iterator over the rows of what `more` brings. It throws an error table where the rows cannot
-- be read to their end, so that no loop ends early without notice.
function M.iterate(decoder, more)
  return function()
    if not decoder.ptr then return nil end
    local row = await(decoder, decoder.next, more)
    if row == nil then decoder:close() end
    return row
  end
end

local SLICE = 65536

--- A `more` of a body that is all there.
function M.slices(body)
  local at, len = 0, #body
  local bytes = ffi.cast("const char *", body)
  return function(decoder)
    if at == len then return false end
    local n = math.min(SLICE, len - at)
    decoder:feed(bytes + at, n)
    at = at + n
    return true, body -- which must not be collected before
  end
end

return M
