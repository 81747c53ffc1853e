-- names: host names that change while a program runs, for a program of a spec's own.
--
--   local names = require("spec.support.names").new { ["chute.test"] = { "127.0.0.2" } }
--   process.spawn { argv = …, env = names.env }
--   names:set { ["chute.test"] = { "127.0.0.3", "127.0.0.2" } }
--   names:asked "chute.test" --> how many times it was looked up     names:close()
--
-- Other names stay the system's. See resolver_shim.c.

local process = require "spec.support.process"

local names = {}
local table_of = {}
table_of.__index = table_of

--- Replaces all names. A name with no address does not resolve. Whoever looks up meanwhile sees the
-- old names or the new ones.
function table_of:set(addresses)
  local lines = {}
  for name, list in pairs(addresses) do lines[#lines + 1] = name .. " " .. table.concat(list, " ") .. "\n" end
  local file = assert(io.open(self.path .. ".new", "w"))
  file:write(table.concat(lines))
  file:close()
  assert(os.rename(self.path .. ".new", self.path))
end

--- How many times a name of ours was looked up.
function table_of:asked(name)
  local file, count = io.open(self.path .. ".asked"), 0
  if not file then return 0 end
  for line in file:lines() do
    if line == name then count = count + 1 end
  end
  file:close()
  return count
end

--- Removes what it keeps on disk.
function table_of:close() process.remove_dir(self.dir) end

--- Names (name → list of addresses) and env, for the program to start. path is the file they are in.
function names.new(addresses)
  local dir = process.make_dir()
  local shim = (os.getenv "CHUTE_BUILD" or "build") .. "/spec/resolver_shim.so"
  local preloaded = os.getenv "LD_PRELOAD"
  local self = setmetatable({ dir = dir, path = dir .. "/names" }, table_of)
  self.env = {
    CHUTE_SPEC_NAMES = self.path, LD_PRELOAD = preloaded and preloaded .. " " .. shim or shim,
  }
  self:set(addresses)
  return self
end

return names
