--- Spools, looked at and put in order from outside: safe while streams use them.
local errors = require "chute.errors"
local lib = require "chute.lib"
local C, ffi = lib.C, lib.ffi

local M = {}

local PLACES = { [C.CHUTE_PLACE_LIVE] = "live", [C.CHUTE_PLACE_LEFT] = "left",
  [C.CHUTE_PLACE_DEAD] = "dead", [C.CHUTE_PLACE_BAD] = "bad" }
local STATES = { [C.CHUTE_BATCH_UNREADABLE] = "unreadable", [C.CHUTE_BATCH_FREE] = "free",
  [C.CHUTE_BATCH_OPEN] = "open", [C.CHUTE_BATCH_SEALED] = "sealed",
  [C.CHUTE_BATCH_ATTEMPTED] = "attempted" }
local raw = errors.raw

local function read_entry(entry)
  return {
    path = ffi.string(entry.path), token = ffi.string(entry.token), reason = ffi.string(entry.reason),
    place = PLACES[entry.place], state = STATES[entry.state], opened = entry.opened,
    rows = tonumber(entry.rows), bytes = tonumber(entry.bytes), damaged = entry.damaged ~= 0,
    file_bytes = tonumber(entry.file_bytes),
  }
end

--- The batch files of a spool: a list of { path (within it), place ("live": in the folder of a
-- stream that lives, "left", "dead", "bad"), state ("open", "sealed", "attempted", "free",
-- "unreadable"), reason (of unreadable ones), token, rows, bytes, file_bytes, opened (unix time),
-- damaged }. verify: their rows are read, and `rows` are those that can be trusted. Or nil, err.
function M.list(dir, verify)
  local list = C.chute_spool_list_new(dir, verify and 1 or 0, raw)
  if list == nil then return nil, errors.take() end
  local entry, out = ffi.new "chute_spool_entry", {}
  while C.chute_spool_list_next(list, entry) == 1 do out[#out + 1] = read_entry(entry) end
  C.chute_spool_list_free(list)
  table.sort(out, function(a, b) return a.path < b.path end)
  return out
end

local function read_settings(batch)
  local name, value, out = ffi.new "const char *[1]", ffi.new "const char *[1]", {}
  while C.chute_spool_batch_setting(batch, #out, name, value) == 1 do
    out[#out + 1] = { ffi.string(name[0]), ffi.string(value[0]) }
  end
  return out
end

local function read_columns(batch)
  local name, name_len = ffi.new "const char *[1]", ffi.new "size_t[1]"
  local ctype, type_len, out = ffi.new "const char *[1]", ffi.new "size_t[1]", {}
  while C.chute_spool_batch_column(batch, #out, name, name_len, ctype, type_len) == 1 do
    out[#out + 1] = { name = ffi.string(name[0], name_len[0]), type = ffi.string(ctype[0], type_len[0]) }
  end
  return out
end

--- A batch of a spool, by its path in it: { insert (the statement's head), format, settings (a list
-- of { name, value }), columns (a list of { name, type }), data (header and rows as they are sent),
-- head (bytes of the header) }. Or nil, err.
function M.read(dir, path)
  local batch = C.chute_spool_batch_read(dir, path, raw)
  if batch == nil then return nil, errors.take() end
  local len, head = ffi.new "size_t[1]", ffi.new "size_t[1]"
  local data = C.chute_spool_batch_data(batch, len, head)
  local out = {
    insert = ffi.string(C.chute_spool_batch_insert(batch)), settings = read_settings(batch),
    format = ffi.string(C.chute_spool_batch_format(batch)), columns = read_columns(batch),
    data = ffi.string(data, len[0]), head = tonumber(head[0]),
  }
  C.chute_spool_batch_free(batch)
  return out
end

local function leb(n)
  local out = {}
  while n >= 128 do
    out[#out + 1] = string.char(n % 128 + 128)
    n = math.floor(n / 128)
  end
  return table.concat(out) .. string.char(n)
end

--- The batch's bytes as RowBinaryWithNamesAndTypes; nil where its format has more than rows.
function M.with_types(batch)
  if batch.format == "RowBinaryWithNamesAndTypes" then return batch.data end
  if batch.format ~= "RowBinary" and batch.format ~= "RowBinaryWithNames" then return nil end
  local out = { leb(#batch.columns) }
  for _, field in ipairs { "name", "type" } do
    for _, column in ipairs(batch.columns) do out[#out + 1] = leb(#column[field]) .. column[field] end
  end
  out[#out + 1] = batch.data:sub(batch.head + 1)
  return table.concat(out)
end

--- Puts a refused batch back among those that are sent: the next stream with this spool sends it,
-- under its token. true; or nil, err.
function M.retry(dir, path)
  if C.chute_spool_retry(dir, path, raw) < 0 then return nil, errors.take() end
  return true
end

--- Removes a refused batch, or a bad file, and the note beside it. true; or nil, err.
function M.remove(dir, path)
  if C.chute_spool_remove(dir, path, raw) < 0 then return nil, errors.take() end
  return true
end

return M
