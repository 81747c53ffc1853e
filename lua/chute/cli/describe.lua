--- `chute describe`: prints a schema script made from a table on a server.
local chute = require "chute"
local connection = require "chute.cli.connection"
local fail = require "chute.cli.fail"
local sql = require "chute.sql"

local describe = {}

function describe.declare(command)
  command:description "Prints a schema script made from a table on a server."
  command:argument("url", "Server: http://host:8123, https://…, or chdb:PATH.")
  command:argument("table", "Table: name, or database.name.")
  connection.declare(command)
end

--- Describes the table. Returns the exit code.
function describe.run(args)
  local options, err = connection.options(args)
  if not options then return fail(2, err) end
  if not sql.parts(args.table) then return fail(2, ("%q is no table name"):format(args.table)) end
  local ok, conn = pcall(chute.connect, args.url, options)
  if not ok then return fail(2, conn) end
  local text
  text, err = chute.describe(conn, args.table)
  conn:close()
  if not text then return fail(3, err) end
  io.write(text)
  return 0
end

return describe
