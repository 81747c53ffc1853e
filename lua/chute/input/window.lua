--- A window over a source: the text read and not yet consumed.
--
-- `text` holds it from index `pos` on; `line` is the number of the line that begins or goes on
-- at `pos`. What a reader looks at it addresses by offset from `pos` (0 is the first byte),
-- since reading more moves the text. Memory is bounded: one record and one block.
local find, sub, byte = string.find, string.sub, string.byte

local window = {}
window.__index = window

local BLOCK = 256 * 1024
local LIMIT = 16 * 1024 * 1024
local BOM = "\239\187\191"

--- `limit`: the most bytes that one record may have.
function window.new(source, limit)
  return setmetatable({ source = source, limit = limit or LIMIT, text = "", pos = 1, line = 1 }, window)
end

-- A byte order mark may come in pieces: the first read goes on until it can be told.
local function first_text(source)
  local text = ""
  repeat
    local block, err = source:read(BLOCK)
    if not block then return text, err or "end" end
    text = text .. block
  until #text >= #BOM or sub(BOM, 1, #text) ~= text
  if sub(text, 1, #BOM) == BOM then text = sub(text, #BOM + 1) end
  return text
end

function window:start()
  self.started = true
  self.text, self.why = first_text(self.source)
  if self.text ~= "" then return true end
  if self.why then return nil, self.why end
  return self:more()
end

--- Reads more text behind what is there; `pos` may change. Returns true, or nil and why not:
-- "end", "limit" (one record fills the window), or the message of a failed read.
function window:more()
  if not self.started then return self:start() end
  if self.why then return nil, self.why end
  local kept = #self.text - self.pos + 1
  if kept > self.limit then return nil, "limit" end
  -- As much again as is there, so that a long record is not copied once a block.
  local block, err = self.source:read(math.max(BLOCK, kept))
  if not block then
    self.why = err or "end"
    return nil, self.why
  end
  self.text, self.pos = sub(self.text, self.pos) .. block, 1
  return true
end

--- Offset of the next `mark` (one byte, plain) at or after `offset`; nil, why and the offset of
-- the window's end where there is none.
function window:find(mark, offset)
  while true do
    local at = find(self.text, mark, self.pos + offset, true)
    if at then return at - self.pos end
    offset = #self.text - self.pos + 1
    local ok, why = self:more()
    if not ok then return nil, why, offset end
  end
end

--- The bytes from offset `from` to before offset `to`.
function window:slice(from, to)
  return sub(self.text, self.pos + from, self.pos + to - 1)
end

--- The byte at `offset` as a number, or nil and why there is none.
function window:byte(offset)
  while true do
    local value = byte(self.text, self.pos + offset)
    if value then return value end
    local ok, why = self:more()
    if not ok then return nil, why end
  end
end

--- Consumes `bytes` bytes, in which `lines` lines end.
function window:advance(bytes, lines)
  self.pos = self.pos + bytes
  self.line = self.line + lines
end

--- Consumes all up to and including the next newline, however far that is.
function window:skip_line()
  while true do
    local at = find(self.text, "\n", self.pos, true)
    if at then
      self.pos, self.line = at + 1, self.line + 1
      return
    end
    self.pos = #self.text + 1
    if not self:more() then return end
  end
end

--- What `why` means to a person, for a reader whose record breaks off.
function window:explain(why)
  if why == "limit" then return ("longer than %d bytes"):format(self.limit) end
  return why
end

return window
