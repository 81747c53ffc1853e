--- Inputs of the command line: files of records, read one record at a time in bounded memory.
--
-- A reader is an iterator. A call returns
--   row, nil, line, raw      a record: a table for stream:insert, the number of the line that it
--                            begins on, and its text
--   nil, message, line, raw  a malformed record; the next call goes on behind it
--   nil, message, line       the input cannot be read on; nothing more comes
--   nil                      the end
local csv = require "chute.input.csv"
local json = require "chute.input.json"
local ndjson = require "chute.input.ndjson"
local source = require "chute.input.source"
local tsv = require "chute.input.tsv"
local window = require "chute.input.window"

local input = {}

-- JSON by content: an array, else a record a line.
local function array_or_lines(view)
  local offset = 0
  local c = view:byte(offset)
  while c == 32 or c == 9 or c == 13 or c == 10 do
    offset = offset + 1
    c = view:byte(offset)
  end
  if c == 91 then return json.reader(view) end
  return ndjson.reader(view)
end

local readers = {
  ndjson = ndjson.reader,
  json = array_or_lines,
  csv = csv.reader,
  tsv = tsv.reader,
}

local by_extension = { ndjson = "ndjson", jsonl = "ndjson", json = "json", csv = "csv", tsv = "tsv" }

--- The names of the formats, for messages.
input.formats = { "ndjson", "json", "csv", "tsv" }

--- The format that a file's name tells: "-" is taken for JSON. nil where it tells none.
function input.format_of(path)
  if path == "-" then return "json" end
  local extension = path:match "%.([^./]+)$"
  return extension and by_extension[extension:lower()]
end

--- A reader over a source in a format. nil and a message where it does not begin as it should.
function input.reader(from, format, limit)
  return readers[format](window.new(from, limit))
end

--- Opens a file. Returns its reader and its source (to close), or nil and a message.
-- Reads its beginning, so that what cannot be read is known here.
-- `before_read`: see chute.input.source.
function input.open(path, format, before_read)
  local from, err = source.open(path, before_read)
  if not from then return nil, err end
  local view = window.new(from)
  if path ~= "-" then
    local ok, why = view:more()
    if not ok and why ~= "end" then
      from:close()
      return nil, why
    end
  end
  local reader
  reader, err = readers[format](view)
  if not reader then
    from:close()
    return nil, err
  end
  return reader, from
end

return input
