-- faults: a proxy in front of a real server that fails where it is told (build/spec/faultproxy).
--
--   local faults = require "spec.support.faults"
--   local p = faults.proxy { upstream = server.shared.chdb() }
--   p.url, p.port                                 -- send here what should meet faults
--   p:rule { kind = "insert", nth = 1, at = "answer", action = "reset" }   -- commits, then hangs up
--   p:rule(faults.exception(241, "MEMORY_LIMIT_EXCEEDED", "no memory"), { kind = "insert", times = 2 })
--   p:requests { kind = "insert" }                -- what came, in order
--   p:await("inserts", 3, 5)                      -- waits until three came
--   p:clear()  p:stop()
--
-- A request is read whole, then sent on over a connection of its own: what a rule drops before
-- at = "answer" never reaches the server, and nothing reaches it twice. Every request is logged as it
-- came, credentials and all: the proxy is the judge.

local cjson = require "cjson"
local http = require "spec.support.http"
local process = require "spec.support.process"

local START_SECONDS = 10

local faults = {}
local proxy = {}
proxy.__index = proxy

-- ---- control ------------------------------------------------------------------------------------

-- The body of control's answer, and its status.
local function order(self, method, path, params, body, timeout)
  local answer = assert(http.request {
    port = self.control, method = method, path = path .. "?" .. http.query_string(params or {}),
    body = body or (method == "POST" and "" or nil), timeout = timeout,
  })
  if answer.status == 400 or answer.status == 500 then
    error(("faultproxy: %s: %s"):format(path, answer.body), 3)
  end
  return answer.body, answer.status
end

local function each_json(text)
  local out = {}
  for line in text:gmatch "[^\n]+" do out[#out + 1] = cjson.decode(line) end
  return out
end

-- ---- rules --------------------------------------------------------------------------------------

local function escape(value)
  if value == true then value = 1 elseif value == false then value = 0 end
  local text = type(value) == "number" and ("%.0f"):format(value) or tostring(value)
  return (text:gsub("[^%w:;,./_-]", function(c) return ("%%%02X"):format(c:byte()) end))
end

local function header_lines(headers)
  if type(headers) == "string" then return headers end
  local lines = {}
  for name, value in pairs(headers) do lines[#lines + 1] = name .. ": " .. value end
  table.sort(lines)
  return table.concat(lines, "\r\n")
end

-- An answer that is cut, added to or paced is the server's where the rule has none of its own.
local function place_of(rule)
  if rule.at or rule.status or rule.raw then return rule.at end
  if rule.cut or rule.header then return "answer" end
end

local function line_of(rule)
  local words = {}
  for name, value in pairs(rule) do
    if name == "headers" then name, value = "header", header_lines(value) end
    words[#words + 1] = name .. "=" .. escape(value)
  end
  table.sort(words)
  return table.concat(words, " ")
end

local function merged(...)
  local out = {}
  for i = 1, select("#", ...) do
    for name, value in pairs((select(i, ...))) do out[name] = value end
  end
  if out.headers then out.header, out.headers = header_lines(out.headers), nil end
  out.at = place_of(out)
  return out
end

--- Adds a rule: its number. Several tables are one rule, the later ones' keys winning. The keys are
-- the words of control (spec/support/faultproxy_control.c), with headers (name → value) for header.
-- Where rules overlap the first that fires has the request.
function proxy:rule(...)
  return tonumber((order(self, "POST", "/rules", nil, line_of(merged(...)) .. "\n"):match "^(%d+)"))
end

--- Forgets all rules. What they hold or have done stays.
function proxy:clear() order(self, "DELETE", "/rules") end

--- A list of { id, seen, fired }: how many requests a rule matched, and how many it had.
function proxy:rules() return each_json((order(self, "GET", "/rules"))) end

--- An answer as ClickHouse refuses: a rule's part. options: status (500), headers, old (true: as
-- 18.16 does, without the header), ok (true: with status 200, the header alone telling).
function faults.exception(code, name, text, options)
  options = options or {}
  local body = ("Code: %d. DB::Exception: %s. (%s) (version 26.5.1.1)\n"):format(code, text, name)
  local headers = { ["Content-Type"] = "text/plain; charset=UTF-8" }
  if options.old then
    body = ("Code: %d, e.displayText() = DB::Exception: %s, e.what() = DB::Exception\n"):format(code, text)
  else
    headers["X-ClickHouse-Exception-Code"] = code
  end
  for field, value in pairs(options.headers or {}) do headers[field] = value end
  return { status = options.ok and 200 or options.status or 500, headers = headers, body = body }
end

--- A 200 that breaks off in its body, as up to 25.10: rows, a marker, the exception, a broken chunk.
-- framing: "broken" (the default), or "unended" or "chunked" where the chunks hide it.
function faults.midstream_old(code, name, text, options)
  options = options or {}
  return {
    status = 200, framing = options.framing or "broken",
    body = ("%s__exception__\r\nCode: %d. DB::Exception: %s. (%s)\n"):format(options.rows or "", code, text, name),
  }
end

--- The same as from 25.11 on: with a tag that the head announces.
function faults.midstream_new(code, name, text, options)
  options = options or {}
  local tag = options.tag or "kqvzrxwnmpbtcdfg"
  local message = ("Code: %d. DB::Exception: %s. (%s)"):format(code, text, name)
  return {
    status = 200, framing = options.framing or "chunked",
    headers = { ["X-ClickHouse-Exception-Tag"] = tag },
    body = ("%s\r\n__exception__\r\n%s\r\n%s\n%d %s\r\n__exception__\r\n"):format(
      options.rows or "", tag, message, #message + 1, tag),
  }
end

-- ---- what came ----------------------------------------------------------------------------------

local function unescape(text)
  return (text:gsub("+", " "):gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

-- Adds to a logged request what its head says.
local function read_head(request)
  if not request.line then return request end
  request.method, request.target = request.line:match "^(%S+) (%S+)"
  request.header_lines, request.headers, request.params = request.headers, {}, {}
  for _, line in ipairs(request.header_lines) do
    local name, value = line:match "^([^:]+):%s*(.*)$"
    if name then request.headers[name:lower()] = value end
  end
  for name, value in request.target:gmatch "[?&]([^=&]+)=([^&]*)" do
    request.params[unescape(name)] = unescape(value)
  end
  return request
end

local function fits(request, filter)
  for name, value in pairs(filter) do
    if request[name] ~= value then return false end
  end
  return true
end

--- The requests that came, in order; those whose fields equal the filter's, where one is given.
-- n, connection, on_connection (1: the first on its connection), listener ("plain", "unix", or a
-- certificate's name), kind, post, query_id, token, body_bytes, sha256 (of the body as it came),
-- whole (the body came to its end), rule (0: none) and its label, forwarded, upstream_status, status
-- (0: none sent), sent_bytes, finished, ended ("kept", "closed", "reset", "left": by the client),
-- at_ms, took_ms; of the last 2000 also line, method, target, params, headers (lower-case name →
-- value), header_lines.
function proxy:requests(filter)
  local out = {}
  for _, request in ipairs(each_json((order(self, "GET", "/requests")))) do
    if fits(request, filter or {}) then out[#out + 1] = read_head(request) end
  end
  return out
end

--- POSTs by "query_id" or "token": a table from each to a list of its requests.
function proxy:posts(by)
  local out = {}
  for _, request in ipairs(self:requests { post = true }) do
    local key = request[by]
    out[key] = out[key] or {}
    table.insert(out[key], request)
  end
  return out
end

--- Counters: connections, open (now), requests, posts, inserts, queries, pings, others, bodies (whole
-- ones), faults (rules that fired), held, forwarded, upstream_failures, finished, body_bytes,
-- sent_bytes, tls_failures.
function proxy:counters() return cjson.decode((order(self, "GET", "/counters"))) end

local function await(self, counter, count, seconds, most)
  local body, status = order(self, "GET", "/await",
    { counter = counter, count = count, ms = math.ceil((seconds or 10) * 1000), most = most }, nil,
    (seconds or 10) + 5)
  if status == 200 then return cjson.decode(body) end
  error(("faultproxy: %s is not %s %d in time: %s"):format(counter, most and "at most" or "at least", count, body), 3)
end

--- Waits until a counter is at least `count`; throws after `seconds` (10). Returns the counters.
function proxy:await(counter, count, seconds) return await(self, counter, count, seconds) end

--- Waits until a counter, such as open, is at most `count`; else as await.
function proxy:await_most(counter, count, seconds) return await(self, counter, count, seconds, true) end

--- Sets the counters to 0 and empties the log.
function proxy:forget() order(self, "POST", "/forget") end

-- ---- the whole of it ----------------------------------------------------------------------------

--- Refuses connections, at once for all its ports. reset: open ones are reset too, as by a host that
-- dies.
function proxy:down(options)
  order(self, "POST", "/listen", { mode = "refuse", reset = options and options.reset or nil })
end

--- Lets connecting hang: neither accepted nor refused.
function proxy:blackhole() order(self, "POST", "/listen", { mode = "full" }) end

--- Listens again, on the same ports.
function proxy:up() order(self, "POST", "/listen", { mode = "open" }) end

--- Resets every open connection.
function proxy:reset() order(self, "POST", "/reset") end

--- Lets go of what action = "hold" holds.
function proxy:release() order(self, "POST", "/release") end

--- Another server, or one that came back on another port, from the next request on.
function proxy:set_upstream(upstream)
  order(self, "POST", "/upstream", { port = type(upstream) == "number" and upstream or upstream.port })
end

--- Ends it, with all its connections.
function proxy:stop()
  if self.stopped then return end
  self.stopped = true
  local code, killed = self.child:stop()
  process.remove_dir(self.dir)
  if killed or code ~= 0 then error("faultproxy ended with " .. code, 2) end
end

local function read_log(dir)
  local file = io.open(dir .. "/log", "rb")
  if not file then return "" end
  local text = file:read "*a"
  file:close()
  return text
end

--- What it has printed, such as a crash's report.
function proxy:log() return read_log(self.dir) end

local function argv_of(dir, options)
  local upstream = options.upstream
  local argv = {
    (os.getenv "CHUTE_BUILD" or "build") .. "/spec/faultproxy",
    "--upstream", type(upstream) == "number" and upstream or upstream.port,
    "--unix", dir .. "/socket",
  }
  local function add(flag, value)
    if value then argv[#argv + 1], argv[#argv + 2] = flag, value end
  end
  add("--certificates", options.tls and dir .. "/tls")
  add("--address", options.address)
  add("--port", options.port)
  add("--keep-alive", options.keep_alive)
  add("--receive-buffer", options.receive_buffer)
  add("--seed", options.seed)
  return argv
end

-- One that nobody stopped ends with the Lua state.
local function guard(self)
  local sentinel = newproxy(true)
  getmetatable(sentinel).__gc = function()
    if self.stopped then return end
    self.child:stop(0)
    process.remove_dir(self.dir)
  end
  return sentinel
end

local function take_ports(self, line)
  self.tls = {}
  for name, port in line:gmatch "(%S+)=(%d+)" do
    if name == "control" then self.control = tonumber(port)
    elseif name == "plain" then self.port = tonumber(port)
    else self.tls[name] = { port = tonumber(port), url = "https://localhost:" .. port } end
  end
  self.url = ("http://%s:%d"):format(self.address, self.port)
  self.tls_url = self.tls.good and self.tls.good.url
end

--- Starts a proxy.
-- options: upstream (a server of spec.support.server or a port of the loopback), tls (true: TLS ports
-- too), keep_alive (seconds that it advertises and keeps an idle connection; 30, 0: neither), address
-- (127.0.0.1; any of 127.0.0.0/8) and port (any free one), receive_buffer (bytes of the sockets; small
-- ones make a slow reader felt), seed (of `percent`).
-- It has url, port, socket (a unix socket's path), and with tls: tls_url, ca (path), client and
-- stranger ({ cert, key }: paths; the authority vouches for the first only), and tls.NAME.url and
-- .port for the servers good, wrong_name, expired, self_signed and mutual (which demands a client's
-- certificate). Good ones are valid for localhost, chute.test, and 127.0.0.1 to 127.0.0.3.
function faults.proxy(options)
  local dir = process.make_dir()
  if options.tls then assert(process.run { argv = { "mkdir", dir .. "/tls" } } == 0) end
  local child = process.spawn {
    argv = argv_of(dir, options), stdin = true, stdout = true, log = dir .. "/log",
    die_with_parent = true, env = { LD_PRELOAD = false },
  }
  local self = setmetatable({
    child = child, pid = child.pid, dir = dir, address = options.address or "127.0.0.1", socket = dir .. "/socket",
  }, proxy)
  self.guard = guard(self)
  local line, why = child:read_line(START_SECONDS)
  if not line then
    local log = read_log(dir)
    self.stopped = true
    child:stop(0)
    process.remove_dir(dir)
    error(("faultproxy does not listen: %s\n%s"):format(why, log), 2)
  end
  take_ports(self, line)
  if options.tls then
    local files = dir .. "/tls/"
    local function pair(name) return { cert = files .. name .. ".pem", key = files .. name .. ".key" } end
    self.ca, self.client, self.stranger = files .. "ca.pem", pair "client", pair "stranger"
  end
  return self
end

return faults
