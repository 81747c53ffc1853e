--- `chute check`: loads a schema script and shows its columns; compares it with a server's table.
local chute = require "chute"
local connection = require "chute.cli.connection"
local drift = require "chute.drift"
local fail = require "chute.cli.fail"
local table_of = require "chute.table"

local check = {}

function check.declare(command)
  command:description("Compiles a schema script and prints its columns with their canonical types;\n"
    .. "with --to compares it with the table on the server.")
  command:argument("schema", "Schema script.")
  command:option("--to", "Server to compare with: http://host:8123, https://…, or chdb:PATH."):argname "<url>"
  connection.declare(command)
end

local function width_of(columns)
  local width = 0
  for _, column in ipairs(columns) do width = math.max(width, #column.name) end
  return width
end

local function print_columns(schema)
  local line = ("%%-%ds  %%s\n"):format(width_of(schema.columns))
  for _, column in ipairs(schema.columns) do io.write(line:format(column.name, column.type)) end
  io.write(("ok: %d columns of %s\n"):format(#schema.columns, schema.table or "no table"))
end

-- Prints what is different. Returns how many of the differences fail inserts.
local function print_findings(findings)
  local fatal = 0
  for _, finding in ipairs(findings) do
    io.write(("%s: %s\n"):format(finding.kind, finding.message))
    if drift.is_fatal(finding) then fatal = fatal + 1 end
  end
  return fatal
end

local function compare(schema, args)
  if not schema.table then return fail(1, args.schema .. " names no table to compare with") end
  local options, err = connection.options(args)
  if not options then return fail(2, err) end
  local ok, conn = pcall(chute.connect, args.to, options)
  if not ok then return fail(2, conn) end
  local findings, described = drift.find(conn, schema)
  conn:close()
  if not findings then return fail(3, described) end
  local fatal = print_findings(findings)
  if fatal > 0 then
    return fail(1, ("%s does not fit %s: %d differences"):format(args.schema, table_of.full_name(described), fatal))
  end
  io.write(("ok: rows fit %s\n"):format(table_of.full_name(described)))
  return 0
end

--- Checks the script. Returns the exit code.
function check.run(args)
  local file, err = io.open(args.schema)
  if not file then return fail(2, err) end
  file:close()
  local ok, schema = pcall(chute.load, args.schema)
  if not ok then return fail(1, schema) end
  print_columns(schema)
  if args.to then return compare(schema, args) end
  return 0
end

return check
