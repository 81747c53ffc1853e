--- `chute insert`: puts the records of files into a table.
local chute = require "chute"
local connection = require "chute.cli.connection"
local fail = require "chute.cli.fail"
local identity = require "chute.cli.identity"
local input = require "chute.input"
local interrupt = require "chute.cli.interrupt"
local progress = require "chute.cli.progress"
local rejects = require "chute.cli.rejects"
local run = require "chute.cli.run"
local summary = require "chute.cli.summary"

local insert = {}

function insert.declare(command)
  command:summary "Puts the records of files into a table."
  command:description("Puts the records of files into the schema's table.\n\n"
    .. "A record that cannot be read or does not fit its columns is counted, named by file and\n"
    .. "line, and left out. Nothing is sent before every file has been opened.")
  command:argument("schema", "Schema script.")
  command:argument("files", "Files of records; - is standard input."):args "+"
  command:option("--to", "Where to: http://host:8123, https://…, or chdb:PATH."):argname "<url>":count(1)
  command:option("--input", "Format of the files; else their names tell, and - is JSON."):choices(input.formats)
  command:option("--rejects", "Write rejected records to this file, as NDJSON."):argname "<file>"
  command:option("--batch-rows", "Rows of a batch at most."):argname "<rows>":convert(tonumber)
  command:option("--batch-bytes", "Bytes of a batch at most: 8388608, or 8MiB."):argname "<size>"
  command:option("--compress", "zstd, zstd:3, lz4, none, block-lz4, block-zstd."):argname "<method>"
  connection.declare(command)
end

-- Everything that is opened is put on `opened`, to be closed in any case.
local function open_file(path, format, signals, opened)
  format = format or input.format_of(path)
  if not format then
    return nil, path .. ": its name tells no format: use --input"
  end
  local reader, from = input.open(path, format, function(fd) return signals:wait(fd) end)
  if not reader then return nil, path .. ": " .. from end
  opened[#opened + 1] = from
  return { name = from.name, reader = reader, source = from }
end

local function open_files(args, signals, opened)
  local files, seen = {}, {}
  for i, path in ipairs(args.files) do
    if path == "-" and seen[path] then return nil, "standard input can be given once" end
    seen[path] = true
    local file, err = open_file(path, args.input, signals, opened)
    if not file then return nil, err end
    files[i] = file
  end
  return files
end

-- Opening it empties it: it must be none of what is read, by whatever name.
local function open_rejects(args, files, opened)
  if not args.rejects then return nil end
  local own = identity(args.rejects)
  if own and own == identity(args.schema) then return nil, args.rejects .. ": is the schema script" end
  for _, file in ipairs(files) do
    if own and own == identity(file.source.fd) then
      return nil, ("%s: is among the files to read"):format(args.rejects)
    end
  end
  local out, err = rejects.open(args.rejects)
  opened[#opened + 1] = out
  return out, err
end

local function open_pool(args, opened)
  local options, err = connection.options(args)
  if not options then return nil, err end
  options.url = args.to
  local ok, pool = pcall(chute.pool, options)
  if not ok then return nil, pool end
  opened[#opened + 1] = pool
  return pool
end

-- A command that is waited for says after this time what it could not deliver.
local RETRY_DEADLINE = "30s"

-- What of the policy the command line decides.
local function policy(args)
  local bytes = args.batch_bytes
  return {
    batch = (args.batch_rows or bytes) and { rows = args.batch_rows, bytes = tonumber(bytes) or bytes },
    compress = args.compress,
    pending = { overflow = "block" },
    retry = { deadline = RETRY_DEADLINE },
  }
end

local function open_stream(args, schema, pool)
  local options = policy(args)
  options.schema, options.pool = schema, pool
  local ok, stream = pcall(chute.open, options)
  if not ok then return nil, stream end
  return stream
end

-- A server that is away, or refuses the user, is told before anything is read.
local function greet(pool)
  local answer, err = pool:query("SELECT 1", { format = "TabSeparated" })
  if err and err.kind == "argument" then return pool:ping() end -- a folder takes no queries
  return answer ~= nil, err
end

-- All that has to be in order before the first record is read. Returns the run, or nil, the exit
-- code and a message.
local function prepare(args, pool, opened)
  local signals = interrupt()
  opened[1] = signals
  local ok, schema = pcall(chute.load, args.schema)
  if not ok then return nil, 2, schema end
  local files, err = open_files(args, signals, opened)
  if not files then return nil, 2, err end
  if not pool then
    pool, err = open_pool(args, opened)
    if not pool then return nil, 2, err end
  end
  ok, err = greet(pool)
  if not ok then return nil, 3, tostring(err) .. " (nothing was sent)" end
  -- The rejects of a run before are emptied by one that gets to send.
  local out
  out, err = open_rejects(args, files, opened)
  if err then return nil, 2, err end
  local stream
  stream, err = open_stream(args, schema, pool)
  if not stream then return nil, 2, err end
  return run.new { stream = stream, files = files, rejects = out, signals = signals, progress = progress() }
end

local function exit_code(report)
  if report.signal then return 128 + report.signal end
  if report.undelivered > 0 then return 3 end
  if report.failure then return 2 end
  if report.rejected > 0 then return 1 end
  return 0
end

-- Rows whose fate is open are told as such: to send them again may double them.
local function complain(report)
  local reason = report.reason
  if report.undelivered > 0 then
    local doubt = (reason and reason.kind == "server") and "" or "; some may have arrived"
    fail(3, ("%.0f rows undelivered: %s%s"):format(report.undelivered, tostring(reason or "not waited for"), doubt))
  end
  if report.failure then fail(2, report.failure) end
end

-- The last of the rejected records are written as their file is closed.
local function close_rejects(this, report)
  if not this.rejects then return end
  local ok, err = this.rejects:close()
  if not ok then report.failure = report.failure or run.REJECTS_LOST .. err end
end

--- Runs the command. `pool`, where given, is used instead of one opened for args.to, and stays
-- open. Returns the exit code and, where anything was sent, the report (see chute.cli.run).
function insert.run(args, pool)
  local opened = {}
  local this, code, err = prepare(args, pool, opened)
  local report
  if this then
    report = this:go()
    close_rejects(this, report)
    summary.print(report)
    complain(report)
    code = exit_code(report)
  else
    fail(code, err)
  end
  for i = #opened, 1, -1 do opened[i]:close() end
  return code, report
end

return insert
