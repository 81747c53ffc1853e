--- Numbers as people read them.
local units = {}

--- A whole number with its thousands apart: 1234567 → "1,234,567".
function units.count(number)
  local digits = ("%.0f"):format(number)
  local grouped = digits:reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (grouped:gsub("^,", ""))
end

local STEPS = { "KiB", "MiB", "GiB", "TiB" }

--- A number of bytes: 512 → "512 B", 1572864 → "1.5 MiB".
function units.bytes(number)
  if number < 1024 then return ("%d B"):format(number) end
  local step = 0
  repeat
    number, step = number / 1024, step + 1
  until number < 1024 or step == #STEPS
  return ("%.1f %s"):format(number, STEPS[step])
end

return units
