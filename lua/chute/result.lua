--- Results: what a statement brought.
--
-- Fields: body (text, "" where nothing came; nil where it is streamed), summary (ClickHouse's
-- counts as numbers: read_rows, read_bytes, written_rows, written_bytes …; {} where it sent none),
-- query_id, format and timezone (nil where the server did not tell), status (of HTTP; nil for chdb).
local errors = require "chute.errors"
local lib = require "chute.lib"
local rows = require "chute.rows"
local ffi = lib.ffi

local M = { FORMAT = "RowBinaryWithNamesAndTypes" }

local Result = {}
Result.__index = Result

-- {"read_rows":"1","written_rows":"0", …}: names and numbers, these mostly in quotes.
local function decode_summary(json)
  local summary = {}
  for name, number in json:gmatch '"([%w_]+)"%s*:%s*"?(%-?%d+)"?' do
    summary[name] = tonumber(number)
  end
  return summary
end

local function text_or_nil(ptr)
  local text = ffi.string(ptr)
  return text ~= "" and text or nil
end

--- Copies a chute_result. `asked`: format (which the statement asked for, where that is known),
-- json_text (of JSON columns).
function M.new(raw, asked)
  return setmetatable({
    body = ffi.string(raw.body, raw.body_len),
    summary = decode_summary(ffi.string(raw.summary)),
    query_id = text_or_nil(raw.query_id),
    format = text_or_nil(raw.format),
    timezone = text_or_nil(raw.timezone),
    status = raw.status ~= 0 and raw.status or nil,
    asked = asked,
  }, Result)
end

function M.is(value) return getmetatable(value) == Result end

-- A decoder and what feeds it. Throws, two levels up, where the answer has another format.
local function decoding(self)
  local format = self.format or self.asked.format
  if self.body ~= "" and format ~= M.FORMAT then
    errors.throw(("rows are read from %s, not from %s: let the statement name no format"):format(
      M.FORMAT, format or "an unknown format"), 3)
  end
  return rows.decoder { zone = self.timezone, json_text = self.asked.json_text },
    rows.slices(self.body)
end

--- An iterator over the rows, tables by column name: see chute.rows for the values. Throws where
-- the answer has another format than RowBinaryWithNamesAndTypes; the iterator throws an error
-- table where the rows cannot be read to their end.
function Result:rows()
  local decoder, more = decoding(self)
  return rows.iterate(decoder, more)
end

--- The columns: a list of { name =, type = }, the types in canonical form. Throws as rows() does.
function Result:columns()
  if not self.list then
    local decoder, more = decoding(self)
    self.list = rows.columns(decoder, more)
    decoder:close()
  end
  return self.list
end

Result.__tostring = function(self) return self.body end

return M
