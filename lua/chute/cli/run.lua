--- One run of `chute insert`: records from readers into a stream, counted.
local clock = require "chute.clock"

local run = { REJECTS_LOST = "rejected records cannot be written: " }

local LOOK_EVERY = 256 -- rows between two looks at signals, failures and the clock
local SHOWN_ERRORS = 5
local DRAIN_SLICE = 0.2 -- seconds
local CROWD, CROWD_BYTES = 8, 64 * 1024 * 1024 -- batches in flight, and their bytes, to wait at
local PAUSE = 0.005 -- seconds

local Run = {}
Run.__index = Run

--- A run over `parts`: stream, files (a list of { name, reader, source }), rejects (or nil),
-- signals and progress.
function run.new(parts)
  parts.read, parts.malformed, parts.errors = 0, 0, {}
  parts.started = clock()
  return setmetatable(parts, Run)
end

function Run:stop(message)
  self.stopped = true
  self.failure = self.failure or message
end

local function bytes_read(files)
  local sum = 0
  for _, file in ipairs(files) do sum = sum + (file.source.taken or 0) end
  return sum
end

-- Looks at what cannot be told from one row. A batch that failed ends the reading: what made one
-- fail would make the others fail.
function Run:look()
  local stats = self.stream:stats()
  if self.signals:check() or stats.parked > 0 then self.stopped = true end
  self.progress:update(function()
    return self.read, bytes_read(self.files), stats.batches_in_flight
  end)
  return stats
end

-- Waits, as long as nothing else calls, until the server has caught up: in an insert that finds
-- no room no signal would be heeded.
function Run:wait_for_server()
  while not self.stopped do
    local stats = self:look()
    if stats.batches_in_flight < CROWD or stats.pending_bytes < CROWD_BYTES then return end
    self.signals:pause(PAUSE)
  end
end

function Run:reject(file, line, message, raw)
  if #self.errors < SHOWN_ERRORS then
    self.errors[#self.errors + 1] = ("%s:%d: %s"):format(file.name, line, message)
  end
  if not self.rejects then return end
  local ok, err = self.rejects:add(file.name, line, message, raw)
  if not ok then self:stop(run.REJECTS_LOST .. err) end
end

function Run:insert(file, row, line, raw)
  local ok, err = self.stream:insert(row)
  if ok then return end
  if err.kind == "row" then return self:reject(file, line, tostring(err), raw) end
  self.reason = self.reason or err
  self:stop()
end

-- One record, or what a reader says in place of one.
function Run:take(file, row, err, line, raw)
  if row then
    self.read = self.read + 1
    return self:insert(file, row, line, raw)
  end
  -- A record that a signal cut off is none.
  if self.signals.signal then return self:stop() end
  if not raw then return self:stop(("%s:%d: %s"):format(file.name, line, err)) end
  self.read, self.malformed = self.read + 1, self.malformed + 1
  self:reject(file, line, err, raw)
end

function Run:read_file(file)
  local reader = file.reader
  while not self.stopped do
    local row, err, line, raw = reader()
    if not row and not err then return end
    self:take(file, row, err, line, raw)
    if self.read % LOOK_EVERY == 0 then self:wait_for_server() end
    if self.stopped then self.stopped_at = ("%s:%d"):format(file.name, line) end
  end
end

-- A batch had its whole deadline without the server being reached: the others need not have theirs.
function Run:is_cut_off(stats)
  if stats.parked == 0 then return false end
  local why = self.stream:last_error()
  return why ~= nil and (why.kind == "network" or why.kind == "timeout")
end

-- Waits until all that was accepted has its end. A second signal ends the wait.
function Run:drain()
  local heeded = self.signals.count
  self.stream:flush()
  while true do
    local ok, err = self.stream:drain(DRAIN_SLICE)
    if ok or err.kind ~= "timeout" then return end
    local stats = self:look()
    if self.signals.count > math.max(heeded, 1) or self:is_cut_off(stats) then return end
  end
end

function Run:report(stats)
  local rejected = stats.rejected + self.malformed
  return {
    offered = self.read,
    acked = stats.acked,
    rejected = rejected,
    filtered = stats.filtered,
    undelivered = self.read - stats.acked - rejected - stats.filtered,
    errors = self.errors,
    reason = self.reason or self.stream:last_error(),
    failure = self.failure,
    stopped_at = self.stopped_at,
    signal = self.signals.signal,
    elapsed = clock() - self.started,
  }
end

--- Reads all, waits for its end and closes the stream. The report: offered, acked, rejected,
-- filtered, undelivered (rows), errors (the first few, "file:line: message"), reason (the error of
-- what is undelivered), failure (what ended the reading), stopped_at, signal, elapsed (seconds).
function Run:go()
  for _, file in ipairs(self.files) do
    if self.stopped then break end
    self:read_file(file)
  end
  self:drain()
  local stats = self.stream:stats()
  self.signals:check()
  self.progress:clear()
  self.stream:close(0)
  return self:report(stats)
end

return run
