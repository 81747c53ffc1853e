--- Cells: what each kind of Lua value becomes on its way to C, but for the commonest, which
-- generated code puts there itself (chute.row).
local lib = require "chute.lib"
local values = require "chute.values"
local C, ffi = lib.C, lib.ffi

local M = { MAX_LIST = 2 ^ 27 }

local null, Pairs = values.null, values.Pairs
local INT64, UINT64 = ffi.typeof "int64_t", ffi.typeof "uint64_t"

local OTHER = { table = "a table", ["function"] = "a function", thread = "a coroutine",
  cdata = "a cdata of another type than int64_t and uint64_t", userdata = "a userdata" }

-- The null of cjson and ngx, once one was seen: a comparison compiles, where tostring does not.
local null_userdata

local function is_null(v, kind)
  if v == null then return true end
  if kind ~= "userdata" then return false end
  if v == null_userdata then return true end
  if getmetatable(v) ~= nil then return false end -- a light userdata has none, and nothing runs here
  local text = tostring(v)
  if text ~= "userdata: NULL" and not text:find "^userdata: %(nil%)" and not text:find "^userdata: 0x0+$" then
    return false
  end
  null_userdata = v
  return true
end

-- The functions below fetch the cell's address last: where a trace ends while it is held, it is
-- made an object of its own, garbage for every row.
local function put_text(cells, i, text, kind)
  local cell = cells.at[i]
  cell.ptr, cell.len, cell.kind = text, #text, kind
end

local function put_int64(cells, i, v)
  local cell = cells.at[i]
  cell.i64, cell.kind = v, C.CHUTE_CELL_INT64
end

local function put_uint64(cells, i, v)
  local cell = cells.at[i]
  cell.u64, cell.kind = v, C.CHUTE_CELL_UINT64
end

local function put_boolean(cells, i, v)
  local cell = cells.at[i]
  cell.u64, cell.kind = v and 1 or 0, C.CHUTE_CELL_BOOL
end

--- Fills cell i with a value of any kind but nil, string and number.
function M.put_rare(cells, i, v)
  local kind = type(v)
  if kind == "boolean" then
    put_boolean(cells, i, v)
  elseif kind == "cdata" and ffi.istype(INT64, v) then
    put_int64(cells, i, v)
  elseif kind == "cdata" and ffi.istype(UINT64, v) then
    put_uint64(cells, i, v)
  elseif is_null(v, kind) then
    cells.at[i].kind = C.CHUTE_CELL_NULL
  else
    put_text(cells, i, OTHER[kind], C.CHUTE_CELL_OTHER)
  end
end

--- Fills a cell with a table that was to be a list and has other keys than a sequence has.
function M.put_gap(cells, i)
  put_text(cells, i, "a table with a nil inside or with other keys", C.CHUTE_CELL_OTHER)
end

--- Fills a cell with a table that goes on and on, or holds itself.
function M.put_deep(cells, i)
  put_text(cells, i, "a table nested deeper than 100", C.CHUTE_CELL_OTHER)
end

--- Fills a cell with a list of pairs that has something else in it.
function M.put_no_pairs(cells, i)
  put_text(cells, i, "a list with something else than {key, value}", C.CHUTE_CELL_OTHER)
end

--- Whether every key is a position up to n.
local function has_positions_only(v, n)
  for k in next, v do
    if type(k) ~= "number" or k < 1 or k > n or k % 1 ~= 0 then return false end
  end
  return true
end

--- The length of a list: its n, else its border; nil where it is no list: a table with more keys
-- than a sequence has, such as one with a nil inside. Where 1 comes first and nothing behind the
-- border there is nothing more; some tables keep their positions in another order.
function M.list_length(v)
  local n = v.n
  if n == nil then
    n = #v
    if n == 0 then return next(v) == nil and 0 or nil end
    if next(v) == 1 and next(v, n) == nil or has_positions_only(v, n) then return n end
  elseif type(n) == "number" and n >= 0 and n <= M.MAX_LIST and n % 1 == 0 then
    return n
  end
end

--- A copy that `anchor` holds of a table whose metatable may make its values up on access.
function M.materialize(v, names, count, anchor)
  local copy, row = {}, anchor.row
  if row ~= v then -- what the metatable does may change the row, whose strings are in cells already
    local held = {}
    for k, x in next, row do held[k] = x end
    anchor.n = anchor.n + 1
    anchor[anchor.n] = held
  end
  for k = 1, count do copy[k] = v[k] end
  for _, name in ipairs(names) do copy[name] = v[name] end
  anchor.n = anchor.n + 1
  anchor[anchor.n] = copy
  return copy
end

function M.has_index(v)
  local meta = getmetatable(v)
  return meta ~= nil and meta ~= Pairs and (type(meta) ~= "table" or meta.__index ~= nil)
end

return M
