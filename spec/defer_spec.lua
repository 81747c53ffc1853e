-- The helper that cleans up behind tests.
local defer = require "spec.support.defer"

describe("what is deferred", function()
  randomize(false) -- each test looks at what the one before left

  local log = {}

  it("is run at the end of its test", function()
    for i = 1, 3 do defer(function() log[#log + 1] = i end) end
    assert.same({}, log)
  end)

  it("was run, the last first, and is not run again", function()
    defer(function() log[#log + 1] = "next" end)
    assert.same({ 3, 2, 1 }, log)
  end)

  it("of each test is its own", function() assert.same({ 3, 2, 1, "next" }, log) end)
end)
