--- Options as people write them, in the units that the engine counts in.
-- Each function throws one line without a position: the caller knows at whose level to throw it.
local lib = require "chute.lib"
local C, ffi = lib.C, lib.ffi

local M = {}

local pairs_t = ffi.typeof "chute_pair[?]"
local MAX_MS = 0xFFFFFFFE
local SECONDS = { ms = 0.001, s = 1, m = 60, h = 3600, d = 86400 }
local BYTES = { B = 1, KB = 1e3, MB = 1e6, GB = 1e9, KiB = 2 ^ 10, MiB = 2 ^ 20, GiB = 2 ^ 30,
  TiB = 2 ^ 40 }
local METHODS = {
  none = C.CHUTE_COMPRESS_NONE,
  lz4 = C.CHUTE_COMPRESS_LZ4,
  zstd = C.CHUTE_COMPRESS_ZSTD,
  ["block-lz4"] = C.CHUTE_COMPRESS_BLOCK_LZ4,
  ["block-zstd"] = C.CHUTE_COMPRESS_BLOCK_ZSTD,
  ["block-none"] = C.CHUTE_COMPRESS_BLOCK_NONE,
}
local MAX_LEVEL = { lz4 = 12, zstd = 22, ["block-lz4"] = 12, ["block-zstd"] = 22 }

local function fail(message, ...) error("chute: " .. message:format(...), 0) end

local function shown(value)
  return type(value) == "string" and ("%q"):format(value) or tostring(value)
end

--- A number, or a text of number and unit, in what `units` counts; nil where it is neither.
local function amount(value, units)
  if type(value) == "number" then return value end
  if type(value) ~= "string" then return nil end
  local digits, unit = value:match "^%s*(%d+%.?%d*)%s*(%a+)%s*$"
  local scale = unit and units[unit]
  return scale and tonumber(digits) * scale
end

--- A duration in whole milliseconds, rounded up: seconds as a number, or "500ms", "1s", "5m",
-- "1h", "1d". `name`: of the option, for the message.
function M.duration(value, name)
  local seconds = amount(value, SECONDS)
  if not seconds or not (seconds >= 0 and seconds * 1000 <= MAX_MS) then
    fail("%s must be seconds, or a duration such as \"500ms\", \"1s\" or \"5m\", not %s", name,
      shown(value))
  end
  return math.ceil(seconds * 1000 - 1e-6)
end

--- A size in bytes: a whole number, or "64KiB", "8MiB", "1GiB" (or "8MB": a million each).
function M.bytes(value, name)
  local bytes = amount(value, BYTES)
  if not bytes or not (bytes >= 1 and bytes < 2 ^ 53) or bytes % 1 ~= 0 then
    fail("%s must be a number of bytes, or a size such as \"8MiB\", not %s", name, shown(value))
  end
  return bytes
end

--- The method (CHUTE_COMPRESS_…) and level (0: the method's own) of "lz4", "zstd", "none",
-- "block-lz4", "block-zstd" or "block-none", with a level behind a colon: "zstd:3".
function M.compress(value)
  local name, level = tostring(value):match "^(.-):(%d+)$"
  name, level = name or value, tonumber(level or 0)
  local method, most = METHODS[name], MAX_LEVEL[name] or 0
  if not method then
    fail("compress %s is none of lz4, zstd, none, block-lz4, block-zstd (a level goes behind a "
      .. "colon: \"zstd:3\")", shown(value))
  elseif level > most then
    fail("compress %s: the levels of %s end at %d", shown(value), name, most)
  end
  return method, level
end

--- A text that C takes to end at its first zero byte: it must hold none. `name`: for the message.
function M.c_text(value, name)
  if type(value) ~= "string" then fail("%s must be text", name) end
  if value:find("\0", 1, true) then fail("%s has a zero byte", name) end
  return value
end

--- The text of a setting's value.
function M.setting(value)
  local kind = type(value)
  if kind == "boolean" then return value and "1" or "0" end
  if kind == "string" or kind == "number" then return tostring(value) end
  fail("a setting is text, number or boolean, not a %s", kind)
end

--- A table of names and values as a C array of pairs, and their count. `what`: for messages;
-- `convert(value, name)`: a value's text; `held`: a list that keeps array and texts alive.
function M.pair_array(values, what, convert, held)
  if values == nil then return nil, 0 end
  if type(values) ~= "table" then fail("%s must be a table of names and values", what) end
  local names = {}
  for name in pairs(values) do
    if type(name) ~= "string" then fail("%s: %s is no name", what, tostring(name)) end
    names[#names + 1] = M.c_text(name, what .. ": a name")
  end
  table.sort(names)
  local array = ffi.new(pairs_t, #names)
  held[#held + 1] = array
  for i, name in ipairs(names) do
    local value = M.c_text(convert(values[name], name), what .. ": " .. name)
    array[i - 1].name, array[i - 1].value = name, value
    held[#held + 1] = value
  end
  return array, #names
end

return M
