--- The file of rejected records: NDJSON of { file, line, error, record }, readable by its owner.
local cjson = require "cjson"
local ffi = require "ffi"
local bit = require "bit"

ffi.cdef [[
int open(const char *path, int flags, ...);
int close(int fd);
]]

local O_WRONLY, O_CREAT, O_CLOEXEC = 1, 0x40, 0x80000
local OWNER_ONLY = 384 -- 0600

local Rejects = {}
Rejects.__index = Rejects

--- Adds a record. True, or nil and a message where it cannot be written.
function Rejects:add(file, line, message, record)
  return self.handle:write(cjson.encode { file = file, line = line, error = message, record = record }, "\n")
end

--- True, or nil and a message where what was added could not be written. Idempotent.
function Rejects:close()
  local handle = self.handle
  self.handle = nil
  if not handle then return true end
  return handle:close()
end

local rejects = {}

-- Makes the file with its mode before anything is in it; what is there stays, mode and all.
local function create(path)
  local fd = ffi.C.open(path, bit.bor(O_WRONLY, O_CREAT, O_CLOEXEC), ffi.cast("int", OWNER_ONLY))
  if fd >= 0 then ffi.C.close(fd) end
end

--- Opens a file for rejected records; one that exists is emptied. nil and a message.
function rejects.open(path)
  create(path)
  local handle, err = io.open(path, "w")
  if not handle then return nil, err end
  return setmetatable({ handle = handle }, Rejects)
end

return rejects
