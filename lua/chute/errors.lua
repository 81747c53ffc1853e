--- Errors as tables: what every call that can fail at run time returns beside nil.
--
-- Fields: kind ("row", "server", "network", "timeout", "busy", "spool", "closed", or "schema",
-- "argument", "system" where such an error is thrown), message, and where known column, row,
-- code, name (ClickHouse's), status, host, retryable, uncertain. tostring() gives one line.
local lib = require "chute.lib"
local C, ffi = lib.C, lib.ffi

local M = {}

local KINDS = {
  [C.CHUTE_E_ROW] = "row",
  [C.CHUTE_E_SCHEMA] = "schema",
  [C.CHUTE_E_ARG] = "argument",
  [C.CHUTE_E_FULL] = "busy",
  [C.CHUTE_E_BUSY] = "busy",
  [C.CHUTE_E_CLOSED] = "closed",
  [C.CHUTE_E_NOMEM] = "system",
  [C.CHUTE_E_NETWORK] = "network",
  [C.CHUTE_E_TIMEOUT] = "timeout",
  [C.CHUTE_E_SERVER] = "server",
  [C.CHUTE_E_SPOOL] = "spool",
  [C.CHUTE_E_SYSTEM] = "system",
}

local Error = {}
Error.__index = Error
Error.__tostring = function(err) return err.message end

--- The one chute_error that calls fill: read it before the next call.
M.raw = ffi.new("chute_error[1]")

function M.new(kind, message, fields)
  local err = fields or {}
  err.kind, err.message = kind, message
  return setmetatable(err, Error)
end

--- The error in `raw` (a chute_error, M.raw unless given) as a table. `names`: the columns'
-- names, to name the column at fault.
function M.take(raw, names)
  raw = raw or M.raw[0]
  local flags = raw.flags
  local err = M.new(KINDS[raw.kind] or "system", ffi.string(raw.message))
  if raw.column >= 0 and names then err.column = names[raw.column + 1] end
  if raw.row > 0 then err.row = tonumber(raw.row) end
  if raw.code ~= 0 then err.code = raw.code end
  if raw.status ~= 0 then err.status = raw.status end
  if raw.name[0] ~= 0 then err.name = ffi.string(raw.name) end
  if raw.host[0] ~= 0 then err.host = ffi.string(raw.host) end
  if err.kind == "server" or err.kind == "network" or err.kind == "timeout" then
    err.retryable = flags % 2 == 1
    err.uncertain = flags >= C.CHUTE_UNCERTAIN
  end
  return err
end

function M.is(value) return getmetatable(value) == Error end

--- Throws a programmer's error at the level of the caller of the public function.
function M.throw(message, level) error("chute: " .. tostring(message), (level or 2) + 1) end

return M
