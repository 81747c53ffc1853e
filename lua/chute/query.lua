--- Statements sent one by one: what pools and connections share.
local errors = require "chute.errors"
local lib = require "chute.lib"
local options = require "chute.options"
local param = require "chute.param"
local result = require "chute.result"
local wait = require "chute.wait"
local C, ffi = lib.C, lib.ffi

local M = {}

local KEYS = { params = true, settings = true, body = true, compress = true, headers = true,
  timeout = true, format = true, sql = true, stream = true, compress_response = true,
  progress = true }
local GRACE_MS = 250 -- the engine keeps the time by itself, and tells more when it runs out
local raw = errors.raw
local query_t = ffi.typeof "chute_query"
local outcome = ffi.new "chute_result[1]"

-- What the statement under way borrows: reachable until the engine has copied it.
local held = {}

local function fail(message, ...) error("chute: " .. message:format(...), 0) end

local function hold(value)
  held[#held + 1] = value
  return value
end

local function header(value)
  if type(value) ~= "string" then fail("a header is text, not a %s", type(value)) end
  return value
end

local function set_body(query, opts)
  local body = opts.body
  if body == nil then return end
  if type(body) ~= "string" then fail("body must be a string, not a %s", type(body)) end
  query.body, query.body_len = body, #body
  if opts.compress then query.compression, query.level = options.compress(opts.compress) end
end

local function check(opts)
  for key in pairs(opts) do
    if not KEYS[key] then fail("query has no option %s", tostring(key)) end
  end
  if opts.format ~= nil then options.c_text(opts.format, "format") end
  if opts.progress ~= nil and type(opts.progress) ~= "function" then
    fail "progress must be a function"
  end
  if opts.sql ~= nil and opts.sql ~= "url" and opts.sql ~= "body" then
    fail("sql %q is neither \"url\" nor \"body\"", tostring(opts.sql))
  end
end

--- A chute_query of SQL and options, its texts held, and its time in milliseconds or nil. `format`:
-- of the answer, where neither names one.
local function build(sql, opts, format)
  if type(sql) ~= "string" then fail("a statement is a string, not a %s", type(sql)) end
  check(opts)
  local query = query_t()
  query.sql, query.sql_len = hold(sql), #sql
  query.settings, query.settings_count = options.pair_array(opts.settings, "settings",
    options.setting, held)
  local types = opts.params and param.types(sql)
  query.params, query.params_count = options.pair_array(opts.params, "params",
    function(value, name) return param.text(value, types[name]) end, held)
  query.headers, query.headers_count = options.pair_array(opts.headers, "headers", header,
    held)
  query.format = hold(opts.format or format)
  query.stream = opts.stream and 1 or 0
  query.compress_response = opts.compress_response and 1 or 0
  query.progress = opts.progress and 1 or 0
  query.sql_in_body = opts.sql == "body" and 1 or 0
  set_body(query, opts)
  local ms = opts.timeout and options.duration(opts.timeout, "timeout")
  query.timeout_ms = ms or 0
  return query, ms
end

local function release()
  for i = #held, 1, -1 do held[i] = nil end
end

-- What the answer is in, where the server does not tell (chdb): the format at the statement's end,
-- else the one asked for.
local function asked_for(sql, opts)
  local json = opts.settings and opts.settings.output_format_binary_write_json_as_string
  return {
    format = sql:match "[Ff][Oo][Rr][Mm][Aa][Tt]%s+([%w_]+)[%s;]*$" or opts.format or result.FORMAT,
    stream = opts.stream, progress = opts.progress,
    json_text = json == true or json == 1 or json == "1",
  }
end

-- Requests are freed by the collector, too: what throws meanwhile must not keep them, nor the pool.
local function owned(request) return ffi.gc(request, C.chute_request_free) end

local function free(request) C.chute_request_free(ffi.gc(request, nil)) end

local STREAM_GRACE_MS = 5000 -- the engine counts whole seconds there

-- A streamed result, which owns the request from here on.
local function begin_stream(request, ms, asked)
  local function ready() return wait(request, ms + STREAM_GRACE_MS) end
  if C.chute_request_result(request, outcome, raw) < 0 then
    free(request)
    return nil, errors.take()
  end
  return result.stream(outcome[0], asked, request, ready)
end

local PROGRESS_MS = 100 -- between looks

-- Waits as `wait` does, and meanwhile calls `tell` with what the server last told of its progress.
local function wait_telling(request, ms, tell)
  local text, before = ffi.new "char[256]", ""
  while true do
    local step = math.min(ms, PROGRESS_MS)
    local done = wait(request, step)
    local len = tonumber(C.chute_request_progress(request, text, 256))
    local now = ffi.string(text, len)
    if now ~= before then
      before = now
      tell(result.numbers(now))
    end
    ms = ms - step
    if done or ms <= 0 then return done end
  end
end

-- Whether it is done. What the caller's function throws ends the request.
local function await(request, ms, tell)
  if not tell then return wait(request, ms) end
  local ok, done = pcall(wait_telling, request, ms, tell)
  if ok then return done end
  free(request) -- now, not when the collector comes to it
  error(done, 0)
end

--- What a request brought once it is done; it is freed. A result; or nil, err.
local function finish(request, ms, asked)
  if not await(request, ms, asked.progress) then
    free(request)
    return nil, errors.new("timeout", ("no answer within %g s"):format((ms - GRACE_MS) / 1000),
      { retryable = true, uncertain = true })
  end
  if asked.stream then return begin_stream(request, ms, asked) end
  local failed = C.chute_request_result(request, outcome, raw) < 0
  local answer = not failed and result.new(outcome[0], asked)
  free(request)
  if failed then return nil, errors.take() end
  return answer
end

--- Sends a statement to a pool (a chute_pool) and waits for the outcome, at most opts.timeout or
-- else `default_ms`. opts: params ({name:Type} in the SQL), settings, body (data after the
-- statement), compress (of the body: "lz4", "zstd:3", "block-lz4" …; none unless given), headers,
-- timeout, format (of the answer, where the SQL names none: RowBinaryWithNamesAndTypes, which
-- result:rows() reads, unless given), sql ("body": the statement goes at the head of the body),
-- stream (true: the result is there as soon as the answer begins, without a body, and its rows come
-- in bounded memory; `timeout` is then of a time in which nothing comes), compress_response (true:
-- the answer comes compressed), progress (a function that is called meanwhile, about ten times a
-- second, with what the server tells: read_rows, read_bytes, total_rows_to_read …; what it throws
-- ends the statement). A result; or nil, err. Throws at `level` on wrong arguments.
function M.send(pool, default_ms, sql, opts, level)
  local request, err = M.start(pool, default_ms, sql, opts, level + 1)
  if not request then return nil, err end
  return request:result()
end

-- ---- requests -------------------------------------------------------------------------------

local Request = {}
Request.__index = Request

--- Sends a statement and does not wait: a request. Else as M.send.
function M.start(pool, default_ms, sql, opts, level)
  opts = opts or {}
  local ok, query, ms = pcall(build, sql, opts, result.FORMAT)
  local request = ok and C.chute_pool_query(pool, query, raw)
  release()
  if not ok then errors.throw((tostring(query):gsub("^chute: ", "")), level + 1) end
  if request == nil then return nil, errors.take() end
  return setmetatable({ ptr = owned(request),
    ms = (ms or default_ms) + GRACE_MS, asked = asked_for(sql, opts) }, Request)
end

local function take(self)
  local ptr = self.ptr
  self.ptr = nil
  return ptr
end

--- Whether the outcome is there, which result() then gives without waiting.
function Request:done() return not self.ptr or wait(self.ptr, 0) end

--- Waits for the outcome, which is told once. A result; or nil, err.
function Request:result()
  local ptr = take(self)
  if not ptr then return nil, errors.new("closed", "the request is over") end
  return finish(ptr, self.ms, self.asked)
end

--- Lets go of it: its connection is closed, by which a server told to (the setting
-- cancel_http_readonly_queries_on_client_close) ends the query, too. Idempotent; true.
function Request:cancel()
  local ptr = take(self)
  if ptr then free(ptr) end
  return true
end

Request.__tostring = function(self) return self.ptr and "chute.request" or "chute.request: over" end

--- Sends the rows of a buffer (a chute_buffer) likewise, compressed as opts.compress says.
function M.send_rows(pool, default_ms, sql, buffer, opts, level)
  local function build_rows()
    local query, ms = build(sql, opts)
    local len = ffi.new "size_t[1]"
    query.body = C.chute_buffer_data(buffer, len)
    query.body_len = len[0]
    query.compression, query.level = options.compress(opts.compress)
    return query, ms
  end
  local ok, query, ms = pcall(build_rows)
  local request = ok and C.chute_pool_query(pool, query, raw)
  release()
  if not ok then errors.throw((tostring(query):gsub("^chute: ", "")), level + 1) end
  if request == nil then return nil, errors.take() end
  return finish(owned(request), (ms or default_ms) + GRACE_MS, asked_for(sql, opts))
end

--- Asks whether the server answers. true; or nil, err.
function M.ping(pool, ms)
  local request = C.chute_pool_ping(pool, raw)
  if request == nil then return nil, errors.take() end
  local answer, err = finish(owned(request), ms + GRACE_MS, {})
  if not answer then return nil, err end
  return true
end

return M
