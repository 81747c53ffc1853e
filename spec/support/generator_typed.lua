-- generator_typed: nodes of types whose values say of which type they are; see generator.

local chute = require "chute"
local values = require "chute.values"

local typed, random = chute.typed, math.random

local nodes = {}

local function canonical(text) return chute.schema { columns = { { "v", text } } }.columns[1].type end

-- Which node made a typed value: what it is compared with.
local maker = setmetatable({}, { __mode = "k" })

local function make_typed(node)
  local value = typed(canonical(node.text), node.make())
  maker[value] = node
  return value
end

local function same_typed(sent, got)
  return getmetatable(got) == values.Typed and got.type == sent.type and maker[sent].same(sent.value, got.value)
end

local function simpler_typed(value)
  local out = {}
  for i, smaller in ipairs(maker[value].simpler(value.value)) do
    out[i] = typed(value.type, smaller)
    maker[out[i]] = maker[value]
  end
  return out
end

-- Neither of these takes NULL inside, nor another of its kind.
local function is_plain(node)
  local text = node.text
  return not text:find "^Nullable" and not text:find "^LowCardinality%(Nullable" and not text:find "^Variant"
    and not text:find "^Dynamic"
end

--- A Variant of two or three types that `some()` gives.
function nodes.variant(some)
  local children, texts, seen = {}, {}, {}
  while #children < 2 or #children < 3 and random(2) == 1 do
    local child = some()
    local text = canonical(child.text)
    if is_plain(child) and not seen[text] then
      seen[text] = true
      children[#children + 1], texts[#texts + 1] = child, child.text
    end
  end
  return {
    text = ("Variant(%s)"):format(table.concat(texts, ", ")),
    make = function()
      if random(5) == 1 then return chute.null end
      return make_typed(children[random(#children)])
    end,
    same = function(sent, got)
      if sent == chute.null then return got == chute.null end
      return same_typed(sent, got)
    end,
    simpler = function(value) return value == chute.null and {} or simpler_typed(value) end,
    parts = {},
  }
end

-- What Dynamic gives back without a type.
local UNTYPED = { Bool = true, String = true, Int64 = true, UInt64 = true }

local function make_dynamic(some)
  local child
  repeat child = some() until is_plain(child)
  if UNTYPED[child.text] then return child.make() end
  return make_typed(child)
end

local function same_dynamic(sent, got)
  if getmetatable(sent) == values.Typed then return same_typed(sent, got) end
  return sent == got
end

--- A Dynamic of values of types that `some()` gives.
function nodes.dynamic(some)
  return {
    text = "Dynamic",
    make = function()
      if random(6) == 1 then return chute.null end
      return make_dynamic(some)
    end,
    same = same_dynamic,
    simpler = function(value) return getmetatable(value) == values.Typed and simpler_typed(value) or {} end,
    parts = {},
  }
end

local KEYS = { "a", "b c", "é", "it's", "\\", '"', "\1", "1", "type", "value", "n" }

local function is_table(value) return type(value) == "table" and getmetatable(value) == nil end

local function make_object(some, depth)
  local object = {}
  for _ = 1, random(depth == 0 and 0 or 1, 4) do
    local nested = depth < 3 and random(4) == 1
    object[KEYS[random(#KEYS)]] = nested and make_object(some, depth + 1) or make_dynamic(some)
  end
  return object
end

local function same_object(sent, got)
  if not is_table(got) then return false end
  for key, value in pairs(sent) do
    local same = is_table(value) and same_object or same_dynamic
    if not same(value, got[key]) then return false end
  end
  for key in pairs(got) do
    if sent[key] == nil then return false end
  end
  return true
end

--- A JSON of values of types that `some()` gives; to be sent as paths.
function nodes.json(some)
  return {
    text = "JSON",
    make = function() return make_object(some, 0) end,
    same = same_object,
    simpler = function(value)
      local out = {}
      for key in pairs(value) do
        local fewer = {}
        for other, item in pairs(value) do
          if other ~= key then fewer[other] = item end
        end
        out[#out + 1] = fewer
      end
      return out
    end,
    parts = {},
  }
end

return nodes
