--- Reader of one JSON array: its elements are the records, taken from the text one at a time.
local ffi = require "ffi"
local record = require "chute.input.record"

local json = {}

local bytes_t = ffi.typeof "const uint8_t *"
local QUOTE, BACKSLASH, COMMA, NEWLINE = 34, 92, 44, 10
local OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE = 91, 93, 123, 125

-- Where the scan of an element stands between two blocks.
local scan = {}

-- Looks at the bytes of `text` from offset `at` for the comma or bracket that ends the element.
-- Returns its offset, or nil where the text ends first. Compiled: a byte costs about 1 ns.
local function element_end(text, at)
  local bytes, size = ffi.cast(bytes_t, text), #text
  local depth, lines, in_string = scan.depth, scan.lines, scan.in_string
  while at < size do
    local c = bytes[at]
    if c == NEWLINE then lines = lines + 1 end
    if in_string then
      if c == BACKSLASH then at = at + 1 elseif c == QUOTE then in_string = false end
    elseif c == QUOTE then
      in_string = true
    elseif c == OPEN_BRACE or c == OPEN_BRACKET then
      depth = depth + 1
    elseif depth == 0 and (c == COMMA or c == CLOSE_BRACKET) then
      break
    elseif (c == CLOSE_BRACE or c == CLOSE_BRACKET) and depth > 0 then
      depth = depth - 1
    end
    at = at + 1
  end
  scan.depth, scan.lines, scan.in_string, scan.at = depth, lines, in_string, at
  return at < size and at or nil
end

-- The offset in the window of what ends the element at its start; nil and why.
local function find_end(window)
  scan.depth, scan.lines, scan.in_string = 0, 0, false
  local offset = 0
  while true do
    local at = element_end(window.text, window.pos - 1 + offset)
    if at then return at - window.pos + 1 end
    -- May stand one past the text, behind a backslash.
    offset = scan.at - window.pos + 1
    local ok, why = window:more()
    if not ok then return nil, why end
  end
end

-- Consumes white space; returns the byte behind it, or nil and why there is none.
local function skip_blanks(window)
  while true do
    local c, why = window:byte(0)
    if not c then return nil, why end
    if c ~= 32 and c ~= 9 and c ~= 13 and c ~= NEWLINE then return c end
    window:advance(1, c == NEWLINE and 1 or 0)
  end
end

-- An element that does not end costs its first line: the next one is looked for on the second.
local function give_up(window, why)
  local number = window.line
  local stop, _, finish = window:find("\n", 0)
  local raw = window:slice(0, stop or finish)
  window:skip_line()
  if why == "end" then why = "the array is not closed after this element" end
  if why == "limit" then why = "element is " .. window:explain(why) end
  return nil, why, number, raw
end

local function take(window, offset)
  local number, raw = window.line, window:slice(0, offset)
  window:advance(offset, scan.lines)
  local row, err = record.decode(raw)
  return row, err, number, raw
end

-- States: "first" before the first element, "next" before another, "closed" behind the array.
local function step(window, state)
  local c, why = skip_blanks(window)
  if not c then
    if why ~= "end" then return state, nil, why, window.line end
    if state == "closed" then return state end
    return "closed", nil, "the array is not closed", window.line, ""
  end
  if state == "closed" then return state, give_up(window, "text follows the end of the array") end
  if state == "first" and c == CLOSE_BRACKET then
    window:advance(1, 0)
    return step(window, "closed")
  end
  local offset
  offset, why = find_end(window)
  if not offset then
    if why == "end" or why == "limit" then return "next", give_up(window, why) end
    return state, nil, why, window.line
  end
  local closes = window:byte(offset) == CLOSE_BRACKET
  local row, err, number, raw = take(window, offset)
  window:advance(1, 0)
  return closes and "closed" or "next", row, err, number, raw
end

--- An iterator over the records of `window`, see chute.input; nil and a message where its text
-- is no array.
function json.reader(window)
  local c, why = skip_blanks(window)
  if c ~= OPEN_BRACKET then return nil, c and "not a JSON array" or why end
  window:advance(1, 0)
  local state = "first"
  return function()
    local row, err, number, raw
    state, row, err, number, raw = step(window, state)
    return row, err, number, raw
  end
end

return json
