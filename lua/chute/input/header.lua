--- The header line of a CSV or TSV file: the names of its fields.
local header = {}

--- The names themselves, or nil and a message where one is empty or stands twice.
function header.check(names)
  local seen = {}
  for i, name in ipairs(names) do
    if name == "" then return nil, ("field %d of the header has no name"):format(i) end
    if seen[name] then return nil, ("'%s' stands twice in the header"):format((name:gsub("%c", "?"))) end
    seen[name] = true
  end
  return names
end

--- What is wrong with a row of `count` fields under this header.
function header.ragged(names, count)
  return ("%d fields where the header has %d"):format(count, #names)
end

return header
