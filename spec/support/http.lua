-- http: a blocking HTTP/1.1 client over sockets, for asking a server what it really says.
-- One connection a request. It shares nothing with the client under test.

local ffi = require "ffi"
local C = ffi.C

ffi.cdef [[
int socket(int domain, int type, int protocol);
int connect(int fd, const void *address, unsigned len);
int bind(int fd, const void *address, unsigned len);
int getsockname(int fd, void *address, unsigned *len);
int setsockopt(int fd, int level, int name, const void *value, unsigned len);
long send(int fd, const void *bytes, size_t len, int flags);
long recv(int fd, void *bytes, size_t len, int flags);
int shutdown(int fd, int how);
int close(int fd);
char *strerror(int number);
]]

-- sockaddr_in; port and address in network order, as bytes.
local address_t = ffi.typeof "struct { uint16_t family; uint8_t port[2], address[4], zero[8]; }[1]"
local timeval_t = ffi.typeof "struct { long s, us; }[1]"
local bytes_t = ffi.typeof "uint8_t[?]"
local unsigned1_t = ffi.typeof "unsigned[1]"
local AF_INET, SOCK_STREAM, SOCK_CLOEXEC, MSG_NOSIGNAL = 2, 1, 0x80000, 0x4000
local SHUT_WR = 1
local SOL_SOCKET, SO_RCVTIMEO, SO_SNDTIMEO = 1, 20, 21

local http = {}
local pending = {}
pending.__index = pending

local function loopback(port)
  local address = address_t()
  address[0].family = AF_INET
  address[0].port[0], address[0].port[1] = math.floor(port / 256), port % 256
  address[0].address[0], address[0].address[3] = 127, 1
  return address
end

local function why()
  return ffi.string(C.strerror(ffi.errno()))
end

--- A port of 127.0.0.1 that is free now, and need not be a moment later.
function http.free_port()
  local fd, address = C.socket(AF_INET, SOCK_STREAM + SOCK_CLOEXEC, 0), loopback(0)
  local len = unsigned1_t(ffi.sizeof(address))
  local ok = fd >= 0 and C.bind(fd, address, len[0]) == 0 and C.getsockname(fd, address, len) == 0
  if fd >= 0 then C.close(fd) end
  return assert(ok and address[0].port[0] * 256 + address[0].port[1], "no free port")
end

local function open(port, timeout)
  local fd = C.socket(AF_INET, SOCK_STREAM + SOCK_CLOEXEC, 0)
  if fd < 0 then return nil, why() end
  local wait = timeval_t { { math.floor(timeout), (timeout % 1) * 1e6 } }
  C.setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, wait, ffi.sizeof(wait))
  C.setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, wait, ffi.sizeof(wait))
  local address = loopback(port)
  if C.connect(fd, address, ffi.sizeof(address)) == 0 then return fd end
  local message = why()
  C.close(fd)
  return nil, message
end

-- A server may answer and close before it has read all: what was sent is then beside the point.
local function send_all(fd, text)
  local at, len = ffi.cast("const uint8_t *", text), #text
  while len > 0 do
    local sent = tonumber(C.send(fd, at, len, MSG_NOSIGNAL))
    if sent < 0 then return nil, why() end
    at, len = at + sent, len - sent
  end
  return true
end

local function receive_all(fd)
  local parts, size = {}, 262144
  local bytes = bytes_t(size)
  while true do
    local got = tonumber(C.recv(fd, bytes, size, 0))
    if got < 0 then return nil, why(), table.concat(parts) end
    if got == 0 then return table.concat(parts) end
    parts[#parts + 1] = ffi.string(bytes, got)
  end
end

--- Text as it may stand in a URL.
function http.escape(text)
  return (tostring(text):gsub("[^%w%-._~]", function(c) return ("%%%02X"):format(c:byte()) end))
end

--- "a=1&b=2" of a table of texts, numbers and booleans.
function http.query_string(params)
  local parts = {}
  for name, value in pairs(params) do
    if value == true then value = 1 elseif value == false then value = 0 end
    parts[#parts + 1] = http.escape(name) .. "=" .. http.escape(value)
  end
  table.sort(parts)
  return table.concat(parts, "&")
end

local function head_of(options)
  local lines = {
    ("%s %s HTTP/1.1"):format(options.method or (options.body and "POST" or "GET"), options.path or "/"),
    "Host: 127.0.0.1:" .. options.port,
    "Connection: close",
  }
  if options.body then lines[#lines + 1] = "Content-Length: " .. (options.length or #options.body) end
  for name, value in pairs(options.headers or {}) do lines[#lines + 1] = name .. ": " .. value end
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

local function parse_headers(text)
  local headers = {}
  for name, value in text:gmatch "\r\n([^:\r\n]+):[ \t]*([^\r\n]*)" do headers[name:lower()] = value end
  return headers
end

-- The body of a chunked answer; nil where its end is missing.
local function unchunk(text)
  local parts, at = {}, 1
  while true do
    local _, stop, size = text:find("^(%x+)[^\r\n]*\r\n", at)
    if not stop then return nil end
    local len = tonumber(size, 16)
    if len == 0 then return table.concat(parts) end
    if #text < stop + len + 2 then return nil end
    parts[#parts + 1] = text:sub(stop + 1, stop + len)
    at = stop + len + 3
  end
end

local function parse(text)
  local _, stop, status = text:find "^HTTP/1%.1 (%d+).-\r\n\r\n"
  if status == "100" then return parse(text:sub(stop + 1)) end
  if not stop then return nil, ("no answer in %d bytes"):format(#text) end
  local answer = { status = tonumber(status), headers = parse_headers(text:sub(1, stop - 2)) }
  local body, len = text:sub(stop + 1), tonumber(answer.headers["content-length"])
  if answer.headers["transfer-encoding"] == "chunked" then body = unchunk(body) end
  if not body or (len and #body ~= len) then return nil, "the answer is cut short" end
  answer.body = body
  return answer
end

--- Sends a request without waiting for its answer.
-- options: port, method, path, headers (name → value), body, timeout (seconds without a byte; 30),
-- length (the Content-Length to claim: the sending side is closed after the body then).
-- nil and a message where there is no connection.
function http.start(options)
  local fd, err = open(options.port, options.timeout or 30)
  if not fd then return nil, err end
  local sent, unsent = send_all(fd, head_of(options))
  if sent and options.body then sent, unsent = send_all(fd, options.body) end
  if options.length then C.shutdown(fd, SHUT_WR) end
  return setmetatable({ fd = fd, unsent = not sent and unsent }, pending)
end

--- All the bytes that come, to the end of the connection; or nil, a message, and those before it.
function pending:bytes()
  local text, err, before = receive_all(self.fd)
  C.close(self.fd)
  if text == "" and self.unsent then return nil, self.unsent, "" end -- told once, when sending
  return text, err, before
end

--- The answer: status, headers (lower-case name → value), body; or nil and a message.
function pending:finish()
  local text, err = self:bytes()
  if not text then return nil, err end
  return parse(text)
end

--- Sends bytes to a port and closes its own side: all that comes back, or nil and a message.
function http.talk(port, bytes, timeout)
  local fd, err = open(port, timeout or 30)
  if not fd then return nil, err end
  send_all(fd, bytes)
  C.shutdown(fd, SHUT_WR)
  return setmetatable({ fd = fd }, pending):bytes()
end

--- Sends a request and waits: as http.start, then finish.
function http.request(options)
  local request, err = http.start(options)
  if not request then return nil, err end
  return request:finish()
end

return http
