--- Disks that fail: each call of the spool that reaches for a file, in turn. In half of the lives the
-- server is away, so that there is always something left to be found.
local ledger = require "spec.support.ledger"
local process = require "spec.support.process"
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local spools = require "spec.support.spools"

local NAMES = { "open", "openat", "mkdir", "mkdirat", "flock", "posix_fallocate", "mmap", "renameat", "unlinkat",
  "fstat", "fstatat", "fsync", "fdatasync", "pread", "pwrite" }
local CALLS = 5 -- of each, of which one fails in turn
local ERRORS = { 28, 5, 122, 30, 24, 13 } -- ENOSPC, EIO, EDQUOT, EROFS, EMFILE, EACCES
local SHIM = "build/spec/disk_shim.so"

describe("a spool on a disk that fails #preload", function()
  local db, dir

  setup(function()
    db = server.shared.chdb():database()
    dir = process.make_dir()
    shell.must(("cc -std=gnu11 -D_GNU_SOURCE -O2 -fPIC -shared spec/support/disk_shim.c -ldl -o %s"):format(SHIM),
      { env = { LD_PRELOAD = false } })
  end)
  teardown(function()
    db:drop()
    process.remove_dir(dir)
  end)

  --- The names of the calls that failed → how many did.
  local function failed_calls()
    local out = {}
    for _, name in ipairs(spools.lines(spools.read(dir .. "/calls"))) do out[name] = (out[name] or 0) + 1 end
    return out
  end

  it("at any call keeps what it accepted", function()
    local book = ledger.new { db = db, spool = dir .. "/spool", table = "disk" }
    book:run { lives = 2 * CALLS * #NAMES, at_once = 2, rows = 120, life = function() return 2 end,
      env = function(life)
        local away, try = life % 2 == 0, math.ceil(life / 2)
        return { LD_PRELOAD = SHIM, CHUTE_SPEC_DISK_LOG = dir .. "/calls",
          CHUTE_SPEC_DISK_NAME = NAMES[try % #NAMES + 1], CHUTE_SPEC_DISK_CALL = math.ceil(try / #NAMES),
          CHUTE_SPEC_DISK_ERROR = ERRORS[try % #ERRORS + 1],
          CHUTE_DURABILITY = away and "fsync" or nil, CHUTE_URL = away and spools.dead_url() or nil }
      end }
    book:drain(60)
    local stored, calls = book:check(), failed_calls()
    for code in pairs(book.codes) do assert.is_true(code < 128, "a writer ended with " .. code) end
    assert.is_true(stored >= book.accepted and book.accepted > book.lives * 100)
    for _, name in ipairs(NAMES) do assert.is_true((calls[name] or 0) > 0, name .. " never failed") end
  end)
end)
