-- The rock: made, packed, and installed elsewhere; used there with nothing of this tree.
local process = require "spec.support.process"
local shell = require "spec.support.shell"

-- The rocks that Debian's packages stand for: else luarocks would ask its server for them.
local PROVIDED = [[rocks_provided = { ["lua-cjson"] = "2.1.0-1", argparse = "0.7.1-1" } rocks_servers = {}]]

local LUAROCKS = "luarocks --lua-version=5.1 --tree="

-- The issue's example, printed as hex.
local ENCODE = [[
local chute = require "chute"
local schema = chute.schema {
  format = "RowBinaryWithNamesAndTypes", columns = { { "a", "Int64" }, { "b", "String" } },
}
local buffer = chute.buffer(schema)
buffer:add_row { 97, "a" }
print((buffer:tostring():gsub(".", function(c) return ("%02x"):format(c:byte()) end)))
]]
local ENCODED = "020161016205496e74363406537472696e67" .. "61" .. ("00"):rep(7) .. "0161\n"

local SCHEMA = [[return { table = "t", columns = { { "a", "Int64" } } }]]

describe("the rock #rock", function()
  local dir, source, outside

  local function write(name, text)
    local file = assert(io.open(dir .. "/" .. name, "wb"))
    file:write(text)
    file:close()
  end

  local function files_of(folder)
    return shell.must("find . | LC_ALL=C sort", { dir = folder })
  end

  local function luarocks(tree, command)
    return shell.must(LUAROCKS .. dir .. "/" .. tree .. " " .. command, { dir = source, env = outside })
  end

  -- What a program needs to use a tree that LuaJIT does not know by itself.
  local function using(tree)
    local at = dir .. "/" .. tree
    return {
      LUA_PATH = ("%s/share/lua/5.1/?.lua;%s/share/lua/5.1/?/init.lua;;"):format(at, at),
      LUA_CPATH = at .. "/lib/lua/5.1/?.so;;",
    }
  end

  setup(function()
    dir = process.make_dir()
    source = dir .. "/source"
    write("config.lua", PROVIDED)
    outside = { HOME = dir, LUAROCKS_CONFIG = dir .. "/config.lua", MAKEFLAGS = false }
    outside.LUA_PATH, outside.LUA_CPATH = false, false
    shell.must(("mkdir %s && cp -r Makefile bin core lua rocks %s"):format(source, source))
    write("encode.lua", ENCODE)
    write("schema.lua", SCHEMA)
    local before = files_of(source)
    luarocks("made", "make rocks/chute-scm-1.rockspec")
    assert.are.equal(before, files_of(source))
    luarocks("made", "pack chute")
    luarocks("installed", "install chute-scm-1.*.rock")
  end)

  teardown(function() process.remove_dir(dir) end)

  it("encodes a row under luajit", function()
    for _, tree in ipairs { "made", "installed" } do
      assert.are.equal(ENCODED, shell.must("luajit encode.lua", { dir = dir, env = using(tree) }))
    end
  end)

  it("encodes a row under the LuaJIT without OpenResty's additions", function()
    local luajit = shell.must("readlink -e .cache/luajit/usr/bin/luajit"):gsub("\n", "")
    assert.are.equal(ENCODED, shell.must(luajit .. " encode.lua", { dir = dir, env = using "installed" }))
  end)

  it("starts the command line, which finds its modules and LuaJIT", function()
    local code, text = shell.run("installed/bin/chute check schema.lua", { dir = dir, env = outside })
    assert.are.equal(0, code, text)
    code, text = shell.run("installed/bin/chute check nowhere.lua", { dir = dir, env = outside })
    assert.are.equal(2, code, text)
  end)

  it("installs a library that stays mapped and links no Lua", function()
    local text = shell.must("readelf -d lib/lua/5.1/libchute.so", { dir = dir .. "/installed" })
    assert.matches("NODELETE", text)
    assert.matches("NEEDED[^\n]*libcurl", text)
    assert.is_nil(text:match "NEEDED[^\n]*lua")
  end)

  it("says what is missing where a library is", function()
    local code, text = shell.run(LUAROCKS .. dir .. "/none make ZSTD_LIBDIR=" .. dir ..
      " rocks/chute-scm-1.rockspec", { dir = source, env = outside })
    assert.are_not.equal(0, code)
    assert.matches("ZSTD", text)
  end)

  it("has a release that differs from it in the version only", function()
    local code, text = shell.run("diff rocks/chute-scm-1.rockspec rocks/chute-0.1.0-1.rockspec")
    assert.are.equal(1, code)
    assert.are.equal('3c3\n< version = "scm-1"\n---\n> version = "0.1.0-1"\n', text)
    shell.must("luarocks lint rocks/chute-0.1.0-1.rockspec")
  end)
end)
