--- Tables: what a server says of one.
local errors = require "chute.errors"
local lib = require "chute.lib"
local rows = require "chute.rows"
local sql_text = require "chute.sql"
local C, ffi = lib.C, lib.ffi

local M = {}

local COLUMNS = [[SELECT toString(database), name, toString(type), toString(default_kind),
  toString(default_expression) FROM system.columns WHERE %s AND table = %s FORMAT RowBinary]]
local TABLE = [[SELECT toString(engine), toString(engine_full) FROM system.tables
  WHERE database = %s AND name = %s FORMAT RowBinary]]
local SETTINGS = [[SELECT toString(name), toString(value) FROM system.merge_tree_settings
  WHERE name IN ('replicated_deduplication_window', 'non_replicated_deduplication_window') FORMAT RowBinary]]

-- RowBinary is what every version writes; the header that it lacks is put before it.
local function header(names)
  local parts = { string.char(#names) }
  for _, name in ipairs(names) do parts[#parts + 1] = string.char(#name) .. name end
  return table.concat(parts) .. ("\6String"):rep(#names)
end

-- The rows of a statement whose columns are all texts. A list; or nil, err.
local function ask(conn, sql, names)
  local answer, err = conn:query(sql)
  if not answer then return nil, err end
  local list, decoder = {}, rows.decoder {}
  for row in rows.iterate(decoder, rows.slices(header(names) .. answer.body)) do list[#list + 1] = row end
  return list
end

--- A type's canonical text; the text itself where it is of no known type.
function M.canonical(text)
  local ctype = C.chute_type_parse(text, #text, nil)
  if ctype == nil then return text end
  local size = C.chute_type_print(ctype, nil, 0) + 1
  local out = ffi.new("char[?]", size)
  C.chute_type_print(ctype, out, size)
  C.chute_type_free(ctype)
  return ffi.string(out)
end

local function read_columns(conn, parts)
  local where = "database = " .. (parts[2] and sql_text.text(parts[1]) or "currentDatabase()")
  local columns, err = ask(conn, COLUMNS:format(where, sql_text.text(parts[2] or parts[1])),
    { "database", "name", "type", "kind", "expression" })
  if not columns then return nil, err end
  for _, column in ipairs(columns) do column.type = M.canonical(column.type) end
  return columns
end

-- The number of inserts that the server remembers; nil where it remembers none by its nature.
local function read_window(conn, self)
  if not self.engine:find "MergeTree$" then return true end
  local name = (self.engine:find "^Replicated" or self.engine:find "^Shared") and "replicated_deduplication_window"
    or "non_replicated_deduplication_window"
  local own = self.engine_full:match("[%s,]" .. name .. " = (%d+)")
  if own then
    self.window = tonumber(own)
    return true
  end
  local settings, err = ask(conn, SETTINGS, { "name", "value" })
  if not settings then return nil, err end
  for _, setting in ipairs(settings) do
    if setting.name == name then self.window = tonumber(setting.value) end
  end
  return true
end

local function missing(name)
  return errors.new("server", ("there is no table %s, or no right to see it"):format(name),
    { name = "UNKNOWN_TABLE", code = 60, retryable = false, uncertain = false })
end

--- What the server of `conn` (a connection or a pool) says of a table ("table" or "db.table"):
-- database, name, engine, window (inserts it remembers to know one that comes twice; nil where it
-- knows none), columns, a list of { name, type (canonical), kind ("", "DEFAULT", "MATERIALIZED",
-- "ALIAS", "EPHEMERAL"), expression }. Or nil, err. Throws at `level` where the name is none.
function M.read(conn, name, level)
  local parts = type(name) == "string" and sql_text.parts(name)
  if not parts then errors.throw(("%q is no table name"):format(tostring(name)), (level or 1) + 1) end
  local columns, err = read_columns(conn, parts)
  if not columns then return nil, err end
  if #columns == 0 then return nil, missing(name) end
  local self = { database = columns[1].database, name = parts[2] or parts[1], columns = columns }
  local found
  found, err = ask(conn, TABLE:format(sql_text.text(self.database), sql_text.text(self.name)),
    { "engine", "engine_full" })
  if not found then return nil, err end
  if not found[1] then return nil, missing(name) end
  self.engine, self.engine_full = found[1].engine, found[1].engine_full
  found, err = read_window(conn, self)
  if not found then return nil, err end
  return self
end

--- The table's name with its database, as schema scripts take it.
function M.full_name(self)
  return sql_text.part(self.database) .. "." .. sql_text.part(self.name)
end

return M
