--- Seconds on the monotonic clock.
local ffi = require "ffi"

ffi.cdef "int clock_gettime(int clock, void *out);"

local CLOCK_MONOTONIC = 1
local now = ffi.new "struct { long seconds, nanoseconds; }"

return function()
  ffi.C.clock_gettime(CLOCK_MONOTONIC, now)
  return tonumber(now.seconds) + tonumber(now.nanoseconds) / 1e9
end
