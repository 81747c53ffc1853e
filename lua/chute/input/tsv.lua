--- Reader of ClickHouse's TabSeparatedWithNames: a line of names, then a row a line, with
-- backslash escapes; a field \N is NULL.
local cjson = require "cjson"
local header = require "chute.input.header"
local lines = require "chute.input.lines"

local tsv = {}

local find, sub = string.find, string.sub
local null = cjson.null

local escapes = {
  b = "\b", f = "\f", r = "\r", n = "\n", t = "\t", a = "\a", v = "\v", e = "\27", ["0"] = "\0",
}

-- The text of one escape whose backslash stands at `at`, and the index past it.
local function escape_at(field, at)
  local letter = sub(field, at + 1, at + 1)
  local hex = letter == "x" and field:match("^%x%x", at + 2)
  if hex then return string.char(tonumber(hex, 16)), at + 4 end
  return escapes[letter] or letter, at + 2
end

local function unescape(field)
  local out, at = {}, 1
  while true do
    local slash = find(field, "\\", at, true)
    if not slash then break end
    out[#out + 1] = sub(field, at, slash - 1)
    out[#out + 1], at = escape_at(field, slash)
  end
  out[#out + 1] = sub(field, at)
  return table.concat(out)
end

local function value_of(field)
  if not find(field, "\\", 1, true) then return field end
  if field == "\\N" then return null end
  return unescape(field)
end

-- The fields of a line, raw, and their number.
local function split(line)
  local fields, count, at = {}, 0, 1
  while true do
    local tab = find(line, "\t", at, true)
    count = count + 1
    if not tab then
      fields[count] = sub(line, at)
      return fields, count
    end
    fields[count] = sub(line, at, tab - 1)
    at = tab + 1
  end
end

local function names_of(line)
  local fields, count = split(line)
  for i = 1, count do fields[i] = unescape(fields[i]) end
  return header.check(fields)
end

local function row_of(names, line)
  local fields, count = split(line)
  if count ~= #names then return nil, header.ragged(names, count) end
  local row = {}
  for i = 1, count do row[names[i]] = value_of(fields[i]) end
  return row
end

--- An iterator over the records of `window`, see chute.input; nil and a message where its first
-- line makes no header. A blank line is a row only where there is one column.
function tsv.reader(window)
  local first, err = lines.next(window)
  if not first then
    if err then return nil, err end
    return function() end
  end
  local names
  names, err = names_of(first)
  if not names then return nil, err end
  return function()
    local text, fault, number, raw
    repeat
      text, fault, number, raw = lines.next(window)
      if not text then return nil, fault, number, raw end
    until text ~= "" or #names == 1
    local row
    row, fault = row_of(names, text)
    return row, fault, number, text
  end
end

return tsv
