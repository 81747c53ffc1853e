--- Readers of values that say themselves what they are: in Variant, Dynamic and JSON columns.
--
-- A list becomes a list, chute.typed a type and a value read as that type, chute.pairs pairs, any
-- other table pairs of its keys and values. A list is a table with a value at 1 and nothing besides
-- positions (n aside), or one marked by chute.list or as an array by cjson: {} is an object.
local cell = require "chute.cell"
local lib = require "chute.lib"
local values = require "chute.values"
local C = lib.C

local M = {}

local MAX_SPLIT = 6 -- names in a path whose dots may be objects or part of keys, in any mixture
local MAX_TYPES = 256 -- readers kept of types that values name

-- `node` tells of the typed paths of JSON: a reader, or a table of nodes, by key.
M.TEMPLATE = [==[
local is_list, put_deep, Typed, typed = env.is_list, env.put_deep, env.Typed, env.typed
local put_any

local function put_members(i, v, node)
  local n = 0
  for _ in next, v do n = n + 1 end
  local at = open(i, n, $PAIRS, 2 * n)
  for k, x in next, v do
    put(at, k)
    put_any(at + 1, x, node and node[k])
    at = at + 2
  end
end

local function put_pairs(i, v, node)
  local n = list_length(v)
  if n == nil then return put_gap(cells, i) end
  local first = open(i, n, $PAIRS, 2 * n)
  for k = 1, n do
    local pair = v[k]
    if type(pair) ~= "table" or pair == null then return put_no_pairs(cells, i) end
    put(first + 2 * k - 2, pair[1])
    put_any(first + 2 * k - 1, pair[2], node and node[pair[1]])
  end
end

local function put_list(i, v)
  local n = list_length(v)
  if n == nil then return put_gap(cells, i) end
  local first = open(i, n, $LIST, n)
  for k = 1, n do put_any(first + k - 1, v[k]) end
end

local function put_typed(i, v)
  local first = open(i, 2, $TYPED, 2)
  put(first, v.type)
  local read = typed[v.type] or env.typed_reader(v.type)
  read(first + 1, v.value)
end

function put_any(i, v, node)
  if type(node) == "function" then return node(i, v) end
  if type(v) ~= "table" or v == null then return put(i, v) end
  if level == 100 then return put_deep(cells, i) end
  level = level + 1
  local meta = getmetatable(v)
  if meta == Typed then
    put_typed(i, v)
  elseif meta == Pairs then
    put_pairs(i, v, node)
  elseif is_list(v, meta) then
    put_list(i, v)
  else
    put_members(i, v, node)
  end
  level = level - 1
end

local function read_any(i, v) put_any(i, v) end
env.read_any, env.put_any = read_any, put_any
]==]

-- What the chunk of a typed reader begins with: the names its templates use.
M.TYPED_HEAD = [[
local env = ...
local cells, anchor, null, Pairs, Typed = env.cells, env.anchor, env.null, env.Pairs, env.Typed
local put_gap, put_no_pairs = env.cell.put_gap, env.cell.put_no_pairs
local list_length, has_index = env.cell.list_length, env.cell.has_index
local materialize = env.cell.materialize
local put, open, read_any, put_any = env.put, env.open, env.read_any, env.put_any
local type, next, getmetatable = type, next, getmetatable
local R, NO_NAMES = {}, {}
]]

M.JSON = [[
do -- $type
  local node = $node
  R[$id] = function(i, v) put_any(i, v, node) end
end
]]

-- ---- kinds of tables ------------------------------------------------------------------------

local function is_array_meta(meta)
  if meta == nil then return false end
  if meta == values.List then return true end
  local cjson = package.loaded.cjson
  return type(cjson) == "table" and (meta == cjson.array_mt or meta == cjson.empty_array_mt)
end

function M.is_list(v, meta)
  if is_array_meta(meta) then return true end
  return rawget(v, 1) ~= nil and cell.list_length(v) ~= nil
end

-- ---- typed paths of JSON --------------------------------------------------------------------

local function split(path)
  local parts = {}
  for part in (path .. "."):gmatch "(.-)%." do parts[#parts + 1] = part end
  return parts
end

-- {["a.b"]={c=1}} and {a={["b.c"]=1}} are both of path a.b.c.
local function add(tree, parts, from, reader)
  local last = #parts
  for stop = from, last do
    if #parts <= MAX_SPLIT or stop == from or stop == last then
      local key = table.concat(parts, ".", from, stop)
      if stop == last then
        tree[key] = reader
      elseif type(tree[key]) ~= "string" then
        tree[key] = tree[key] or {}
        add(tree[key], parts, stop + 1, reader)
      end
    end
  end
end

local function write(tree)
  local parts = {}
  for key, node in pairs(tree) do
    parts[#parts + 1] = ("[%q] = %s"):format(key, type(node) == "string" and node or write(node))
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

--- The source of the node of a JSON type whose typed paths have these readers; nil where plain
-- values will do.
function M.node(paths, readers)
  local tree = {}
  for i, path in ipairs(paths) do
    if readers[i] ~= "put" and readers[i] ~= "read_any" then add(tree, split(path), 1, readers[i]) end
  end
  return next(tree) and write(tree) or nil
end

-- ---- types that values name -----------------------------------------------------------------

--- Makes env.typed_reader: the reader of a type by its text. `generate(ctype)` returns its source
-- and the expression that reads. What is no type is read as it comes: C tells.
function M.bind(env, generate)
  local count = 0
  env.is_list, env.Typed, env.typed = M.is_list, values.Typed, {}

  function env.put_deep(cells, i) cell.put_deep(cells, i) end

  function env.typed_reader(text)
    if count == MAX_TYPES then
      count = 0
      for known in pairs(env.typed) do env.typed[known] = nil end
    end
    local ctype = type(text) == "string" and C.chute_type_parse(text, #text, nil) or nil
    local reader = env.read_any
    if ctype ~= nil then
      local source, expression = generate(ctype)
      C.chute_type_free(ctype)
      local chunk = loadstring(M.TYPED_HEAD .. source .. "\nreturn " .. expression, "=chute.typed")
      reader = chunk and chunk(env) or env.read_any
    end
    if type(text) == "string" then
      count = count + 1
      env.typed[text] = reader
    end
    return reader
  end
end

return M
