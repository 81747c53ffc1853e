--- Connections for single statements: stateless, one at a time.
local pool = require "chute.pool"

local M = {}

local Connection = {}
Connection.__index = Connection

--- Opens a connection; nothing is sent yet. opts: those of chute.pool but url and
-- size. Throws at the caller's level.
function M.connect(url, opts, level)
  local own = {}
  for key, value in pairs(opts or {}) do own[key] = value end
  own.url, own.size = url, 1
  return setmetatable({ pool = pool.open(own, (level or 1) + 1) }, Connection)
end

--- Sends a statement and waits for its outcome: see chute.query for opts. A result; or nil, err.
function Connection:query(sql, opts)
  local answer, err = self.pool:query(sql, opts, 2)
  return answer, err
end

--- Sends a statement and does not wait: a request, with :done(), :result() and :cancel(). Or nil, err.
function Connection:request(sql, opts)
  local request, err = self.pool:request(sql, opts, 2)
  return request, err
end

--- Asks whether the server answers. true; or nil, err.
function Connection:ping() return self.pool:ping() end

--- Closes it; later calls find it closed. Always true.
function Connection:close() return self.pool:close() end

return M
