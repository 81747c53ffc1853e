-- curl: libcurl's easy handles as they are, for what a client built on libcurl will meet. A handle
-- keeps its connection, and re-sends where libcurl does.

local ffi = require "ffi"

ffi.cdef [[
void *curl_easy_init(void);
int curl_easy_setopt(void *handle, int option, ...);
int curl_easy_perform(void *handle);
int curl_easy_getinfo(void *handle, int what, ...);
void curl_easy_cleanup(void *handle);
const char *curl_easy_strerror(int code);
void *curl_slist_append(void *list, const char *text);
void curl_slist_free_all(void *list);
void *open_memstream(char **at, size_t *len);
void *fopen(const char *path, const char *mode);
int fclose(void *file);
void free(void *at);
]]

local lib = ffi.load "curl"

local OPTION = {
  WRITEDATA = 10001, HEADERDATA = 10029, URL = 10002, POSTFIELDS = 10015,
  SSLCERT = 10025, SSLKEY = 10087, CAINFO = 10065, HTTPHEADER = 10023, UNIX_SOCKET_PATH = 10231, PROXY = 10004,
  POSTFIELDSIZE = 60, NOSIGNAL = 99, TIMEOUT_MS = 155, CONNECTTIMEOUT_MS = 156, HTTPGET = 80,
}
local RESPONSE_CODE, NUM_CONNECTS = 0x200002, 0x20001a

local text_t = ffi.typeof "char *[1]"
local size_t_t = ffi.typeof "size_t[1]"
local long_t = ffi.typeof "long[1]"

local curl = {}
local handle = {}
handle.__index = handle

--- A handle.
function curl.new()
  return setmetatable({ handle = ffi.gc(lib.curl_easy_init(), lib.curl_easy_cleanup) }, handle)
end

local function set(self, name, value)
  if type(value) == "number" then value = ffi.cast("long", value) end
  assert(lib.curl_easy_setopt(self.handle, OPTION[name], value) == 0, name)
end

local function info(self, what)
  local out = long_t()
  lib.curl_easy_getinfo(self.handle, what, out)
  return tonumber(out[0])
end

local function set_all(self, options, headers)
  local none = ffi.cast("const char *", nil)
  set(self, "NOSIGNAL", 1)
  set(self, "URL", options.url)
  set(self, "HTTPHEADER", headers)
  set(self, "TIMEOUT_MS", math.ceil((options.timeout or 10) * 1000))
  set(self, "CONNECTTIMEOUT_MS", math.ceil((options.connect_timeout or 10) * 1000))
  set(self, "CAINFO", options.ca or none)
  set(self, "SSLCERT", options.client and options.client.cert or none)
  set(self, "SSLKEY", options.client and options.client.key or none)
  set(self, "UNIX_SOCKET_PATH", options.socket or none)
  set(self, "PROXY", options.proxy or none)
  set(self, "HTTPGET", 1)
  if options.body then
    set(self, "POSTFIELDSIZE", #options.body)
    set(self, "POSTFIELDS", options.body)
  end
end

-- A stream that libcurl writes to; take() closes it and gives what was written.
local function memory()
  local at, len = text_t(), size_t_t()
  local file = ffi.C.open_memstream(at, len)
  local function take()
    ffi.C.fclose(file)
    local text = ffi.string(at[0], len[0])
    ffi.C.free(at[0])
    return text
  end
  return file, take
end

local function nowhere()
  local file = ffi.C.fopen("/dev/null", "w")
  return file, function() ffi.C.fclose(file) end
end

--- Sends a request: { status, head, body, fresh (a connection was made for it) }, or nil, libcurl's
-- message, its code and what came of the body.
-- options: url, body (a POST then), headers (list of lines), timeout and connect_timeout (seconds),
-- ca (path), client ({ cert, key }: paths), socket (path), proxy (URL), discard (true: no body is kept).
function handle:request(options)
  local headers = lib.curl_slist_append(nil, "Expect:")
  for _, line in ipairs(options.headers or {}) do headers = lib.curl_slist_append(headers, line) end
  local head_file, take_head = memory()
  local body_file, take_body = (options.discard and nowhere or memory)()
  set_all(self, options, headers)
  set(self, "HEADERDATA", head_file)
  set(self, "WRITEDATA", body_file)
  local code = lib.curl_easy_perform(self.handle)
  local head, body = take_head(), take_body()
  lib.curl_slist_free_all(headers)
  if code ~= 0 then return nil, ffi.string(lib.curl_easy_strerror(code)), code, body end
  return { status = info(self, RESPONSE_CODE), head = head, body = body, fresh = info(self, NUM_CONNECTS) > 0 }
end

return curl
