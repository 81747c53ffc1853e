-- spooler: a program that inserts into a stream with a spool until it is killed.
--
--   luajit spec/support/spooler.lua URL TABLE SPOOL FIRST [ROWS]
--
-- Row n (from FIRST on) is { n, text_of(n) }. Each time insert returned true it writes n to stdout,
-- 8 bytes, at once: what it wrote there was accepted. A row that the spool refuses it tries again.
-- After ROWS rows (else never) it ends, leaving what it has not delivered within a moment.
-- CHUTE_BATCH: rows a batch; CHUTE_DURABILITY; CHUTE_URL: in URL's place.
local url, name, spool, first, rows = unpack(arg)
local chute = require "chute"
local ffi = require "ffi"

ffi.cdef "long write(int fd, const void *bytes, size_t len);"

local stream = chute.open {
  url = os.getenv "CHUTE_URL" or url, table = name, spool = spool,
  durability = os.getenv "CHUTE_DURABILITY",
  batch = { rows = tonumber(os.getenv "CHUTE_BATCH" or 40), age = "5ms", bytes = "64KiB" },
  pending = { overflow = "block" },
  schema = { columns = { { "a", "UInt64" }, { "b", "String" } } },
}

local accepted = ffi.new "uint64_t[1]"
local last = rows and first + rows - 1 or math.huge
local n = tonumber(first)
while n <= last do
  local ok, err = stream:insert { n, ("x"):rep(n % 300) .. n }
  if ok then
    accepted[0] = n
    ffi.C.write(1, accepted, 8)
    n = n + 1
  elseif err.kind ~= "spool" then
    error(tostring(err))
  end
end
stream:drain(0.05)
stream:close(0.01)
