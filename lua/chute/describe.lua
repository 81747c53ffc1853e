--- Describing: a schema script made from a server's table.
local schema = require "chute.schema"
local server_table = require "chute.table"

local M = {}

local TEXTS = { String = true, FixedString = true, Enum8 = true, Enum16 = true }
local ESCAPES = { ["0"] = "\0", a = "\a", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", v = "\v" }

-- Text in double quotes, on one line whatever is in it.
local function quote(text)
  return (("%q"):format(text):gsub("\\\n", "\\n"):gsub("\r", "\\r"):gsub("%z", "\\0"))
end

-- ---- defaults -------------------------------------------------------------------------------

-- The type inside of Nullable and LowCardinality, its family alone.
local function family(ctype)
  local inner = ctype:match "^LowCardinality%((.*)%)$" or ctype
  inner = inner:match "^Nullable%((.*)%)$" or inner
  return inner:match "^%w+"
end

local function unescape(text)
  return (text:gsub("\\(.)", function(c) return ESCAPES[c] or c end))
end

-- A literal of SQL as Lua source: nil where it is none, or none that means the same in both.
local function literal(expression, of)
  expression = expression:match "^CAST%((.*), '[^']*'%)$" or expression:match "^CAST%((.*), 'Enum.*'%)$" or expression
  local text = TEXTS[of] and expression:match "^'(.*)'$"
  if text and not text:gsub("\\.", ""):find "'" and not text:find "\\x" then return quote(unescape(text)) end
  if of == "Bool" and (expression == "true" or expression == "false") then return expression end
  if of:find "Int%d+$" and expression:find "^%-?%d+$" then
    local number = tonumber(expression)
    return math.abs(number) < 2 ^ 53 and expression or quote(expression)
  end
  if of == "Decimal" and expression:find "^%-?%d+%.?%d*$" then return quote(expression) end
  if of:find "^Float" and expression:find "^%-?%d+%.?%d*$" then return expression end
  if of == "Array" and expression == "[]" or of == "Map" and expression == "map()" then return "{}" end
end

-- The default as Lua source, if a schema with it compiles.
local function default_of(column)
  local source = column.kind == "DEFAULT" and literal(column.expression, family(column.type) or "")
  if not source then return nil end
  local value = assert(loadstring("return " .. source))()
  local fine = pcall(schema.new, { columns = { { column.name, column.type, default = value } } })
  return fine and source or nil
end

-- ---- the script -----------------------------------------------------------------------------

local function one_line(text) return (text:gsub("%c+", " ")) end

local function line_of(column)
  local spec = ("{ %s, %s"):format(quote(column.name), quote(column.type))
  if column.kind == "EPHEMERAL" then
    return ("    -- %s }, -- EPHEMERAL: for DEFAULTs of others to use, not stored\n"):format(spec)
  end
  local default = default_of(column)
  if default then spec = ("%s, default = %s"):format(spec, default) end
  local note = column.kind == "DEFAULT" and not default and " -- DEFAULT " .. one_line(column.expression) or ""
  return ("    %s },%s\n"):format(spec, note)
end

local function script(described)
  local lines = {}
  for _, column in ipairs(described.columns) do
    if column.kind ~= "MATERIALIZED" and column.kind ~= "ALIAS" then
      lines[#lines + 1] = line_of(column)
    end
  end
  return ("return {\n  table = %s,\n  columns = {\n%s  },\n}\n"):format(
    quote(server_table.full_name(described)), table.concat(lines))
end

--- A schema script (text) for a table of the server: `conn` is a connection or a pool, `name`
-- "table" or "db.table". Columns that cannot be inserted (MATERIALIZED, ALIAS) are left out,
-- EPHEMERAL ones are a comment. A DEFAULT that is a plain literal is the script's default; another
-- is a comment: delete the column's line where the server is to fill it. Or nil, err. Throws at
-- `level` where the name is none.
function M.describe(conn, name, level)
  local described, err = server_table.read(conn, name, (level or 1) + 1)
  if not described then return nil, err end
  return script(described)
end

return M
