--- Policy: when a batch is sealed, how it travels, what happens at a bound. The same keys may
-- stand in a schema and in chute.open; open's win, key by key.
local options = require "chute.options"

local M = {}

--- The keys of a definition that are policy.
M.KEYS = { compress = true, batch = true, pending = true, retry = true, settings = true,
  sql = true }

local GROUPS = {
  batch = { rows = true, bytes = true, age = true, when = true },
  pending = { bytes = true, overflow = true },
  retry = { attempts = true, deadline = true, base = true, max = true },
}
local OVERFLOW = { error = 0, block = 1, drop_new = 2, drop_old = 3 }

local function group(def, name, fail)
  local value = def[name]
  if value == nil then return {} end
  if type(value) ~= "table" then fail("%s must be a table, not a %s", name, type(value)) end
  for key in pairs(value) do
    if not GROUPS[name][key] then fail("unknown key %s.%s", name, tostring(key)) end
  end
  return value
end

local MAX_ROWS = 1048449 -- what a server stores as one block
local MAX_ATTEMPTS = 2 ^ 31 - 1

local function count(value, name, least, most, fail)
  if value == nil then return nil end
  if type(value) ~= "number" or value % 1 ~= 0 or value < least or value > most then
    fail("%s must be a whole number from %d to %d, not %s", name, least, most, tostring(value))
  end
  return value
end

local function read_when(when, fail)
  if when ~= nil and type(when) ~= "function" then fail "batch.when must be a function" end
  return when
end

local function read_overflow(value, fail)
  if value == nil then return nil end
  return OVERFLOW[value]
    or fail("pending.overflow %q is none of error, block, drop_new, drop_old", tostring(value))
end

local function read_settings(settings, fail)
  if settings == nil then return nil end
  if type(settings) ~= "table" then fail "settings must be a table of names and values" end
  local out = {}
  for name, value in pairs(settings) do
    local kind = type(value)
    if type(name) ~= "string" or (kind ~= "string" and kind ~= "number" and kind ~= "boolean") then
      fail("settings: %s is no name and value", tostring(name))
    end
    if kind == "boolean" then value = value and "1" or "0" end
    options.c_text(name, "settings: a name")
    out[name] = options.c_text(tostring(value), "settings: " .. name)
  end
  return out
end

local function read_sql(value, fail)
  if value ~= nil and value ~= "url" and value ~= "body" then
    fail("sql %q is neither \"url\" nor \"body\"", tostring(value))
  end
  return value
end

--- A duration that is some time: the engine takes 0 for "unless given".
local function duration(value, name, fail)
  if value == nil then return nil end
  local ms = options.duration(value, name)
  if ms == 0 then fail("%s must be more than 0", name) end
  return ms
end

local function bytes(value, name)
  return value ~= nil and options.bytes(value, name) or nil
end

local function read(def, fail)
  local batch, pending, retry =
    group(def, "batch", fail), group(def, "pending", fail), group(def, "retry", fail)
  local method, level
  if def.compress ~= nil then method, level = options.compress(def.compress) end
  return {
    rows = count(batch.rows, "batch.rows", 1, MAX_ROWS, fail),
    bytes = bytes(batch.bytes, "batch.bytes"),
    age_ms = duration(batch.age, "batch.age", fail),
    when = read_when(batch.when, fail),
    pending_bytes = bytes(pending.bytes, "pending.bytes"),
    overflow = read_overflow(pending.overflow, fail),
    attempts = count(retry.attempts, "retry.attempts", 0, MAX_ATTEMPTS, fail),
    deadline_ms = duration(retry.deadline, "retry.deadline", fail),
    base_ms = duration(retry.base, "retry.base", fail),
    max_ms = duration(retry.max, "retry.max", fail),
    settings = read_settings(def.settings, fail),
    method = method, level = level,
    sql = read_sql(def.sql, fail),
  }
end

--- The policy of a definition, checked. `fail(format, …)` throws what is wrong with it.
function M.read(def, fail)
  local ok, result = pcall(read, def, fail)
  if ok then return result end
  if type(result) == "table" then error(result, 0) end
  fail("%s", (tostring(result):gsub("^chute: ", "")))
end

--- `over`'s keys where it has them, else `under`'s; settings are joined.
function M.merge(under, over)
  local merged = {}
  for key, value in pairs(under) do merged[key] = value end
  for key, value in pairs(over) do merged[key] = value end
  if under.settings and over.settings then
    merged.settings = {}
    for name, value in pairs(under.settings) do merged.settings[name] = value end
    for name, value in pairs(over.settings) do merged.settings[name] = value end
  end
  return merged
end

return M
