--- Generates the Lua that reads a row's values into cells.
--
-- One loop walks the scalar columns, so that a wide schema costs a column what a narrow one does
-- and a value of another kind costs a branch, not a trace of its own for the rest of the row.
-- Columns of values made of values get a reader each, made from their type. Nothing is allocated
-- a row.
--
-- Strings are borrowed: they must be reachable until the C call returns. The caller's row holds
-- its own; what `value`, `map` or a metatable makes on the way is held in `anchor`.
local any_reader = require "chute.any"
local cell = require "chute.cell"
local form_of = require "chute.form"
local lib = require "chute.lib"
local values = require "chute.values"
local C, ffi = lib.C, lib.ffi

local M = {}

local NO_KEY = "\0" -- as good as no row has; what it finds there a later reader writes over
local GROUP = 16 -- columns one generated function reads: its traces stay short

-- ---- templates ------------------------------------------------------------------------------

local HEAD = [[
local env = ...
local cells, anchor, keys, values = env.cells, env.anchor, env.keys, env.values
local named, positional = env.named, env.positional
local grow, null, Pairs = env.grow, env.null, env.Pairs
local put_rare, put_gap, put_no_pairs = env.cell.put_rare, env.cell.put_gap, env.cell.put_no_pairs
local list_length, has_index = env.cell.list_length, env.cell.has_index
local materialize = env.cell.materialize
local type, next, pairs, pcall, getmetatable = type, next, pairs, pcall, getmetatable
local R, N, top = {}, {}, $count
local NO_NAMES = {}
local level = 0 -- of tables in tables whose types say nothing of them
local Typed = env.Typed

-- The address of the cells is fetched where it is used: held in a local it is an object of its
-- own, garbage for every row, wherever a trace ends in between.
local function put(i, v)
  if type(v) == "string" then
    local cell = cells.at[i]
    cell.ptr, cell.len, cell.kind = v, #v, $STRING
  elseif type(v) == "number" then
    local cell = cells.at[i]
    cell.num, cell.kind = v, $NUMBER
  elseif v == nil then
    cells.at[i].kind = $ABSENT
  else
    put_rare(cells, i, v)
  end
end

local function reserve(n)
  local first = top
  top = first + n
  if top > cells.capacity then grow(first, n) end
  return first
end

local function open(i, n, kind, children)
  local first = reserve(children)
  local cell = cells.at[i]
  cell.first, cell.len, cell.kind = first, n, kind
  return first
end
env.put, env.open = put, open
]]

local LIST = [[
R[$id] = function(i, v) -- $type
  if type(v) ~= "table" or v == null then return put(i, v) end
  local n = list_length(v)
  if n == nil then return put_gap(cells, i) end
  if has_index(v) then v = materialize(v, NO_NAMES, n, anchor) end
  local first = open(i, n, $LIST, n)
  for k = 1, n do $child1(first + k - 1, v[k]) end
end
]]

local MAP = [[
R[$id] = function(i, v) -- $type
  if type(v) ~= "table" or v == null then return put(i, v) end
  local meta = getmetatable(v)
  if meta == Typed then return put(i, v) end
  if meta == Pairs then
    local n = list_length(v)
    if n == nil then return put_gap(cells, i) end
    local first = open(i, n, $PAIRS, 2 * n)
    for k = 1, n do
      local pair = v[k]
      if type(pair) ~= "table" or pair == null then return put_no_pairs(cells, i) end
      $child1(first + 2 * k - 2, pair[1])
      $child2(first + 2 * k - 1, pair[2])
    end
    return
  end
  local n = 0
  for _ in next, v do n = n + 1 end
  local at = open(i, n, $PAIRS, 2 * n)
  for k, x in next, v do
    $child1(at, k)
    $child2(at + 1, x)
    at = at + 2
  end
end
]]

local TUPLE = [[
R[$id] = function(i, v) -- $type
  if type(v) ~= "table" or v == null then return put(i, v) end
  if has_index(v) then v = materialize(v, $names, $count, anchor) end
  local n = #v > $count and #v or $count
  local first = open(i, n, $LIST, $count)
$named$positional
end
]]

-- $form[c] is the key of column c in the row; NO_KEY where it is none of the scalar columns. Strings
-- and numbers are told apart here. Its table is held in a local: a trace loads and checks one that
-- is an upvalue each time round.
local SCALARS = [==[
local function scalars_$form(row)
  local key_of, any = $form, false
  for c = 1, $count do
    local v = row[key_of[c]]
    if type(v) == "string" then
      local cell = cells.at[c - 1]
      cell.ptr, cell.len, cell.kind = v, #v, $STRING
      any = true
    elseif type(v) == "number" then
      local cell = cells.at[c - 1]
      cell.num, cell.kind = v, $NUMBER
      any = true
    elseif v == nil then
      cells.at[c - 1].kind = $ABSENT
    else
      put_rare(cells, c - 1, v)
      any = true
    end
  end
  return any
end
]==]

-- Functions of the program run before anything of the row is in a cell: they may change the row, or
-- let another row through this schema.
local CALL = [[
  do -- $column
    local ok, v = pcall(values[$index], row)
    if not ok then return nil, tostring(v), $index end
    anchor[$slot] = v
  end
]]

-- C wants the parts of values in the order of the columns. Computed values are read last, so a column
-- of nested values behind one waits for it.
local LATE = [[
  $read($index, anchor[$slot])
]]

local ENTRY = [[
local turn = 0 -- of the row that is read: one that lets another through finds it changed
local CROSSED = "a function or metatable of this row let another row through its schema"

local function begin(row)
  turn = turn + 1
  local mine = turn
  anchor.n, anchor.row = $computed, row
$calls  local read = row
  if has_index(row) then read = materialize(row, env.names, $count, anchor) end
  if turn ~= mine then return nil, CROSSED end
  top, level, anchor.n, anchor.row = $count, 0, $computed, read
  return read, mine
end

local function finish(mine)
$values  cells.used = top
  if turn ~= mine then return CROSSED end
end

--- Each fills the cells from a row of its form, and tells whether a declared key had a value.
local function read_named(row)
  local any = scalars_named(row)
$nested_named  return any
end

local function read_positional(row)
  local any = scalars_positional(row)
$nested_positional  return any
end

return begin, read_named, read_positional, finish
]]

-- ---- generating -----------------------------------------------------------------------------

local KINDS = {
  ABSENT = C.CHUTE_CELL_ABSENT, NUMBER = C.CHUTE_CELL_NUMBER, STRING = C.CHUTE_CELL_STRING,
  LIST = C.CHUTE_CELL_LIST, PAIRS = C.CHUTE_CELL_PAIRS, TYPED = C.CHUTE_CELL_TYPED,
}

local function expand(template, words)
  return (template:gsub("%$([%a_]+%d?)", function(word)
    local text = words[word]
    if text == nil then text = KINDS[word] end
    return text ~= nil and tostring(text) or nil
  end))
end

local function type_text(ctype)
  local size = tonumber(C.chute_type_print(ctype, nil, 0)) + 1
  local out = ffi.new("char[?]", size)
  C.chute_type_print(ctype, out, size)
  return ffi.string(out)
end

local Generator = {}
Generator.__index = Generator

function Generator:add(template, words)
  self.source[#self.source + 1] = expand(template, words)
end

--- The expression that reads a value of `ctype`: `put`, or a reader generated for it.
function Generator:reader(ctype)
  local form = form_of[tonumber(C.chute_type_kind(ctype))]
  if form == "child" then
    return self:reader(C.chute_type_child(ctype, 0))
  elseif form == "list" then
    return self:composite(LIST, ctype)
  elseif form == "map" then
    return self:composite(MAP, ctype)
  elseif form == "tuple" then
    return self:composite(TUPLE, ctype)
  elseif form == "nested" then
    return self:define(LIST, ctype, { child1 = self:composite(TUPLE, ctype) })
  elseif form == "json" then
    return self:json(ctype)
  elseif form == "any" then
    self.has_any = true
    return "read_any"
  end
  return "put"
end

function Generator:json(ctype)
  local readers, paths = self:children(ctype)
  local node = any_reader.node(paths, readers)
  self.has_any = true
  return node and self:define(any_reader.JSON, ctype, { node = node }) or "read_any"
end

function Generator:children(ctype)
  local children, names = {}, {}
  for k = 0, tonumber(C.chute_type_count(ctype)) - 1 do
    local name = C.chute_type_child_name(ctype, k)
    children[k + 1] = self:reader(C.chute_type_child(ctype, k))
    if name ~= nil then names[#names + 1] = ffi.string(name) end
  end
  return children, names
end

--- The two ways of a tuple's elements: by name, where any name is there, and by position.
local function tuple_words(children, names)
  local by_name, by_position, any = {}, {}, {}
  for k, child in ipairs(children) do
    by_position[k] = ("  %s(first + %d, v[%d])"):format(child, k - 1, k)
    if names[k] then
      by_name[k] = ("    %s(first + %d, v[%q])"):format(child, k - 1, names[k])
      any[k] = ("v[%q] ~= nil"):format(names[k])
    end
  end
  local named = ""
  if #names == #children and #names > 0 then
    named = ("  if %s then\n%s\n    return\n  end\n"):format(
      table.concat(any, " or "), table.concat(by_name, "\n"))
  end
  return named, table.concat(by_position, "\n")
end

local function quote_list(names)
  local quoted = {}
  for k, name in ipairs(names) do quoted[k] = ("%q"):format(name) end
  return "{" .. table.concat(quoted, ", ") .. "}"
end

--- Adds the reader of a type; the expression for it.
function Generator:define(template, ctype, words)
  self.readers = self.readers + 1
  words.id, words.type = self.readers, type_text(ctype):gsub("%c", " ")
  self:add(template, words)
  return ("R[%d]"):format(words.id)
end

function Generator:composite(template, ctype)
  local children, names = self:children(ctype)
  local words = { count = #children, child1 = children[1], child2 = children[2],
    names = quote_list(names) }
  words.named, words.positional = tuple_words(children, names)
  return self:define(template, ctype, words)
end

local function new_generator() return setmetatable({ source = {}, readers = 0 }, Generator) end

--- The source of a reader by itself, and the expression for it.
local function generate_typed(ctype)
  local generator = new_generator()
  local expression = generator:reader(ctype)
  return table.concat(generator.source, "\n"), expression
end

--- Functions that read up to GROUP nested columns each; the calls of them.
function Generator:nested(form, columns)
  local calls, id = {}, 0
  for first = 1, #columns, GROUP do
    id = id + 1
    local lines = { ("N.%s%d = function(row)\n  local any, v = false"):format(form, id) }
    for c = first, math.min(first + GROUP - 1, #columns) do
      local column = columns[c]
      local key = form == "named" and ("keys[%d]"):format(column.index)
        or tostring(column.index + 1)
      local read = column.slot and ("anchor[%d] = v"):format(column.slot)
        or ("%s(%d, v)"):format(column.reader, column.index)
      lines[#lines + 1] = ("  v = row[%s]\n  any = any or v ~= nil\n  %s")
        :format(key, read)
    end
    lines[#lines + 1] = "  return any\nend\n"
    self.source[#self.source + 1] = table.concat(lines, "\n")
    calls[id] = ("  any = N.%s%d(row) or any\n"):format(form, id)
  end
  return table.concat(calls)
end

--- The calls of value functions, and the reading of what they gave and of what waited for them.
local function computed_source(columns)
  local calls, reads = {}, {}
  for slot, column in ipairs(columns) do
    local words = { column = ("%q"):format(column.name):gsub("%c", " "), index = column.index, slot = slot,
      read = column.reader }
    if column.value then calls[#calls + 1] = expand(CALL, words) end
    reads[slot] = expand(LATE, words)
  end
  return table.concat(calls), table.concat(reads)
end

local function new_env(cells, columns, count)
  local env = {
    cells = cells, anchor = { n = 0 }, keys = {}, values = {}, names = {},
    named = {}, positional = {},
    cell = cell, null = values.null, Pairs = values.Pairs,
  }
  for _, column in ipairs(columns) do
    env.keys[column.index] = column.key
    env.values[column.index] = column.value
    if not column.value then env.names[#env.names + 1] = column.key end
  end
  function env.grow(first, n)
    cells.used = first
    if n > cell.MAX_LIST or C.chute_cells_reserve(cells, n) ~= 0 then
      error("chute: no memory for a value of " .. n .. " parts", 0)
    end
  end
  env.count = count
  return env
end

local function split(generator, columns, env)
  local nested, computed, late = {}, {}, false
  for _, column in ipairs(columns) do
    column.reader = generator:reader(column.ctype)
    local c, scalar = column.index + 1, not column.value and column.reader == "put"
    env.named[c], env.positional[c] = scalar and column.key or NO_KEY, scalar and c or 0
    if column.value then
      computed[#computed + 1] = column
      late = late or column.reader ~= "put"
    elseif not scalar then
      nested[#nested + 1] = column
      if late then
        computed[#computed + 1] = column
        column.slot = #computed
      end
    end
  end
  return nested, computed
end

--- Makes the readers of rows. `columns`: { name, key, index (from 0), ctype, value } each.
-- Returns four functions and their source:
-- begin(row) -> row to read and its turn, or nil, a complaint and maybe the column's index;
-- named(row), positional(row) -> whether a column had a value;
-- finish(turn) -> nothing, or a complaint.
function M.generate(cells, columns)
  local env = new_env(cells, columns, #columns)
  local generator = new_generator()
  any_reader.bind(env, generate_typed)
  generator:add(HEAD, { count = #columns })
  local nested, computed = split(generator, columns, env)
  if generator.has_any then table.insert(generator.source, 2, expand(any_reader.TEMPLATE, {})) end
  generator:add(SCALARS, { form = "named", count = #columns })
  generator:add(SCALARS, { form = "positional", count = #columns })
  local calls, reads = computed_source(computed)
  generator:add(ENTRY, {
    count = #columns, computed = #computed, calls = calls, values = reads,
    nested_named = generator:nested("named", nested),
    nested_positional = generator:nested("positional", nested),
  })
  local source = table.concat(generator.source, "\n")
  local chunk, problem = loadstring(source, "=chute.row")
  if not chunk then error({ schema = "a type too wide to read: " .. problem }, 0) end
  local begin, named, positional, finish = chunk(env)
  return { begin = begin, named = named, positional = positional, finish = finish,
    source = source, anchor = env.anchor, put = env.put }
end

return M
