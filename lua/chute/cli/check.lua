--- `chute check`: loads a schema script and shows its columns.
local chute = require "chute"
local fail = require "chute.cli.fail"

local check = {}

function check.declare(command)
  command:description "Compiles a schema script and prints its columns with their canonical types."
  command:argument("schema", "Schema script.")
end

local function width_of(columns)
  local width = 0
  for _, column in ipairs(columns) do width = math.max(width, #column.name) end
  return width
end

--- Checks the script. Returns the exit code.
function check.run(args)
  local file, err = io.open(args.schema)
  if not file then return fail(2, err) end
  file:close()
  local ok, schema = pcall(chute.load, args.schema)
  if not ok then return fail(1, schema) end
  local line = ("%%-%ds  %%s\n"):format(width_of(schema.columns))
  for _, column in ipairs(schema.columns) do io.write(line:format(column.name, column.type)) end
  io.write(("ok: %d columns of %s\n"):format(#schema.columns, schema.table or "no table"))
  return 0
end

return check
