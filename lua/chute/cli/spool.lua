--- `chute spool`: looks into a spool, and puts it in order.
local cjson = require "cjson"
local fail = require "chute.cli.fail"
local line_of = require "chute.cli.ndjson"
local rows = require "chute.rows"
local spool = require "chute.spool"

local command = {}

local function declare_paths(sub)
  sub:argument("paths", "Batches, as ls names them."):args "*":argname "<path>"
  sub:flag("--all", "All that ls lists as dead.")
end

function command.declare(parser)
  parser:summary "Looks into a spool, and puts it in order."
  parser:description "Looks into a spool, and puts it in order, while streams use it or not."
  parser:require_command(true)
  parser:command_target "action"
  local ls = parser:command("ls", "Lists the batches.")
  local show = parser:command("show", "Shows what is known of a batch, and its first rows.")
  local verify = parser:command("verify", "Reads every batch; exit code 1 where one is damaged.")
  local retry = parser:command("retry", "Puts refused batches back among those that are sent.")
  local drop = parser:command("drop", "Removes refused batches, or bad files.")
  local export = parser:command("export", "Writes a batch's rows to standard output.")
  for _, sub in ipairs { ls, show, verify, retry, drop, export } do
    sub:argument("dir", "The spool's folder."):argname "<dir>"
  end
  for _, sub in ipairs { show, export } do sub:argument("path", "The batch, as ls names it."):argname "<path>" end
  show:option("--rows", "How many rows."):default "10":convert(tonumber)
  export:option("--format", "ndjson, or rowbinary: as it is sent."):choices { "ndjson", "rowbinary" }
    :default "ndjson"
  declare_paths(retry)
  declare_paths(drop)
end

-- ---- looking --------------------------------------------------------------------------------

local function time_of(seconds) return seconds > 0 and os.date("!%Y-%m-%dT%H:%M:%SZ", seconds) or "" end

local function read_note(dir, entry)
  local file = io.open(dir .. "/" .. entry.path:gsub("^(dead/.*)%.slot$", "%1") .. ".json")
  if not file then return {} end
  local ok, note = pcall(cjson.decode, file:read "*a")
  file:close()
  return ok and type(note) == "table" and note or {}
end

--- Why it lies there, in a few words.
local function reason_of(dir, entry)
  local aside = entry.place == "dead" or entry.place == "bad"
  local text = aside and read_note(dir, entry).reason or entry.reason
  return (tostring(text):gsub("%c", " "):sub(1, 100))
end

local HEADINGS = { "place", "state", "rows", "bytes", "opened", "path", "why" }

local function print_table(lines)
  local widths = {}
  for _, line in ipairs(lines) do
    for i, cell in ipairs(line) do widths[i] = math.max(widths[i] or 0, #cell) end
  end
  for _, line in ipairs(lines) do
    local out = {}
    for i, cell in ipairs(line) do
      local right = (i == 3 or i == 4) and "" or "-"
      out[i] = ("%" .. right .. widths[i] .. "s"):format(cell)
    end
    io.write((table.concat(out, "  "):gsub("%s+$", "")), "\n")
  end
end

local function print_entries(dir, entries)
  local lines = { HEADINGS }
  for _, e in ipairs(entries) do
    lines[#lines + 1] = { e.place, e.damaged and "damaged" or e.state, ("%d"):format(e.rows),
      ("%d"):format(e.bytes), time_of(e.opened), e.path, reason_of(dir, e) }
  end
  print_table(lines)
end

local actions = {}

function actions.ls(args)
  local entries, err = spool.list(args.dir)
  if not entries then return fail(2, err) end
  print_entries(args.dir, entries)
  return 0
end

function actions.verify(args)
  local entries, err = spool.list(args.dir, true)
  if not entries then return fail(2, err) end
  local wrong, total = {}, 0
  for _, entry in ipairs(entries) do
    total = total + entry.rows
    if entry.damaged or entry.state == "unreadable" then wrong[#wrong + 1] = entry end
  end
  if #wrong > 0 then print_entries(args.dir, wrong) end
  io.write(("%d files, %d rows, %d damaged or unreadable\n"):format(#entries, total, #wrong))
  return #wrong > 0 and 1 or 0
end

--- Calls `each` with the row's line of JSON, until it returns false. Throws an error table.
local function each_line(batch, each)
  local bytes = spool.with_types(batch)
  if not bytes then error(("rows cannot be shown of %s: export them as rowbinary"):format(batch.format), 0) end
  local decoder = rows.decoder {}
  for row in rows.iterate(decoder, rows.slices(bytes)) do
    if not each(line_of(row, batch.columns)) then break end
  end
  decoder:close()
end

local function describe(batch)
  io.write(("insert    %s\nformat    %s\n"):format(batch.insert, batch.format))
  for _, setting in ipairs(batch.settings) do io.write(("setting   %s = %s\n"):format(unpack(setting))) end
  for _, column in ipairs(batch.columns) do io.write(("column    %s %s\n"):format(column.name, column.type)) end
end

function actions.show(args)
  local batch, err = spool.read(args.dir, args.path)
  if not batch then return fail(2, err) end
  describe(batch)
  local left = args.rows or 10
  if left < 1 then return 0 end
  local ok, why = pcall(each_line, batch, function(line)
    io.write(line, "\n")
    left = left - 1
    return left > 0
  end)
  return ok and 0 or fail(2, why)
end

function actions.export(args)
  local batch, err = spool.read(args.dir, args.path)
  if not batch then return fail(2, err) end
  if args.format == "rowbinary" then
    io.write(batch.data)
    return 0
  end
  local ok, why = pcall(each_line, batch, function(line) return io.write(line, "\n") end)
  return ok and 0 or fail(2, why)
end

-- ---- putting in order -----------------------------------------------------------------------

local function chosen(args)
  if #args.paths > 0 and args.all then return nil, "paths cannot be together with --all" end
  if not args.all then
    if #args.paths == 0 then return nil, "name batches, or say --all" end
    return args.paths
  end
  local entries, err = spool.list(args.dir)
  if not entries then return nil, err end
  local out = {}
  for _, entry in ipairs(entries) do
    if entry.place == "dead" then out[#out + 1] = entry.path end
  end
  return out
end

local function for_each(args, act, done)
  local paths, err = chosen(args)
  if not paths then return fail(2, err) end
  local code, count = 0, 0
  for _, path in ipairs(paths) do
    local ok, why = act(args.dir, path)
    if ok then count = count + 1 else code = fail(2, why) end
  end
  io.write(("%d %s\n"):format(count, done))
  return code
end

function actions.retry(args) return (for_each(args, spool.retry, "put back: the next stream sends them")) end

function actions.drop(args) return (for_each(args, spool.remove, "removed")) end

--- Runs the command. Returns the exit code.
function command.run(args) return (actions[args.action](args)) end

return command
