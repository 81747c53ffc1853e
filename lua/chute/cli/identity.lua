--- Which file a path or descriptor leads to, whatever it is called there.
local ffi = require "ffi"

ffi.cdef [[
int statx(int folder, const char *path, int flags, unsigned mask, void *out);
]]

local AT_FDCWD, AT_EMPTY_PATH = -100, 0x1000
local STATX_TYPE, STATX_INO = 0x001, 0x100
local S_IFMT, S_IFREG = 0xF000, 0x8000
local bit = require "bit"

-- The part of a struct statx that is wanted, of its 256 bytes.
local statx_t = ffi.typeof [[struct {
  uint32_t mask, block; uint64_t attributes; uint32_t links, owner, group;
  uint16_t mode, spare; uint64_t inode; uint8_t between[96];
  uint32_t device_major, device_minor; uint8_t rest[112];
}]]
assert(ffi.sizeof(statx_t) == 256)

--- A text that two names of one file share: its device and inode. nil where nothing is there, or
-- something else than a file that writing to would overwrite (a terminal, a pipe).
return function(of)
  local out = statx_t()
  local fd, path, flags = AT_FDCWD, of, 0
  if type(of) == "number" then fd, path, flags = of, "", AT_EMPTY_PATH end
  if ffi.C.statx(fd, path, flags, STATX_TYPE + STATX_INO, out) ~= 0 then return nil end
  if bit.band(out.mode, S_IFMT) ~= S_IFREG then return nil end
  return ("%d:%d:%s"):format(out.device_major, out.device_minor, tostring(out.inode))
end
