-- shell: short scripts of a spec, run to their end.
local process = require "spec.support.process"

local shell = {}

--- Runs a script of /bin/sh -e. options: dir (where; else here), env (name → value, or false to
-- unset), timeout (seconds; 120). Its exit code, and what it wrote to stdout and stderr together.
function shell.run(script, options)
  options = options or {}
  local dir = process.make_dir()
  local log = dir .. "/log"
  local env = { CHUTE_SHELL_DIR = options.dir or "." }
  for name, value in pairs(options.env or {}) do env[name] = value end
  local code = process.run {
    argv = { "sh", "-ec", 'cd "$CHUTE_SHELL_DIR"\n' .. script },
    log = log, env = env, timeout = options.timeout or 120,
  }
  local file = assert(io.open(log, "rb"))
  local text = file:read "*a"
  file:close()
  process.remove_dir(dir)
  return code, text
end

--- As run, but throws, with the output, where the exit code is not 0. Returns the output.
function shell.must(script, options)
  local code, text = shell.run(script, options)
  if code ~= 0 then error(("exit code %d of\n%s\n%s"):format(code, script, text), 2) end
  return text
end

return shell
