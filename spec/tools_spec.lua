-- What builds, sets up and tests: the Makefile, .ci/ and spec/run.
local process = require "spec.support.process"
local shell = require "spec.support.shell"

describe("tools", function()
  local dir, here

  local function write(name, text)
    local file = assert(io.open(dir .. "/" .. name, "wb"))
    file:write(text)
    file:close()
  end

  -- A program that stands in for another of its name, first in PATH.
  local function stand_in(name, script)
    write("bin/" .. name, "#!/bin/sh\n" .. script .. "\n")
    shell.must("chmod +x bin/" .. name, { dir = dir })
  end

  local function with_stand_ins(more)
    local env = { PATH = dir .. "/bin:" .. os.getenv "PATH", MAKEFLAGS = false }
    for name, value in pairs(more or {}) do env[name] = value end
    return env
  end

  before_each(function()
    here = shell.must("pwd"):gsub("\n", "")
    dir = process.make_dir()
    shell.must("mkdir bin", { dir = dir })
  end)

  after_each(function() process.remove_dir(dir) end)

  describe("make", function()
    it("env lets a checkout be used from anywhere", function()
      local env = { LUA_PATH = false, LUA_CPATH = false, MAKEFLAGS = false, HERE = here }
      local text = shell.must([[
        eval "$(make -s -C "$HERE" env)"
        luajit -e 'require "chute" print "found"'
        command -v chute]], { dir = dir, env = env })
      assert.are.equal("found\n" .. here .. "/bin/chute\n", text)
    end)

    it("install puts all of it under DESTDIR and PREFIX #rock", function()
      local env = { LUA_PATH = false, LUA_CPATH = false, MAKEFLAGS = false, ROOT = dir .. "/root" }
      shell.must("make -s install DESTDIR=$ROOT PREFIX=/opt", { env = env, timeout = 300 })
      env.LUA_PATH = dir .. "/root/opt/share/lua/5.1/?.lua;" .. dir .. "/root/opt/share/lua/5.1/?/init.lua;;"
      env.LUA_CPATH = dir .. "/root/opt/lib/lua/5.1/?.so;;"
      write("schema.lua", [[return { table = "t", columns = { { "a", "Int64" } } }]])
      shell.must("root/opt/bin/chute check schema.lua", { dir = dir, env = env })
    end)

    it("help names every target of use", function()
      local text = shell.must("make -s help", { env = { MAKEFLAGS = false } })
      for name in ("deps deps-test build demo test bench check fmt install clean env"):gmatch "%S+" do
        assert.matches("\n" .. name:gsub("%-", "%%-") .. ": %S", "\n" .. text)
      end
    end)
  end)

  describe(".ci/debian", function()
    it("runs nothing where nothing is missing", function()
      stand_in("apt-get", "echo apt-get was run")
      local text = shell.must(".ci/debian install coreutils sh:no-such-package", { env = with_stand_ins() })
      assert.are.equal("", text)
    end)

    it("names what is missing where it cannot install it", function()
      stand_in("id", "echo 1000")
      stand_in("sudo", "exit 1")
      stand_in("apt-get", "echo apt-get was run")
      local code, text = shell.run(".ci/debian install coreutils chute-none-2 no-such-command:chute-none-1",
        { env = with_stand_ins() })
      assert.are.equal(1, code)
      assert.are.equal("chute: packages are missing: sudo apt-get install --no-install-recommends " ..
        "chute-none-1 chute-none-2\n", text)
    end)
  end)

  describe(".ci/npm", function()
    local SHA = "sha512-$(openssl dgst -sha512 -binary one.tgz | base64 -w 0)"

    before_each(function()
      write("text", "hello\n")
      shell.must("mkdir package && mv text package && tar -czf one.tgz package && rm -r package", { dir = dir })
      stand_in("npm", 'while [ "$1" != --pack-destination ]; do shift; done; cp one.tgz "$2"')
    end)

    local function fetch(sha)
      return shell.run(('%s/.ci/npm one@1.0.0 "%s" cache/one'):format(here, sha), { dir = dir, env = with_stand_ins() })
    end

    it("replaces the folder by what the package holds", function()
      shell.must("mkdir -p cache/one && touch cache/one/old", { dir = dir })
      assert.are.equal(0, (fetch(SHA)))
      assert.are.equal("cache\ncache/one\ncache/one/text\n", shell.must("find cache | sort", { dir = dir }))
    end)

    it("refuses a package that is not the expected one, and leaves the folder as it was", function()
      shell.must("mkdir -p cache/one && touch cache/one/old", { dir = dir })
      local code, text = fetch "sha512-AAAA"
      assert.are.equal(1, code)
      assert.matches("one@1.0.0 is not what was expected", text, 1, true)
      assert.are.equal("cache\ncache/one\ncache/one/old\n", shell.must("find cache | sort", { dir = dir }))
    end)

    it("fails where npm does", function()
      stand_in("npm", "exit 1")
      local code, text = fetch(SHA)
      assert.are.equal(1, code)
      assert.matches("npm could not download one@1.0.0", text, 1, true)
      assert.are.equal("cache\n", shell.must("find cache", { dir = dir }))
    end)
  end)

  describe("spec/run", function()
    local GOOD = 'describe("a", function() it("b", function() end) it("c", function() end) end)'

    local function total_of(...)
      local code, text = shell.run(here .. "/spec/run " .. table.concat({ ... }, " "), { dir = dir })
      return text:match "([^\n]*)\n$", code, text
    end

    it("adds up C and Lua tests", function()
      write("good_spec.lua", GOOD)
      stand_in("c_test", 'echo "core/c: 40 passed, 0 failed"')
      local total, code = total_of("good_spec.lua", "bin/c_test")
      assert.are.equal("42 passed, 0 failed", total)
      assert.are.equal(0, code)
      assert.are.equal("42 passed, 0 failed\n", shell.must("cat build/spec/total", { dir = dir }))
    end)

    it("counts failures, errors and skipped tests, and shows what went wrong", function()
      write("bad_spec.lua", [[describe("a", function()
        it("fails", function() assert.are.equal(1, 2) end)
        it("throws", function() error "oh no" end)
        it("passes", function() end)
        pending("waits")
      end)]])
      stand_in("c_test", 'echo "core/c: 3 passed, 2 failed"; exit 1')
      local total, code, text = total_of("--shuffle", "bad_spec.lua", "bin/c_test")
      assert.are.equal("4 passed, 4 failed, 1 skipped", total)
      assert.are.equal(1, code)
      assert.matches("oh no", text)
    end)

    it("counts a file that does not load, crashes, leaves or tests nothing as a failure", function()
      local bad = {
        "syntax error (", "", "os.exit(0)",
        'local ffi = require "ffi" it("a", function() ffi.cdef "void abort(void);" ffi.C.abort() end)',
      }
      for _, text in ipairs(bad) do
        write("bad_spec.lua", text)
        write("good_spec.lua", GOOD)
        local total, code = total_of("bad_spec.lua", "good_spec.lua")
        assert.are.equal("2 passed, 1 failed", total)
        assert.are.equal(1, code)
      end
    end)

    it("ends a test that hangs", function()
      write("bad_spec.lua", 'it("a", function() while true do end end)')
      local code, text = shell.run(here .. "/spec/run bad_spec.lua", { dir = dir, env = { CHUTE_TEST_SECONDS = "1" } })
      assert.are.equal(1, code)
      assert.matches("timed out", text)
    end)

    it("fails a C test that breaks off, or that ends badly after passing", function()
      for _, script in ipairs { "kill -SEGV $$", "exit 0", 'echo "core/c: 0 passed, 0 failed"' } do
        stand_in("c_test", script)
        assert.are.equal("0 passed, 1 failed", (total_of "bin/c_test"))
      end
      stand_in("c_test", 'echo "core/c: 1 passed, 0 failed"; exit 3')
      assert.are.equal("1 passed, 1 failed", (total_of "bin/c_test"))
    end)

    it("fails without a test", function()
      local total, code = total_of()
      assert.are.equal("0 passed, 0 failed", total)
      assert.are.equal(1, code)
    end)
  end)
end)
