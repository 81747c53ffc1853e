--- Lines of a window, of either ending. The last one needs none.
local byte, sub = string.byte, string.sub

local lines = {}

local CR = 13

local function without_cr(text)
  if byte(text, -1) == CR then return sub(text, 1, -2) end
  return text
end

-- The window broke off `offset` bytes into a line.
local function broken(window, why, offset)
  local number, text = window.line, window:slice(0, offset)
  if why == "end" then
    if offset == 0 then return nil end
    window:advance(offset, 0)
    if offset <= window.limit then return without_cr(text), nil, number end
    why = "limit"
  end
  if why ~= "limit" then return nil, why, number end
  window:skip_line()
  return nil, "line is " .. window:explain(why), number, text
end

--- The next line: `text, nil, number`. Nothing at the end. `nil, message, number, raw` for a line
-- past the limit, after which reading goes on; no raw where the input itself cannot be read on.
function lines.next(window)
  local offset, why, stop = window:find("\n", 0)
  if not offset then return broken(window, why, stop) end
  local number, text = window.line, window:slice(0, offset)
  window:advance(offset + 1, 1)
  if offset > window.limit then
    return nil, "line is " .. window:explain "limit", number, text
  end
  return without_cr(text), nil, number
end

return lines
