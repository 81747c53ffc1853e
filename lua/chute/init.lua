--- chute: events into ClickHouse, fast and without loss.
--
--   local chute = require "chute"
--   local s = chute.open { url = "http://localhost:8123", schema = "schemas/events.lua" }
--   local ok, err = s:insert { site_id = 1, ts = os.time() }
--   s:close()
local values = require "chute.values"

local M = { _VERSION = "0.1.0", null = values.null, pairs = values.pairs,
  list = values.list, typed = values.typed }

-- The brackets below keep each call from being a tail call, which takes the caller's level away.

--- Compiles a schema from a table. Throws, naming the column.
function M.schema(def) return (require("chute.schema").new(def, 2)) end

--- Loads and compiles a schema script. Throws, naming file, line and column.
function M.load(path) return (require("chute.schema").load(path, 2)) end

--- A buffer of rows for a schema or a definition of one: see chute.buffer.
function M.buffer(of, opts) return (require("chute.buffer").new(of, opts, 2)) end

--- A connection for single statements: see chute.http.
function M.connect(url, opts) return (require("chute.http").connect(url, opts, 2)) end

--- A pool of connections: see chute.pool.
function M.pool(opts) return (require("chute.pool").open(opts, 2)) end

--- A stream to insert into: see chute.stream.
function M.open(opts) return (require("chute.stream").open(opts, 2)) end

--- Counters of streams and pools as Prometheus reads them: see chute.metrics.
function M.prometheus(of) return (require("chute.metrics").prometheus(of)) end

--- A schema script (text) made from a server's table, or nil, err: see chute.describe.
function M.describe(conn, name)
  local text, err = require("chute.describe").describe(conn, name, 2)
  return text, err
end

return M
