--- Fillers: what puts a row of a schema into its cells: through its map, by name or by position,
-- with the checks that tell the two forms apart.
local M = {}

--- What is wrong with a row that has both positions and other keys, or nil.
local function check_positions(row, names, declared, count)
  for key in pairs(row) do
    if declared[key] then
      return ("a row by position that also has the key '%s'"):format(key)
    elseif type(key) == "number" and (key > count or key < 1 or key % 1 ~= 0) then
      return ("position %s of a row of %d columns"):format(key, count)
    end
  end
  return names.strict and names.strict(row, true) or nil
end

--- The first key that no column is read from, as a complaint; positions pass where they may.
local function find_unknown(row, declared, by_position)
  for key in pairs(row) do
    if not declared[key] and not (by_position and type(key) == "number") then
      return ("unknown key '%s'"):format(tostring(key))
    end
  end
end

local function declare(schema)
  local declared = {}
  for _, field in ipairs(schema.fields) do
    if not field.value then declared[field.key] = true end
  end
  return declared
end

--- What a filler returns for a row that the schema's map dropped.
M.FILTERED = setmetatable({}, { __tostring = function() return "filtered" end })

--- The function that fills a schema's cells from a row: nil; or FILTERED where its map dropped
-- the row; or a complaint and the index of the column at fault, where one is.
function M.new(schema)
  local reader, map, count = schema.reader, schema.map, #schema.fields
  local begin, named, positional, finish =
    reader.begin, reader.named, reader.positional, reader.finish
  local declared, strict = declare(schema), schema.strict
  local checks = { strict = strict and function(row) return find_unknown(row, declared, true) end }

  local function fill_positional(row)
    local n = #row
    if n > count or next(row) ~= 1 or next(row, n) ~= nil then
      local problem = check_positions(row, checks, declared, count)
      if problem then return problem end
    end
    positional(row)
  end

  local function fill_named(row)
    local any = named(row)
    if not any and next(row) ~= nil then
      local problem = strict and find_unknown(row, declared, true)
        or check_positions(row, checks, declared, count)
      if problem then return problem end
      positional(row)
    elseif #row > 0 then
      return check_positions(row, checks, declared, count)
    elseif strict then
      return find_unknown(row, declared, false)
    end
  end

  local function fill(row)
    local read, mine, column = begin(row)
    if not read then return mine, column end
    local problem
    if read[1] ~= nil then problem = fill_positional(read) else problem = fill_named(read) end
    if not problem and strict and read ~= row then problem = find_unknown(row, declared, true) end
    if problem then return problem end
    return finish(mine)
  end

  local function fill_mapped(event)
    local ok, row = pcall(map, event)
    if not ok then return "map: " .. tostring(row) end
    if row == nil then return M.FILTERED end
    if type(row) ~= "table" then return "map returned a " .. type(row) .. ", not a row" end
    return fill(row)
  end

  return function(row)
    if map then return fill_mapped(row) end
    if type(row) ~= "table" then return "a row is a table, not a " .. type(row) end
    return fill(row)
  end
end

return M
