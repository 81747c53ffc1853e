-- fault_bench: what the fault proxy's own specs share: a table of numbers behind a proxy, and inserts
-- through it with the judge's client.

local ffi = require "ffi"
local faults = require "spec.support.faults"
local http = require "spec.support.http"
local server = require "spec.support.server"

ffi.cdef "unsigned char *SHA256(const char *bytes, size_t len, unsigned char *sum);"
local crypto = ffi.load "crypto"

local fault_bench = {}
local bench = {}
bench.__index = bench

--- SHA-256 in hex.
function fault_bench.sha256(text)
  local sum = ffi.new "unsigned char[32]"
  crypto.SHA256(text, #text, sum)
  return (ffi.string(sum, 32):gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

--- UInt64 first (0), first + 1, … as RowBinary.
function fault_bench.numbers(count, first)
  local out = ffi.new("uint64_t[?]", count)
  for i = 0, count - 1 do out[i] = (first or 0) + i end
  return ffi.string(out, count * 8)
end

fault_bench.ONE_ROW = fault_bench.numbers(1)

--- A proxy (with TLS ports) before ClickHouse 26.5, and a table t (n UInt64): proxy, db, chdb, and path,
-- the URL's of an INSERT of RowBinary.
function fault_bench.start()
  local chdb = server.shared.chdb()
  local db = chdb:database()
  db:query "CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n"
  return setmetatable({
    chdb = chdb, db = db, proxy = faults.proxy { upstream = chdb, tls = true },
    path = "/?" .. http.query_string { database = db.name, query = "INSERT INTO t FORMAT RowBinary" },
  }, bench)
end

--- No rule, no connection, nothing logged, no row.
function bench:clean()
  self.proxy:clear()
  self.proxy:reset()
  self.proxy:await_most("open", 0)
  self.proxy:forget()
  self.db:query "TRUNCATE TABLE t"
end

function bench:stop()
  self.proxy:stop()
  self.db:drop()
end

--- Rows at the server.
function bench:count() return tonumber(self.db:query "SELECT count() FROM t") end

--- Sends an INSERT of one row through the proxy, or of options.body. options: path, headers, timeout
-- (5), length. As http.start.
function bench:start(options)
  options = options or {}
  return assert(http.start {
    port = self.proxy.port, path = options.path or self.path, body = options.body or fault_bench.ONE_ROW,
    headers = options.headers, timeout = options.timeout or 5, length = options.length,
  })
end

--- As start, but waits: the answer, or nil and a message.
function bench:insert(options) return self:start(options):finish() end

--- The bytes that come back, or those before an error, and the error.
function bench:insert_bytes(options)
  local text, err, before = self:start(options):bytes()
  return text or before, err
end

--- The one request that came, once it is over.
function bench:only_request()
  self.proxy:await("finished", 1)
  local all = self.proxy:requests()
  assert(#all == 1, #all .. " requests")
  return all[1]
end

return fault_bench
