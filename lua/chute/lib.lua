--- The engine's library, loaded once: `lib.C` calls it, `lib.ffi` is LuaJIT's FFI.
-- The library is looked for as package.cpath says ("libchute"), as a rock installs it.
local ok, ffi = pcall(require, "ffi")
if not ok then
  error("chute needs LuaJIT: run it with luajit, not with " .. _VERSION, 0)
end

ffi.cdef(require "chute.cdef")

local path, tried = package.searchpath("libchute", package.cpath)
if not path then
  error("chute: libchute.so is not on package.cpath:" .. tried, 0)
end

return { C = ffi.load(path), ffi = ffi, path = path }
