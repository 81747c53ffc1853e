-- The fuzzers (spec/fuzz), each for a moment: every input of its corpus, and some new ones. The long
-- form is `make fuzz`.

local process = require "spec.support.process"
local shell = require "spec.support.shell"

local RUNS = 10000
local FUZZERS = { "address", "date", "decimal", "decoder", "enum", "json", "type", "untag" }

describe("the fuzzer of", function()
  local dir
  setup(function() dir = process.make_dir() end)
  teardown(function() process.remove_dir(dir) end)

  it("nothing is left out here", function()
    assert.equal(table.concat(FUZZERS, "\n") .. "\n",
      (shell.must "for f in spec/fuzz/*_fuzz.c; do basename $f _fuzz.c; done; true"))
    assert.equal(table.concat(FUZZERS, "\n") .. "\n", (shell.must "ls spec/corpus"))
  end)

  for _, name in ipairs(FUZZERS) do
    it(name .. " finds no fault", function()
      local code, text = shell.run(("spec/fuzz/run %s %d"):format(name, RUNS),
        { env = { FUZZ_DIR = dir, LD_PRELOAD = false, ASAN_OPTIONS = false } })
      assert.equal(0, code, text:sub(-4000))
      assert.is_true(tonumber(text:match "number_of_executed_units: (%d+)") >= RUNS)
    end)
  end
end)
