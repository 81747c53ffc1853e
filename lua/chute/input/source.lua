--- Where the bytes of an input come from: a file, standard input, or a text.
--
-- A source has `name` (for messages), `:read(want)` and `:close()`; one of a file counts the
-- bytes `taken`. read returns the next block, as soon as there is one and at most `want` bytes of
-- it; nil at the end; nil and a message where reading fails.
local ffi = require "ffi"
local bit = require "bit"

ffi.cdef [[
int open(const char *path, int flags, ...);
ssize_t read(int fd, void *out, size_t count);
int close(int fd);
char *strerror(int number);
]]

local C = ffi.C
local O_CLOEXEC = 0x80000
local EINTR = 4
local bytes_t = ffi.typeof "uint8_t[?]"

local source = {}

local File = {}
File.__index = File

local function system_error()
  return ffi.string(C.strerror(ffi.errno()))
end

-- The block buffer is shared by all reads of this file and grows with what is wanted.
function File:room(want)
  if self.capacity < want then
    self.buffer, self.capacity = bytes_t(want), want
  end
  return self.buffer
end

function File:read(want)
  local buffer = self:room(want)
  while not self.closed do
    if self.before_read and not self.before_read(self.fd) then return nil, "interrupted" end
    local got = tonumber(C.read(self.fd, buffer, want))
    if got > 0 then
      self.taken = self.taken + got
      return ffi.string(buffer, got)
    end
    if got == 0 then return nil end
    if ffi.errno() ~= EINTR then return nil, system_error() end
  end
end

function File:close()
  if self.closed then return end
  self.closed = true
  if self.fd > 0 then C.close(self.fd) end
end

--- Opens a file; "-" is standard input. Returns a source, or nil and a message.
-- `before_read(fd)`, where given, is called before each read: false fails the read.
function source.open(path, before_read)
  local fd = 0
  if path ~= "-" then
    fd = C.open(path, bit.bor(0, O_CLOEXEC))
    if fd < 0 then return nil, system_error() end
  end
  local name = path == "-" and "<stdin>" or path
  return setmetatable({ name = name, fd = fd, capacity = 0, taken = 0, before_read = before_read }, File)
end

local Text = {}
Text.__index = Text

function Text:read(want)
  local size = math.min(want, self.block)
  local from = self.at
  if from > #self.text then return nil end
  self.at = from + size
  return self.text:sub(from, from + size - 1)
end

function Text.close() end

--- A source of a text held in memory, given out in blocks of at most `block` bytes.
function source.text(text, block, name)
  return setmetatable({ name = name or "<text>", text = text, at = 1, block = block or #text + 1 }, Text)
end

return source
