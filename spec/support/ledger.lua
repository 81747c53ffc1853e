-- ledger: which rows were accepted, kept apart from the process that inserted them.
--
--   local ledger = require "spec.support.ledger"
--   local book = ledger.new { db = db, spool = dir }
--   book:run { lives = 100, at_once = 3, life = function() return 0.02 end, env = {} }
--   book:drain(30)     -- what is left in the spool goes to the server
--   book:check()       -- acknowledged ⊆ stored ⊆ offered, once each, in order within a batch
local bit = require "bit"
local chute = require "chute"
local ffi = require "ffi"
local process = require "spec.support.process"
local server = require "spec.support.server"
local spools = require "spec.support.spools"

local C = ffi.C
pcall(ffi.cdef, "int fcntl(int fd, int command, ...);")
local F_GETFL, F_SETFL, O_NONBLOCK = 3, 4, 0x800
local SPACE = 1e6 -- numbers that a life may use

local ledger, book = {}, {}
book.__index = book

--- A table of its own, which drops what it has already had, and the folder of the spool.
function ledger.new(options)
  local self = setmetatable({ db = options.db, spool = options.spool, lives = 0, last = {},
    accepted = 0, killed = 0, url = options.url or server.shared.chdb().url }, book)
  self.table = options.db.name .. "." .. (options.table or "ledger")
  self.db:query(("CREATE TABLE %s (a UInt64, b String) ENGINE = MergeTree ORDER BY tuple() SETTINGS "
    .. "non_replicated_deduplication_window = 1000000, parts_to_throw_insert = 1000000, "
    .. "parts_to_delay_insert = 1000000, max_parts_in_total = 1000000"):format(self.table))
  self.db:query("SYSTEM STOP MERGES " .. self.table)
  return self
end

local function start(self, env, rows)
  self.lives = self.lives + 1
  local child = process.spawn {
    argv = { "luajit", "spec/support/spooler.lua", self.url, self.table, self.spool,
      ("%d"):format(self.lives * SPACE), rows },
    stdout = true, die_with_parent = true, env = env, log = self.spool .. "-log",
  }
  C.fcntl(child.stdout, F_SETFL, ffi.cast("int", bit.bor(C.fcntl(child.stdout, F_GETFL), O_NONBLOCK)))
  return { child = child, number = self.lives, count = 0, rest = "" }
end

local block = ffi.new "char[65536]"
local number = ffi.new "uint64_t[1]"

--- Notes what the child has written. They come one by one, in order. False at the end.
local function note(self, life)
  local got = tonumber(C.read(life.child.stdout, block, 65536))
  if got <= 0 then return got < 0 end
  local bytes = life.rest .. ffi.string(block, got)
  local whole = #bytes - #bytes % 8
  life.rest = bytes:sub(whole + 1)
  life.count = life.count + whole / 8
  if whole > 0 then
    ffi.copy(number, bytes:sub(whole - 7, whole), 8)
    life.last = tonumber(number[0])
  end
  self.last[life.number] = life.last
  return true
end

local function step(self, life)
  local open = note(self, life)
  if process.now() >= life.until_ then
    life.child:kill(process.SIGKILL)
    self.killed = self.killed + 1
    while open do open = note(self, life) end
  end
  if open then return true end
  assert(life.child:wait(10))
  self.codes[life.child.code] = (self.codes[life.child.code] or 0) + 1
  self.accepted = self.accepted + life.count
  return false
end

--- Lets `lives` children live, `at_once` at a time, each for life() seconds at most, or till it has
-- inserted `rows`. env: theirs, or a function from the number of the life that makes it. How they
-- ended is in self.codes, exit code → how many.
function book:run(options)
  local running, started = {}, 0
  self.codes = {}
  while started < options.lives or next(running) do
    for slot = 1, options.at_once or 1 do
      local life = running[slot]
      if not life and started < options.lives then
        started = started + 1
        local env = options.env
        life = start(self, type(env) == "function" and env(started) or env, options.rows)
        life.until_ = process.now() + options.life()
        running[slot] = life
      end
      if life and not step(self, life) then running[slot] = nil end
    end
    C.poll(nil, 0, 1)
  end
end

local function folders(self)
  return tonumber(spools.shell("ls | grep -c ^stream- || true", self.spool))
end

--- Delivers what was left, at most within `seconds`; the stats of the stream that did.
function book:drain(seconds)
  local stream = chute.open { url = self.url, table = self.table, spool = self.spool,
    schema = { columns = { { "a", "UInt64" }, { "b", "String" } } } }
  local deadline = process.now() + seconds
  repeat
    stream:drain(1)
    C.poll(nil, 0, 20)
  until folders(self) <= 1 or process.now() > deadline
  local stats = stream:stats()
  local why = stream:last_error()
  assert(stream:close(5))
  assert(folders(self) == 0, "folders are left in the spool: " .. tostring(why))
  return stats
end

local function rows_of(text)
  local out = {}
  for line in text:gmatch "[^\n]+" do out[#out + 1] = line end
  return out
end

--- Compares with what is stored; errors tell what is wrong. The rows stored.
function book:check()
  local db, name = self.db, self.table
  local count, once, wrong = db:query(("SELECT count(), uniqExact(a), "
    .. "countIf(b != concat(repeat('x', a %% 300), toString(a))) FROM %s"):format(name))
    :match "(%d+)\t(%d+)\t(%d+)"
  assert(count == once, ("%s rows are stored, %s of them different"):format(count, once))
  assert(wrong == "0", wrong .. " rows are not as they were inserted")
  local stored = {}
  for _, line in ipairs(rows_of(db:query(("SELECT intDiv(a, %d) AS w, count(), min(a), max(a) FROM "
    .. "%s GROUP BY w"):format(SPACE, name)))) do
    local life, rows, low, high = line:match "(%d+)\t(%d+)\t(%d+)\t(%d+)"
    stored[tonumber(life)] = { rows = tonumber(rows), low = tonumber(low), high = tonumber(high) }
  end
  for life = 1, self.lives do
    local last, have = self.last[life], stored[life]
    local first = life * SPACE
    if last then assert(have, ("nothing of life %d is stored: it had %d"):format(life, last)) end
    if have then
      assert(have.low == first and have.high - have.low + 1 == have.rows,
        ("life %d has gaps: %d rows from %d to %d"):format(life, have.rows, have.low, have.high))
      local most = (last or first - 1) + 1
      assert(have.high >= (last or 0), ("life %d lost rows from %d to %d"):format(life, have.high + 1, last or 0))
      assert(have.high <= most, ("life %d stored %d, beyond %d"):format(life, have.high, most))
    end
  end
  local disordered = db:query(("SELECT count() FROM (SELECT _part, a, lagInFrame(a) OVER (PARTITION BY "
    .. "_part ORDER BY _part_offset) AS before FROM %s) WHERE before >= a"):format(name))
  assert(disordered == "0\n", disordered .. " rows are not in the order of their batch")
  return tonumber(count)
end

return ledger
