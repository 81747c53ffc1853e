-- spools: what specs of the spool share: a database and a folder for each, streams that leave batches
-- behind, and the files there are.
--
--   local sp = spools.new()
--   setup(sp.setup) teardown(sp.teardown) before_each(sp.before_each) after_each(sp.after_each)
--   sp.leave(sp.new_table(), 3, 10)      -- three batches of ten rows, their owner gone
--   sp.root, sp.db
local chute = require "chute"
local ffi = require "ffi"
local process = require "spec.support.process"
local server = require "spec.support.server"
local shell = require "spec.support.shell"

-- What a sanitizer run preloads into this process is not for the shell's.
local CLEAN = { LD_PRELOAD = false }

local M = { columns = { { "a", "UInt64" }, { "b", "String" } } }

function M.lines(text)
  local out = {}
  for line in text:gmatch "[^\n]+" do out[#out + 1] = line end
  return out
end

--- Runs a script of the shell in a folder: what it wrote. Throws where it fails.
function M.shell(script, dir) return (shell.must(script, { dir = dir, env = CLEAN })) end

--- The files below a folder, by their paths in it, sorted.
function M.files(dir)
  local found = M.lines(shell.must("[ -d . ] && find . -type f | sed 's,^./,,' | sort", { dir = dir, env = CLEAN }))
  return found
end

function M.slots(dir)
  local out = {}
  for _, path in ipairs(M.files(dir)) do
    if path:match "%.slot$" then out[#out + 1] = path end
  end
  return out
end

function M.read(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "*a"
  file:close()
  return bytes
end

function M.write(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

function M.assert_balanced(stream)
  local s = stream:stats()
  assert(s.offered == s.accepted + s.rejected + s.filtered + s.refused)
  assert(s.accepted + s.recovered == s.acked + s.dropped + s.parked + s.pending)
  return s
end

--- Waits for what a thread brings about; fails where it does not.
function M.eventually(seconds, condition)
  local deadline = process.now() + seconds
  local seen
  repeat
    seen = condition()
    if seen then return seen end
    ffi.C.poll(nil, 0, 5)
  until process.now() > deadline
  error("it did not come about", 2)
end

--- Where nobody listens.
function M.dead_url() return "http://127.0.0.1:" .. require("spec.support.http").free_port() end

function M.new()
  local self = {}
  local count = 0

  function self.setup() self.db = server.shared.chdb():database() end
  function self.teardown() self.db:drop() end
  function self.before_each() self.root = process.make_dir() end
  function self.after_each()
    collectgarbage()
    shell.run("umount -l tiny", { dir = self.root, env = CLEAN })
    process.remove_dir(self.root)
  end

  function self.new_table()
    count = count + 1
    local name = ("%s.t%d"):format(self.db.name, count)
    self.db:query(("CREATE TABLE %s (a UInt64, b String) ENGINE = MergeTree ORDER BY tuple() "
      .. "SETTINGS non_replicated_deduplication_window = 1000"):format(name))
    return name
  end

  function self.open(opts)
    opts.spool = opts.spool or self.root .. "/spool"
    opts.schema = opts.schema or { columns = M.columns }
    return chute.open(opts)
  end

  --- Leaves batches of `rows` rows each in the spool, in folders without an owner.
  function self.leave(name, batches, rows, opts)
    opts = opts or {}
    opts.url, opts.table, opts.batch = M.dead_url(), name, { age = "1h" }
    local s = self.open(opts)
    for b = 1, batches do
      for i = 1, rows do assert(s:insert { (b - 1) * rows + i, "row" }) end
      s:flush()
    end
    assert(s:close(0))
    return M.assert_balanced(s)
  end

  function self.contents(name) return self.db:query("SELECT count(), uniqExact(a), sum(a) FROM " .. name) end

  function self.deliver(name, opts)
    opts = opts or {}
    opts.url, opts.table = server.shared.chdb().url, name
    local s = self.open(opts)
    M.eventually(20, function()
      local folders = shell.must("ls -d stream-* | wc -l", { dir = opts.spool, env = CLEAN })
      return s:drain(0) and tonumber(folders) == 1
    end)
    local stats = M.assert_balanced(s)
    assert(s:close(5))
    return stats
  end

  return self
end

return M
