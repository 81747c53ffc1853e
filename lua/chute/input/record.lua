--- One JSON record as a row.
--
-- Integers that a double cannot hold stay exact: they become int64_t or uint64_t cdata where
-- they fit, else decimal text. They are quoted behind a mark before decoding and turned back
-- after it; the mark is made of bytes that no decoded string of this record can contain.
local cjson = require("cjson.safe").new()
local ffi = require "ffi"

-- NaN, Infinity and hexadecimal numbers are no JSON.
cjson.decode_invalid_numbers(false)

local record = {}

local find, sub, byte = string.find, string.sub, string.byte
local LONG = ("%d"):rep(16)
local QUOTE, BACKSLASH = 34, 92

ffi.cdef [[
int64_t strtoll(const char *text, char **end, int base);
uint64_t strtoull(const char *text, char **end, int base);
]]

-- By digits without sign: "a" is at most "b".
local function at_most(a, b)
  if #a ~= #b then return #a < #b end
  return a <= b
end

--- The exact value of an integer literal: a number within ±2^53, cdata of 64 bits, else text.
function record.integer(text)
  local sign, digits = text:match "^(%-?)0*(%d+)$"
  if at_most(digits, "9007199254740992") then return tonumber(text) end
  if sign == "" then
    if at_most(digits, "9223372036854775807") then return ffi.C.strtoll(text, nil, 10) end
    if at_most(digits, "18446744073709551615") then return ffi.C.strtoull(text, nil, 10) end
  elseif at_most(digits, "9223372036854775808") then
    return ffi.C.strtoll(text, nil, 10)
  end
  return text
end

-- Index past the string literal that opens at `at`, or nil where it does not end.
local function past_string(text, at)
  while true do
    at = find(text, '["\\]', at + 1)
    if not at then return nil end
    if byte(text, at) == QUOTE then return at + 1 end
    if byte(text, at) == BACKSLASH then at = at + 1 end
  end
end

-- A run of 0xFF that `text` does not contain. Escapes cannot make that byte, so no string that
-- is decoded from `text` contains the run either.
local function mark_for(text)
  local mark = "\255"
  while find(text, mark, 1, true) do mark = mark .. "\255" end
  return mark
end

-- Is the digit run [from, to] of `text` an integer literal, and where does its sign stand?
local function integer_start(text, from, to)
  local after = sub(text, to + 1, to + 1)
  if find(after, "^[%.eE]") then return nil end
  if sub(text, from - 1, from - 1) == "-" then from = from - 1 end
  if find(sub(text, from - 1, from - 1), "^[%d%.eE%+%-]") then return nil end
  return from
end

-- `text` with its long integer literals quoted behind `mark`.
local function quote_integers(text, mark)
  local out, kept, at = {}, 1, 1
  while true do
    local from = find(text, '["%d]', at)
    if not from then break end
    if byte(text, from) == QUOTE then
      at = past_string(text, from)
      if not at then break end
    else
      local _, to = find(text, "^%d+", from)
      local start = to - from >= 15 and integer_start(text, from, to)
      if start then
        out[#out + 1] = sub(text, kept, start - 1)
        out[#out + 1] = '"' .. mark .. sub(text, start, to) .. '"'
        kept = to + 1
      end
      at = to + 1
    end
  end
  out[#out + 1] = sub(text, kept)
  return table.concat(out)
end

local function restore_integers(node, mark)
  for key, value in pairs(node) do
    if type(value) == "table" then
      restore_integers(value, mark)
    elseif type(value) == "string" and sub(value, 1, #mark) == mark then
      node[key] = record.integer(sub(value, #mark + 1))
    end
  end
end

local function decode(text)
  if not find(text, LONG) then return cjson.decode(text) end
  local mark = mark_for(text)
  local row, err = cjson.decode(quote_integers(text, mark))
  -- The positions in a message are those of the text as it came.
  if row == nil then return cjson.decode(text) end
  if type(row) == "table" then restore_integers(row, mark) end
  return row, err
end

--- The row that a JSON text stands for: a table, from an object (named) or an array
-- (positional). Else nil and a message.
function record.decode(text)
  local row, err = decode(text)
  if type(row) == "table" then return row end
  if err then return nil, "malformed JSON: " .. err end
  local what = row == cjson.null and "null" or "a " .. type(row)
  return nil, "a record is a JSON object or array, not " .. what
end

return record
