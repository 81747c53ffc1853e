-- judge: values of a column through chute into a real ClickHouse, and back as it tells them.

local chute = require "chute"
local golden = require "spec.support.golden"
local server = require "spec.support.server"

local judge = {}
judge.__index = judge

-- Types that a table has only where one insists.
local INSIST = {
  allow_suspicious_low_cardinality_types = 1, allow_suspicious_fixed_string_types = 1,
  allow_experimental_nullable_tuple_type = 1, allow_suspicious_variant_types = 1, session_timezone = "UTC",
  output_format_decimal_trailing_zeros = 1, -- as 18.16 does
}
local INSIST_18 = { allow_experimental_low_cardinality_type = 1 }

local ENGINES = {
  ["26.5"] = { server = "chdb", format = "RowBinaryWithNamesAndTypes", params = INSIST },
  ["18.16"] = { server = "clickhouse18", format = "RowBinary", params = INSIST_18 },
}

--- A judge by the version of its ClickHouse, with a database of its own; drop() it at the end.
function judge.new(version)
  local engine = ENGINES[version]
  return setmetatable({
    db = server.shared[engine.server]():database(), format = engine.format, params = engine.params,
    tables = 0,
  }, judge)
end

function judge:drop() self.db:drop() end

function judge:query(sql, body)
  return self.db:query(sql, { params = self.params, body = body })
end

local function quote(name)
  return "`" .. name:gsub("[\\`]", "\\%0") .. "`"
end

--- A fresh table for a schema's columns; its name.
function judge:create(schema)
  self.tables = self.tables + 1
  local name, columns = "t" .. self.tables, {}
  for i, column in ipairs(schema.columns) do columns[i] = quote(column.name) .. " " .. column.type end
  self:query(("CREATE TABLE %s (%s) ENGINE = Memory"):format(name, table.concat(columns, ", ")))
  return name
end

--- Sends a buffer's rows into a fresh table, whose name it returns.
function judge:insert(buf)
  local name = self:create(buf.schema)
  self:send(name, buf.schema.format, buf:tostring(), buf.schema.json_text)
  return name
end

--- Sends bytes in a format into a table. json_text: JSON is text in them. Throws where they are
-- refused.
function judge:send(name, format, bytes, json_text)
  local params = {}
  for key, value in pairs(self.params) do params[key] = value end
  if json_text then params.input_format_binary_read_json_as_string = 1 end
  self.db:query(("INSERT INTO %s FORMAT %s"):format(name, format), { params = params, body = bytes })
end

--- Throws where the table's rows, as ClickHouse writes them, are not the buffer's bytes.
function judge:check_bytes(name, buf)
  local bytes = self:query(("SELECT * FROM %s FORMAT %s"):format(name, buf.schema.format))
  if bytes == buf:tostring() then return end
  error(("%s: written\n%s\nread back\n%s"):format(name, golden.hex(buf:tostring()), golden.hex(bytes)), 2)
end

--- Writes `rows` (lists, a value a column of `def`, a schema) into a fresh table, and checks the
-- bytes that come back. The table's name.
function judge:round_trip(def, rows)
  def.format = self.format
  local buf = chute.buffer(def)
  for n, row in ipairs(rows) do
    local ok, err = buf:add_row(row)
    if not ok then error(("row %d: %s"):format(n, tostring(err)), 2) end
  end
  local name = self:insert(buf)
  self:check_bytes(name, buf)
  return name
end

--- What a SELECT of one column gives, as ClickHouse's TabSeparated has it: a list of texts.
function judge:lines(select)
  local lines = {}
  for line in self:query(select .. " FORMAT TabSeparated"):gmatch "(.-)\n" do table.insert(lines, line) end
  return lines
end

return judge
