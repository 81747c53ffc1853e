--- Results: what a statement brought.
--
-- Fields: body (text, "" where nothing came), summary (ClickHouse's counts as numbers: read_rows,
-- read_bytes, written_rows, written_bytes …; {} where it sent none), query_id, format and timezone
-- (nil where the server did not tell), status (of HTTP; nil for chdb).
local lib = require "chute.lib"
local ffi = lib.ffi

local M = {}

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

--- Copies a chute_result.
function M.new(raw)
  return setmetatable({
    body = ffi.string(raw.body, raw.body_len),
    summary = decode_summary(ffi.string(raw.summary)),
    query_id = text_or_nil(raw.query_id),
    format = text_or_nil(raw.format),
    timezone = text_or_nil(raw.timezone),
    status = raw.status ~= 0 and raw.status or nil,
  }, Result)
end

function M.is(value) return getmetatable(value) == Result end

Result.__tostring = function(self) return self.body end

return M
