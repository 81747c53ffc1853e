--- Results: what a statement brought.
--
-- Fields: body (text, "" where nothing came; nil where it is streamed), summary (ClickHouse's
-- counts as numbers: read_rows, read_bytes, written_rows, written_bytes …; {} where it sent none),
-- query_id, format and timezone (nil where the server did not tell), status (of HTTP; nil for chdb).
local errors = require "chute.errors"
local lib = require "chute.lib"
local rows = require "chute.rows"
local C, ffi = lib.C, lib.ffi

local M = { FORMAT = "RowBinaryWithNamesAndTypes" }

local Result = {}
Result.__index = Result

--- {"read_rows":"1","written_rows":"0", …}: names and numbers, these mostly in quotes.
function M.numbers(json)
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

local function new(raw, asked)
  return setmetatable({
    summary = M.numbers(ffi.string(raw.summary)),
    query_id = text_or_nil(raw.query_id),
    format = text_or_nil(raw.format),
    timezone = text_or_nil(raw.timezone),
    status = raw.status ~= 0 and raw.status or nil,
    asked = asked,
  }, Result)
end

--- Copies a chute_result. `asked`: format (which the statement asked for, where that is known),
-- json_text (of JSON columns).
function M.new(raw, asked)
  local self = new(raw, asked)
  self.body = ffi.string(raw.body, raw.body_len)
  return self
end

--- A result whose answer is still coming. Takes the request (a chute_request); `ready()` waits for
-- more of it: false where that took too long.
function M.stream(raw, asked, request, ready)
  local self = new(raw, asked)
  self.request, self.ready = ffi.gc(request, C.chute_request_free), ready
  return self
end

function M.is(value) return getmetatable(value) == Result end

-- ---- streams --------------------------------------------------------------------------------

local data_out, len_out = ffi.new "const char *[1]", ffi.new "size_t[1]"

local MORE, END = 1, 2

local function fail(self, err)
  self:close()
  error(err, 0)
end

-- Feeds what has come next. False at the end.
local function pull(self, decoder)
  while true do
    if not self.request then error(errors.new("closed", "the result is closed"), 0) end
    local got = C.chute_request_take(self.request, data_out, len_out, errors.raw)
    if got < 0 then fail(self, errors.take()) end
    if got == MORE then
      decoder:feed(data_out[0], len_out[0])
      return true
    end
    if got == END then
      self:close()
      return false
    end
    if not self.ready() then
      fail(self, errors.new("timeout", "nothing more came of the answer", { retryable = true }))
    end
  end
end

--- Lets go of a streamed answer that is not wanted to its end: the server is told by a closed
-- connection. Idempotent; nothing to do for any other result.
function Result:close()
  local request = self.request
  self.request = nil
  if request then C.chute_request_free(ffi.gc(request, nil)) end
  return true
end

-- ---- rows -----------------------------------------------------------------------------------

local function check_format(self)
  local format = self.format or self.asked.format
  if self.body == "" or format == M.FORMAT then return end
  errors.throw(("rows are read from %s, not from %s: let the statement name no format"):format(
    M.FORMAT, format or "an unknown format"), 4)
end

-- A decoder and what feeds it: of a stream the one there is. Throws, two levels up, where the
-- answer has another format.
local function decoding(self)
  check_format(self)
  if self.decoder then return self.decoder, self.more end
  local decoder = rows.decoder { zone = self.timezone, json_text = self.asked.json_text }
  if self.body then return decoder, rows.slices(self.body) end
  self.decoder = decoder
  self.more = function() return pull(self, decoder) end
  return decoder, self.more
end

--- An iterator over the rows, tables by column name: see chute.rows for the values. Of a streamed
-- result they can be read once. Throws where the answer has another format than
-- RowBinaryWithNamesAndTypes; the iterator throws an error table where the rows cannot be read to
-- their end.
function Result:rows()
  local decoder, more = decoding(self)
  return rows.iterate(decoder, more)
end

--- The columns: a list of { name =, type = }, the types in canonical form. Throws as rows() does;
-- of a streamed result, an error table where the answer ends before.
function Result:columns()
  if not self.list then
    local decoder, more = decoding(self)
    self.list = rows.columns(decoder, more)
    if self.body then decoder:close() end
  end
  return self.list
end

Result.__tostring = function(self) return self.body or "chute.result: streamed" end

return M
