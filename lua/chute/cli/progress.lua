--- The progress line: how far a run has come, redrawn on a terminal and nowhere else.
local clock = require "chute.clock"
local units = require "chute.cli.units"
local ffi = require "ffi"

ffi.cdef "int isatty(int fd);"

local INTERVAL = 0.2 -- seconds between two redraws
local STDERR = 2

local Progress = {}
Progress.__index = Progress

--- Draws the line if it is time to. `read(out)` is asked for the numbers only then: it returns
-- rows, bytes and batches in flight.
function Progress:update(read)
  local now = clock()
  if not self.shown or now < self.due then return end
  self.due = now + INTERVAL
  local rows, bytes, in_flight = read()
  io.stderr:write(("\r\27[K%s rows  %s  %s rows/s  %d batches in flight"):format(
    units.count(rows), units.bytes(bytes), units.count(rows / (now - self.started)), in_flight))
  io.stderr:flush()
end

--- Wipes the line.
function Progress:clear()
  if self.shown then io.stderr:write("\r\27[K") end
end

--- `shown`: nil asks whether standard error is a terminal.
return function(shown)
  if shown == nil then shown = ffi.C.isatty(STDERR) == 1 end
  local now = clock()
  return setmetatable({ shown = shown, started = now, due = now + INTERVAL }, Progress)
end
