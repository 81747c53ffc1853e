-- docs/values.md against ClickHouse 26.5 and the encoders: every type has a row, every example holds.

local chute = require "chute"
local judge = require "spec.support.judge"

local DOC = "docs/values.md"

-- ---- reading the page -----------------------------------------------------------------------------

local function cells_of(line)
  local cells = {}
  for cell in line:match "^|(.*)|%s*$":gmatch "[^|]+" do
    table.insert(cells, cell:match "^%s*(.-)%s*$")
  end
  return cells
end

-- The texts between backquotes, with what follows each up to the next.
local function quoted(text)
  local list = {}
  for code, rest in text:gmatch "`([^`]*)`([^`]*)" do table.insert(list, { code, rest }) end
  return list
end

local function read_arrivals(cell, types)
  local arrivals, list = {}, quoted(cell)
  for i = 1, #list, 2 do
    assert(list[i][2]:find "^%s*→%s*$" and list[i + 1], "no pair of value and text in the row of " .. types)
    table.insert(arrivals, { list[i][1], list[i + 1][1] })
  end
  return arrivals
end

local function read_refusals(cell)
  local refusals = {}
  for _, pair in ipairs(quoted(cell)) do
    table.insert(refusals, { pair[1], pair[2]:match "^:%s*(.-)%s*;?%s*$" })
  end
  return refusals
end

-- The rows of the tables of types, and the other names.
local function read_page()
  local rows, names = {}, {}
  for line in io.lines(DOC) do
    local head = line:match "^| `"
    local cells = head and cells_of(line)
    if cells and #cells == 5 and cells[2]:find "^`" then
      local row = { types = {}, as = cells[2]:match "^`(.*)`$", arrivals = read_arrivals(cells[4], cells[1]),
        refusals = read_refusals(cells[5]) }
      for _, pair in ipairs(quoted(cells[1])) do table.insert(row.types, pair[1]) end
      table.insert(rows, row)
    elseif cells then
      for name, ctype in line:gmatch "`([^`]+)` | (%w+)" do names[name] = ctype end
    end
  end
  return rows, names
end

local function value_of(code)
  local env = { null = chute.null, typed = chute.typed, pairs = chute.pairs, list = chute.list }
  return setfenv(assert(loadstring("return " .. code)), env)()
end

-- ---- the page -------------------------------------------------------------------------------------

describe(DOC, function()
  local rows, names = read_page()
  local court
  setup(function()
    court = judge.new "26.5"
    local params = { flatten_nested = 0 }
    for name, value in pairs(court.params) do params[name] = value end
    court.params = params
  end)
  teardown(function() court:drop() end)

  it("is read", function()
    assert.is_true(#rows > 35)
    local examples = 0
    for _, row in ipairs(rows) do
      examples = examples + #row.arrivals + #row.refusals
      assert.is_true(#row.arrivals > 0 or row.as == "Nullable(Nothing)", row.as)
      assert.is_true(#row.refusals > 0, row.as)
    end
    assert.is_true(examples > 120)
  end)

  it("has a row for every type of ClickHouse, and no other", function()
    local documented, known = {}, {}
    for _, row in ipairs(rows) do
      for _, name in ipairs(row.types) do documented[name] = true end
    end
    for _, line in ipairs(court:lines "SELECT name, alias_to FROM system.data_type_families") do
      local name, alias = line:match "^(.-)\t(.*)$"
      if alias == "" then
        known[name] = true
        assert.is_true(documented[name] == true, name .. " has no row")
      else
        known[name:upper()] = true
        assert.equal(alias, names[name:upper()], name)
      end
    end
    for name in pairs(documented) do assert.is_true(known[name] == true, name .. " is no type") end
    for name in pairs(names) do assert.is_true(known[name] == true, name .. " is no name") end
  end)

  it("has names that stand for their types", function()
    local arguments, exact = { FixedString = "(3)", Enum = "('a')" }, {}
    for _, name in ipairs(court:lines "SELECT name FROM system.data_type_families WHERE NOT case_insensitive") do
      exact[name] = true
    end
    for name, ctype in pairs(names) do
      local tail = arguments[ctype] or ""
      local function canonical(text) return chute.schema { columns = { { "v", text } } }.columns[1].type end
      assert.equal(canonical(ctype .. tail), canonical(name .. tail), name)
      if not exact[name] then assert.equal(canonical(ctype .. tail), canonical(name:lower() .. tail), name) end
    end
  end)

  for _, row in ipairs(rows) do
    it("tells what arrives as " .. row.as, function()
      if #row.arrivals == 0 then return end
      local buf = chute.buffer { format = "RowBinary", columns = { { "n", "UInt8" }, { "v", row.as } } }
      local wanted = {}
      for n, pair in ipairs(row.arrivals) do
        local ok, err = buf:add_row { n, value_of(pair[1]) }
        assert(ok, pair[1] .. ": " .. tostring(err))
        wanted[n] = pair[2]
      end
      local name = court:insert(buf)
      assert.same(wanted, court:lines(("SELECT v FROM %s ORDER BY n SETTINGS "
        .. "output_format_tsv_crlf_end_of_line = 0, output_format_decimal_trailing_zeros = 0"):format(name)))
    end)

    it("tells what is refused as " .. row.as, function()
      local buf = chute.buffer { format = "RowBinary", columns = { { "v", row.as } } }
      for _, pair in ipairs(row.refusals) do
        local ok, err = buf:add_row { value_of(pair[1]) }
        assert.is_nil(ok, pair[1] .. " is accepted")
        assert.is_truthy(tostring(err):find(pair[2], 1, true), tostring(err) .. "\nis not: " .. pair[2])
      end
      assert.equal(0, buf.rows)
    end)
  end

  it("tells of a type without an encoder when the schema is compiled", function()
    local ok, err = pcall(chute.schema, { columns = { { "v", "Object('json')" } } })
    assert.is_false(ok)
    assert.matches("column 'v': Object%('json'%) has no encoder", err)
  end)

  it("tells what an error says", function()
    local buf = chute.buffer { columns = { { "props", "Map(String, Array(UInt8))" } } }
    for _ = 1, 6 do assert(buf:add_row { {} }) end
    local _, err = buf:add_row { { k = { 1, 2, 300 } } }
    local text = tostring(err):gsub("%['k'%]", '["k"]')
    local file = assert(io.open(DOC))
    local page = file:read "*a"
    file:close()
    assert.is_truthy(page:find("`" .. text .. "`", 1, true) or page:find("`" .. tostring(err) .. "`", 1, true), text)
    assert.same({ "row", 7, "props" }, { err.kind, err.row, err.column })
  end)
end)
