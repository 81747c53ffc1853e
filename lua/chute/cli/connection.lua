--- Options that every command which talks to a server shares.
local connection = {}

--- Declares them on an argparse command.
function connection.declare(command)
  command:option("--user", "User name."):argname "<name>"
  command:option("--password-file", "File whose first line is the password; else CHUTE_PASSWORD is.")
    :argname "<file>"
  command:option("--database", "Database."):argname "<name>"
end

-- The first line of a file; nil and a message.
local function first_line(path)
  local file, err = io.open(path)
  if not file then return nil, err end
  local line
  line, err = file:read "*l"
  file:close()
  if not line then return nil, path .. ": " .. (err or "no password in it") end
  return (line:gsub("\r$", ""))
end

--- What chute.connect and chute.open take, from parsed arguments; nil and a message.
function connection.options(args)
  local password = os.getenv "CHUTE_PASSWORD"
  if args.password_file then
    local err
    password, err = first_line(args.password_file)
    if err then return nil, err end
  end
  return { user = args.user, password = password, database = args.database }
end

return connection
