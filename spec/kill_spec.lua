--- Processes killed at any instant: every row that insert accepted is stored, once, in order.
-- CHUTE_LIVES (150): processes that each of the loops kills.
local ledger = require "spec.support.ledger"
local process = require "spec.support.process"
local server = require "spec.support.server"
local shell = require "spec.support.shell"

-- The library with points to be killed at: see core/kill.h.
local BUILD = "make -s BUILD=build/kill CC=cc CFLAGS='-O2 -g -DCHUTE_KILL_POINTS' build"
local LIVES = tonumber(os.getenv "CHUTE_LIVES" or 150)

describe("the spool, its writers killed", function()
  local db, dir

  setup(function()
    math.randomseed(os.time())
    db = server.shared.chdb():database()
    dir = process.make_dir()
  end)
  teardown(function()
    db:drop()
    process.remove_dir(dir)
  end)

  --- Checks, and leaves the figures where make soak shows them.
  local function check(book, stats)
    local text = ("%d processes killed: %d rows accepted, %d stored, %d of them recovered after the last\n")
      :format(book.lives, book.accepted, book:check(), stats.recovered)
    local path = os.getenv "CHUTE_SOAK_REPORT"
    local out = path and assert(io.open(path, "a")) or io.stdout
    out:write(text)
    if path then out:close() end
  end

  it("at random moments, three at a time", function()
    local book = ledger.new { db = db, spool = dir .. "/random", table = "random" }
    book:run { lives = LIVES, at_once = 3, env = { CHUTE_BATCH = "400" },
      life = function() return 0.03 + 0.12 * math.random() end }
    check(book, book:drain(120))
    assert.is_true(book.killed > LIVES / 2 and book.accepted > LIVES * 10)
  end)

  it("between any two stores", function()
    shell.must(BUILD, { env = { MAKEFLAGS = false, LD_PRELOAD = false }, timeout = 250 })
    local book = ledger.new { db = db, spool = dir .. "/points", table = "points" }
    book:run { lives = LIVES, at_once = 3, life = function() return 0.5 end, env = function()
      local at = math.random() < 0.5 and math.random(1, 150) or math.random(1, 1500)
      return { CHUTE_KILL_AT = tostring(at), LUA_CPATH = "build/kill/?.so;;" }
    end }
    check(book, book:drain(120))
    assert.is_true(book.codes[137] > LIVES * 0.9)
    assert.is_true(book.killed < LIVES / 10)
  end)
end)
