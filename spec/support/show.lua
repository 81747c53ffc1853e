-- show: any value as one text, the same for the same value: what cdata and chute's own tables are is
-- told, NaN is itself, keys are sorted.

local ffi = require "ffi"
local values = require "chute.values"

local INT64, UINT64 = ffi.typeof "int64_t", ffi.typeof "uint64_t"
local show

local function show_table(value)
  local keys, parts = {}, {}
  for key in pairs(value) do
    if type(key) ~= "number" or key % 1 ~= 0 or key < 1 or key > #value then
      keys[#keys + 1] = { show(key), show(value[key]) }
    end
  end
  table.sort(keys, function(a, b) return a[1] < b[1] end)
  for i = 1, #value do parts[i] = show(value[i]) end
  for _, pair in ipairs(keys) do parts[#parts + 1] = ("[%s] = %s"):format(pair[1], pair[2]) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function show_number(value)
  if value ~= value then return "nan" end
  if value == 0 and 1 / value < 0 then return "-0" end
  return ("%.17g"):format(value)
end

function show(value)
  local kind, meta = type(value), getmetatable(value)
  if value == values.null then return "NULL" end
  if kind == "string" then return ("%q"):format(value):gsub("\r", "\\r") end
  if kind == "number" then return show_number(value) end
  if kind == "cdata" and not ffi.istype(INT64, value) and not ffi.istype(UINT64, value) then
    error("a cdata of another type", 2)
  end
  if kind ~= "table" then return tostring(value) end
  if meta == values.Typed then return ("typed(%q, %s)"):format(value.type, show(value.value)) end
  if meta == values.Pairs then return "pairs " .. show_table(value) end
  return show_table(value)
end

return show
