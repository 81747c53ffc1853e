-- The declarations that LuaJIT reads (chute.cdef, made from core/chute.h), against the C compiler's
-- view of the header itself. What is compared is found in the header: nothing can be forgotten.

local lib = require "chute.lib"
local process = require "spec.support.process"
local shell = require "spec.support.shell"
local C, ffi = lib.C, lib.ffi

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

local region = assert(read "core/chute.h":match "/%* cdef begin %*/\n(.-)/%* cdef end %*/")
local plain = region:gsub("/%*.-%*/", "")

-- { name, fields = { name, … } } of each struct with a body; an unnamed union's fields are its own.
local function find_structs()
  local structs = {}
  for name, body in plain:gmatch "struct%s+([%w_]+)%s*(%b{})" do
    local struct = { name = name, fields = {} }
    for field in body:gsub("%b[]", ""):gmatch "([%w_]+)%s*;" do
      table.insert(struct.fields, field)
    end
    table.insert(structs, struct)
  end
  return structs
end

local function find_constants()
  local constants = {}
  for body in plain:gmatch "enum%s*(%b{})" do
    for name in body:gmatch "CHUTE_[%u%d_]+" do table.insert(constants, name) end
  end
  return constants
end

local function find_functions()
  local functions = {}
  for name in plain:gmatch "([%w_]+)%(" do table.insert(functions, name) end
  return functions
end

local structs, constants, functions = find_structs(), find_constants(), find_functions()

-- A C program that prints "sizeof S 16", "offsetof S.f 8" and "CONSTANT -1" lines.
local function write_program()
  local lines = { '#include "chute.h"', "#include <stdio.h>", "int main(void) {" }
  local function print_value(label, expression)
    table.insert(lines, ('  printf("%s %%lld\\n", (long long)%s);'):format(label, expression))
  end
  for _, struct in ipairs(structs) do
    local name = struct.name
    print_value("sizeof " .. name, ("sizeof(struct %s)"):format(name))
    for _, field in ipairs(struct.fields) do
      print_value(("offsetof %s.%s"):format(name, field), ("offsetof(struct %s, %s)"):format(name, field))
    end
  end
  for _, name in ipairs(constants) do print_value(name, name) end
  table.insert(lines, "}\n")
  return table.concat(lines, "\n")
end

-- label → number, as the C compiler has it.
local function ask_compiler()
  local dir = process.make_dir()
  local file = assert(io.open(dir .. "/layout.c", "w"))
  file:write(write_program())
  file:close()
  local ok, text = pcall(shell.must, ("cc -std=gnu11 -Wall -Werror -Icore %s/layout.c -o %s/layout && %s/layout")
    :format(dir, dir, dir))
  process.remove_dir(dir)
  assert(ok, text)
  local layout = {}
  for label, value in text:gmatch "([^\n]+) (%-?%d+)\n" do layout[label] = tonumber(value) end
  return layout
end

describe("the declarations for LuaJIT", function()
  local layout

  setup(function() layout = ask_compiler() end)

  it("are the header's region, word for word", function()
    assert.is_truthy(require "chute.cdef":find(region, 1, true))
    assert.is_nil(region:find("\n#"))
  end)

  it("give every struct the compiler's layout", function()
    local _, bodies = plain:gsub("struct%s+[%w_]+%s*{", "")
    assert.equal(bodies, #structs)
    assert.is_true(bodies >= 10)
    for _, struct in ipairs(structs) do
      local name = struct.name
      assert.equal(layout["sizeof " .. name], ffi.sizeof("struct " .. name), name)
      for _, field in ipairs(struct.fields) do
        local place = name .. "." .. field
        assert.equal(layout["offsetof " .. place], ffi.offsetof("struct " .. name, field), place)
      end
    end
  end)

  it("give every constant the compiler's value", function()
    assert.is_true(#constants > 80)
    for _, name in ipairs(constants) do assert.equal(layout[name], tonumber(C[name]), name) end
  end)

  it("name functions that the library has", function()
    assert.is_true(#functions > 40)
    for _, name in ipairs(functions) do
      assert.is_true(pcall(function() return C[name] end), name)
    end
  end)
end)
