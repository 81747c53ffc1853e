--- Drift: where a schema and a server's table have come apart.
local server_table = require "chute.table"

local M = {}

local ELSEWHERE = { Distributed = true, Buffer = true, MaterializedView = true, Proxy = true }

local function find(list, kind, column, message, ...)
  list[#list + 1] = { kind = kind, column = column, message = message:format(...) }
end

local function compare(findings, column, of_table)
  if not of_table then
    find(findings, "missing", column.name, "column '%s' (%s) is not in the table", column.name, column.type)
  elseif of_table.kind == "MATERIALIZED" or of_table.kind == "ALIAS" then
    find(findings, "not insertable", column.name, "column '%s' is %s: the server computes it", column.name,
      of_table.kind)
  elseif of_table.type ~= column.type then
    find(findings, "type", column.name, "column '%s' is %s here and %s in the table", column.name, column.type,
      of_table.type)
  end
end

local function find_extra(findings, described, schema)
  local names = {}
  for _, column in ipairs(schema.columns) do names[column.name] = true end
  for _, column in ipairs(described.columns) do
    if column.kind == "" and not names[column.name] then
      find(findings, "note", column.name, "column '%s' (%s) is not in the script and has no DEFAULT: %s", column.name,
        column.type, column.type:find "^Nullable" and "it gets NULL" or "it gets the empty value of its type")
    end
  end
end

local function check_window(findings, described)
  local name, engine = server_table.full_name(described), described.engine
  if described.window == 0 then
    find(findings, "warning", nil, "a batch that is sent twice is stored twice: the deduplication window of %s is 0",
      name)
  elseif described.window == nil and ELSEWHERE[engine] then
    find(findings, "warning", nil,
      "whether a batch that is sent twice is stored twice is up to the tables behind %s (%s)", name, engine)
  elseif described.window == nil then
    find(findings, "warning", nil, "a batch that is sent twice is stored twice: this server's %s tables remember none",
      engine)
  end
end

--- What is different between a schema and a table (as chute.table reads it): a list of { kind,
-- column (name, where it is of one), message }. Kinds that fail inserts: "missing", "not
-- insertable", "type"; others: "note", "warning".
function M.compare(schema, described)
  local findings, by_name = {}, {}
  for _, column in ipairs(described.columns) do by_name[column.name] = column end
  for _, column in ipairs(schema.columns) do compare(findings, column, by_name[column.name]) end
  find_extra(findings, described, schema)
  check_window(findings, described)
  return findings
end

--- Whether a finding fails inserts.
function M.is_fatal(finding) return finding.kind ~= "note" and finding.kind ~= "warning" end

--- The same for the table that the schema names, on the server of `conn`. The list and the table;
-- or nil, err.
function M.find(conn, schema)
  local described, err = server_table.read(conn, schema.table, 2)
  if not described then return nil, err end
  return M.compare(schema, described), described
end

return M
