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

  local function told(book, stats)
    print(("\n%d lives, %d killed from outside: %d rows accepted, %d stored, %d of them recovered last")
      :format(book.lives, book.killed, book.accepted, book:check(), stats.recovered))
  end

  it("at random moments, three at a time", function()
    local book = ledger.new { db = db, spool = dir .. "/random", table = "random" }
    book:run { lives = LIVES, at_once = 3, env = { CHUTE_BATCH = "400" },
      life = function() return 0.03 + 0.12 * math.random() end }
    told(book, book:drain(120))
    assert.is_true(book.killed > LIVES / 2 and book.accepted > LIVES * 10)
  end)

  it("between any two stores", function()
    shell.must(BUILD, { env = { MAKEFLAGS = false, LD_PRELOAD = false }, timeout = 250 })
    local book = ledger.new { db = db, spool = dir .. "/points", table = "points" }
    book:run { lives = LIVES, at_once = 3, life = function() return 0.5 end, env = function()
      local at = math.random() < 0.5 and math.random(1, 150) or math.random(1, 1500)
      return { CHUTE_KILL_AT = tostring(at), LUA_CPATH = "build/kill/?.so;;" }
    end }
    told(book, book:drain(120))
    assert.is_true(book.codes[137] > LIVES * 0.9)
    assert.is_true(book.killed < LIVES / 10)
  end)
end)
