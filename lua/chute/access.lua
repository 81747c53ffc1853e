--- How a pool comes to its servers, read from its options: see docs/http.md.
-- Each function throws one line without a position: the caller knows at whose level to throw it.
local lib = require "chute.lib"
local options = require "chute.options"
local C, ffi = lib.C, lib.ffi

local M = {}

--- The options' names.
M.KEYS = { user = true, password = true, database = true, auth = true, token = true, tls = true,
  proxy = true, unix = true, roles = true, settings = true, connect_timeout = true,
  stall_timeout = true }

local TEXTS = { user = "user", password = "password", database = "database", token = "token",
  proxy = "proxy", unix = "unix_socket" }
local TLS_TEXTS = { ca = true, cert = true, key = true, server_name = true }
local AUTHS = { headers = C.CHUTE_AUTH_HEADERS, basic = C.CHUTE_AUTH_BASIC,
  bearer = C.CHUTE_AUTH_BEARER }

local function fail(message, ...) error("chute: " .. message:format(...), 0) end

local function text(value, name)
  return value ~= nil and options.c_text(value, name) or nil
end

local function read_tls(config, tls)
  if tls == nil then return end
  if type(tls) ~= "table" then fail "tls must be a table such as { ca = \"ca.pem\" }" end
  for key, value in pairs(tls) do
    if TLS_TEXTS[key] then
      config[key] = text(value, "tls." .. key)
    elseif key == "verify" then
      if type(value) ~= "boolean" then fail "tls.verify must be true or false" end
      config.insecure = value and 0 or 1
    else
      fail("tls has no option %s", tostring(key))
    end
  end
end

local function read_auth(config, opts)
  local auth = opts.auth or (opts.token ~= nil and "bearer") or "headers"
  config.auth = AUTHS[auth] or fail("auth %s is none of headers, basic, bearer", tostring(auth))
end

local function read_roles(config, roles, held)
  if roles == nil then return end
  if type(roles) ~= "table" then fail "roles must be a list of names" end
  local array = ffi.new("const char *[?]", #roles + 1)
  for i, role in ipairs(roles) do array[i - 1] = text(role, "a role") end
  config.roles, config.roles_count = array, #roles
  held[#held + 1] = array
end

local function read_settings(config, settings, held)
  if settings == nil then return end
  local array, count = options.pair_array(settings, "settings", options.setting, held)
  config.settings, config.settings_count = array, count
end

--- Fills a chute_pool_config, whose texts `opts` and `held` keep alive.
function M.read(config, opts, held)
  for option, field in pairs(TEXTS) do config[field] = text(opts[option], option) end
  read_auth(config, opts)
  read_tls(config, opts.tls)
  read_roles(config, opts.roles, held)
  read_settings(config, opts.settings, held)
  if opts.connect_timeout then
    config.connect_ms = options.duration(opts.connect_timeout, "connect_timeout")
  end
  if opts.stall_timeout then
    config.stall_ms = options.duration(opts.stall_timeout, "stall_timeout")
  end
end

return M
