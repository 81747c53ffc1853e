-- golden: bytes that must never change, each kept twice: spec/golden/NAME.bin, and the same in hex,
-- with remarks for people, in NAME.hex. A missing twin is an error, as are twins that differ; no
-- run writes one.

local golden = {}

local function read(path)
  local file, err = io.open(path, "rb")
  if not file then error("no golden: " .. err, 3) end
  local text = file:read "*a"
  file:close()
  return text
end

--- The bytes of hex text: pairs of digits; blanks, and remarks from # to the line's end, are left out.
function golden.unhex(text)
  local digits = text:gsub("#[^\n]*", ""):gsub("%s+", "")
  if #digits % 2 == 1 or digits:find "%X" then error("no hex text", 2) end
  return (digits:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end))
end

--- The hex text of bytes, 32 of them a line.
function golden.hex(bytes)
  local line = ("%x"):rep(64)
  local digits = bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end)
  return (digits:gsub(line, "%0\n"))
end

--- The bytes of a golden by name.
function golden.read(name, folder)
  local path = (folder or "spec/golden") .. "/" .. name
  local bytes, hex = read(path .. ".bin"), golden.unhex(read(path .. ".hex"))
  if bytes ~= hex then
    error(("%s: the twins differ:\n%s\n%s"):format(path, golden.hex(bytes), golden.hex(hex)), 2)
  end
  return bytes
end

--- Throws, with both in hex, where `bytes` are not the golden's.
function golden.check(name, bytes)
  local wanted = golden.read(name)
  if bytes ~= wanted then
    error(("not the golden %s:\n%s\nbut\n%s"):format(name, golden.hex(wanted), golden.hex(bytes)), 2)
  end
end

return golden
