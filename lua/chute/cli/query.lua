--- `chute query`: sends one statement and prints what comes back.
local fail = require "chute.cli.fail"
local chute = require "chute"
local connection = require "chute.cli.connection"
local ffi = require "ffi"

ffi.cdef "int isatty(int fd);"

local STDOUT = 1

local query = {}

function query.declare(command)
  command:description "Sends one SQL statement and prints the answer."
  command:argument("url", "Server: http://host:8123, https://…, or chdb:PATH.")
  command:argument("sql", "The statement; - reads it from standard input.")
  command:option("--format", "Format of the answer, where the statement names none.\n"
    .. "Default: PrettyCompactMonoBlock on a terminal, else TabSeparated."):argname "<name>"
  connection.declare(command)
end

local function default_format()
  return ffi.C.isatty(STDOUT) == 1 and "PrettyCompactMonoBlock" or "TabSeparated"
end

--- Runs the statement. Returns the exit code.
function query.run(args)
  local options, err = connection.options(args)
  if not options then return fail(2, err) end
  local sql = args.sql == "-" and io.read "*a" or args.sql
  local ok, conn = pcall(chute.connect, args.url, options)
  if not ok then return fail(2, conn) end
  local result
  result, err = conn:query(sql, { format = args.format or default_format() })
  if result then io.write(result.body) end
  conn:close()
  if err then return fail(3, err) end
  return 0
end

return query
