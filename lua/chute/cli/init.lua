--- The command line: `chute insert`, `chute query`, `chute check`, `chute describe`,
--- `chute spool`.
local argparse = require "argparse"
local fail = require "chute.cli.fail"
local ffi = require "ffi"

ffi.cdef "int ferror(void *file);"

local cli = {}

-- In the order of the help.
local commands = {
  { name = "insert", code = require "chute.cli.insert" },
  { name = "query", code = require "chute.cli.query" },
  { name = "check", code = require "chute.cli.check" },
  { name = "describe", code = require "chute.cli.describe" },
  { name = "spool", code = require "chute.cli.spool" },
}

local EXIT_CODES = [[
Exit codes:
   0  all is well: every row was acknowledged
   1  some records were rejected, the rest was delivered; check: the schema is faulty,
      or does not fit the table; spool verify: a batch is damaged
   2  wrong usage, or a schema, file or output that cannot be read or written
   3  the server could not be reached, or refused; insert: rows are undelivered
   4  an error inside chute
 130  stopped by SIGINT (143: by SIGTERM), what was accepted having been sent]]

local function build_parser()
  local parser = argparse("chute", "Puts rows into ClickHouse.", EXIT_CODES)
  parser:require_command(true)
  parser:command_target "command"
  for _, command in ipairs(commands) do command.code.declare(parser:command(command.name)) end
  return parser
end

local function run_of(name)
  for _, command in ipairs(commands) do
    if command.name == name then return command.code.run end
  end
end

-- The exit code, what was printed having gone out: output that is lost is told, of any command.
local function flush(code)
  local ok, err = io.stdout:flush()
  if ok and ffi.C.ferror(io.stdout) == 0 then return code end
  return math.max(code, fail(2, "the output cannot be written" .. (err and ": " .. err or "")))
end

--- Runs the command line `arguments` (a list of texts) and returns the exit code.
function cli.main(arguments)
  local ok, args = build_parser():pparse(arguments)
  if not ok then return fail(2, args .. " (chute --help tells more)") end
  local code
  ok, code = xpcall(run_of(args.command), debug.traceback, args)
  if not ok then return fail(4, code) end
  return flush(code)
end

return cli
