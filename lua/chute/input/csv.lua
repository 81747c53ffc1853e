--- Reader of CSV as RFC 4180 has it, with a header line: quoted fields may hold commas, doubled
-- quotes and newlines. A field left empty is absent, a quoted empty one is the empty string, and
-- an unquoted \N is NULL, as ClickHouse writes it.
local cjson = require "cjson"
local header = require "chute.input.header"

local csv = {}

local find, sub, byte, gsub = string.find, string.sub, string.byte, string.gsub
local null = cjson.null
local QUOTE, COMMA, CR = 34, 44, 13

-- A record being read. `line` is what is left of the current line, without its ending, and
-- stands at offset `base` of the window; `at` indexes into it; `stop` is the offset past the
-- record's ending, `lines` the endings passed.
local scan = {}

-- Takes the line at `offset` of the window as the current one.
local function take_line(window, offset)
  local stop, why, finish = window:find("\n", offset)
  if not stop and why ~= "end" then return nil, why end
  local line = window:slice(offset, stop or finish)
  if byte(line, -1) == CR then line = sub(line, 1, -2) end
  scan.line, scan.base, scan.at = line, offset, 1
  scan.stop = stop and stop + 1 or finish
  return true
end

-- The offset of the quote that closes the field whose text begins at `offset`, and whether
-- quotes are doubled before it; nil, nil and why.
local function closing_quote(window, offset)
  local doubled = false
  while true do
    local quote, why = window:find('"', offset)
    if not quote then return nil, nil, why end
    if window:byte(quote + 1) ~= QUOTE then return quote, doubled end
    doubled, offset = true, quote + 2
  end
end

local function count_newlines(text)
  local count, at = 0, find(text, "\n", 1, true)
  while at do
    count, at = count + 1, find(text, "\n", at + 1, true)
  end
  return count
end

-- The quoted field at scan.at; afterwards scan.at stands behind its closing quote.
local function quoted_field(window)
  local from = scan.base + scan.at
  local quote, doubled, why = closing_quote(window, from)
  if not quote then return nil, why end
  local field = window:slice(from, quote)
  if quote + 1 > scan.stop then
    scan.lines = scan.lines + count_newlines(field)
    local ok
    ok, why = take_line(window, quote + 1)
    if not ok then return nil, why end
  else
    scan.at = quote + 2 - scan.base
  end
  if doubled then field = gsub(field, '""', '"') end
  return field
end

local function plain_field()
  local line, at = scan.line, scan.at
  local comma = find(line, ",", at, true)
  scan.at = comma or #line + 1
  return sub(line, at, scan.at - 1)
end

local function next_field(window)
  if byte(scan.line, scan.at) ~= QUOTE then
    local field = plain_field()
    if field == "" then return nil end
    if field == "\\N" then return null end
    return field
  end
  local field, err = quoted_field(window)
  if err then return nil, err end
  local follower = byte(scan.line, scan.at)
  if follower and follower ~= COMMA then return nil, "text follows a closing quote" end
  return field
end

-- The fields of the record at the window's start, and their number; nil and why not.
local function fields_of(window)
  local fields, count = {}, 0
  repeat
    local field, err = next_field(window)
    if err then return nil, err end
    count = count + 1
    fields[count] = field
    local more = byte(scan.line, scan.at) == COMMA
    scan.at = scan.at + 1
  until not more
  return fields, count
end

local function explain(window, why)
  if why == "limit" then return "record is " .. window:explain(why) end
  if why == "end" then return "a quoted field is not closed" end
  return why
end

-- A record that cannot be read costs its first line: the next record begins on the second.
local function give_up(window, why)
  local number = window.line
  local stop, _, finish = window:find("\n", 0)
  local raw = window:slice(0, stop or finish)
  window:skip_line()
  return nil, explain(window, why), number, raw
end

-- The next record: fields, count, number of its line, raw text. nil at the end; nil, message,
-- number, raw where it is malformed (no raw: the input cannot be read on).
local function next_record(window)
  while true do
    scan.lines = 0
    local ok, why = take_line(window, 0)
    if not ok and why ~= "limit" then return nil, why, window.line end
    if not ok then return give_up(window, why) end
    if scan.stop == 0 then return nil end
    if scan.line ~= "" then break end
    window:advance(scan.stop, 1)
  end
  local fields, count = fields_of(window)
  if not fields then return give_up(window, count) end
  if scan.stop > window.limit + 2 then return give_up(window, "limit") end
  local number, raw = window.line, window:slice(0, scan.base + #scan.line)
  window:advance(scan.stop, scan.lines + 1)
  return fields, count, number, raw
end

local function names_of(window)
  local fields, count = next_record(window)
  if not fields then return nil, count end
  for i = 1, count do
    if fields[i] == nil or fields[i] == null then fields[i] = "" end
  end
  return header.check(fields)
end

local function row_of(names, fields, count)
  if count ~= #names then return nil, header.ragged(names, count) end
  local row = {}
  for i = 1, count do row[names[i]] = fields[i] end
  return row
end

--- An iterator over the records of `window`, see chute.input; nil and a message where its first
-- line makes no header.
function csv.reader(window)
  local names, err = names_of(window)
  if err then return nil, err end
  return function()
    local fields, count, number, raw = next_record(window)
    if not fields then return nil, count, number, raw end
    local row, fault = row_of(names, fields, count)
    return row, fault, number, raw
  end
end

return csv
