--- Reader of newline-delimited JSON: a record a line, blank lines between them ignored.
local lines = require "chute.input.lines"
local record = require "chute.input.record"

local ndjson = {}

--- An iterator over the records of `window`: see chute.input.
function ndjson.reader(window)
  return function()
    local text, err, number, raw
    repeat
      text, err, number, raw = lines.next(window)
      if not text then return nil, err, number, raw end
    until text:find "%S"
    local row
    row, err = record.decode(text)
    return row, err, number, text
  end
end

return ndjson
