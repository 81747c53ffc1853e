-- Options: durations, sizes and compressions as people write them.
local lib = require "chute.lib"
local options = require "chute.options"
local C = lib.C

local function message(f, ...)
  local ok, problem = pcall(f, ...)
  return not ok and problem or nil
end

describe("options.duration", function()
  for given, ms in pairs { [0] = 0, [1] = 1000, [0.25] = 250, [0.0001] = 1, ["500ms"] = 500, ["1s"] = 1000,
    ["1.5s"] = 1500, ["5m"] = 300000, ["1h"] = 3600000, ["1d"] = 86400000, [" 2 s "] = 2000,
    ["0.1ms"] = 1, ["0.3s"] = 300 } do
    it(("takes %s as %d ms"):format(tostring(given), ms), function()
      assert.equal(ms, options.duration(given, "age"))
    end)
  end

  for _, given in ipairs { "", "1", "s", "-1s", "1 week", "1S", "1e3s", "infs", -1, 1 / 0, 0 / 0, 5e9, "60d",
    true, {} } do
    it("refuses " .. tostring(given), function()
      assert.matches('^chute: age must be seconds, or a duration such as "500ms", "1s" or "5m", not ',
        message(options.duration, given, "age"))
    end)
  end
end)

describe("options.bytes", function()
  for given, bytes in pairs { [1] = 1, [8388608] = 8388608, ["8MiB"] = 8388608, ["1.5KiB"] = 1536, ["2GiB"] = 2 ^ 31,
    ["8MB"] = 8e6, ["100B"] = 100, ["1 KB"] = 1000, ["1TiB"] = 2 ^ 40 } do
    it(("takes %s as %.0f"):format(tostring(given), bytes), function()
      assert.equal(bytes, options.bytes(given, "bytes"))
    end)
  end

  for _, given in ipairs { 0, -1, 1.5, 1 / 0, 0 / 0, 2 ^ 53, "8", "8mib", "MiB", "-1B", "1.3B", "", {}, false } do
    it("refuses " .. tostring(given), function()
      assert.matches('^chute: batch%.bytes must be a number of bytes, or a size such as "8MiB", not ',
        message(options.bytes, given, "batch.bytes"))
    end)
  end
end)

describe("options.compress", function()
  local cases = {
    none = { C.CHUTE_COMPRESS_NONE, 0 }, lz4 = { C.CHUTE_COMPRESS_LZ4, 0 }, ["lz4:9"] = { C.CHUTE_COMPRESS_LZ4, 9 },
    zstd = { C.CHUTE_COMPRESS_ZSTD, 0 }, ["zstd:3"] = { C.CHUTE_COMPRESS_ZSTD, 3 },
    ["block-lz4"] = { C.CHUTE_COMPRESS_BLOCK_LZ4, 0 }, ["block-zstd:12"] = { C.CHUTE_COMPRESS_BLOCK_ZSTD, 12 },
    ["block-none"] = { C.CHUTE_COMPRESS_BLOCK_NONE, 0 },
  }
  for given, wanted in pairs(cases) do
    it("takes " .. given, function()
      assert.same(wanted, { options.compress(given) })
    end)
  end

  it("refuses what is no compression, and names those there are", function()
    for _, given in ipairs { "", "gzip", "zstd:", "zstd:x", "zstd:-1", "ZSTD", "lz4:1:2", 3, true } do
      assert.matches("^chute: compress .* is none of lz4, zstd, none, block%-lz4, block%-zstd",
        message(options.compress, given))
    end
  end)

  it("refuses levels past the last", function()
    assert.equal('chute: compress "zstd:23": the levels of zstd end at 22', message(options.compress, "zstd:23"))
    assert.equal('chute: compress "lz4:13": the levels of lz4 end at 12', message(options.compress, "lz4:13"))
    assert.equal('chute: compress "none:1": the levels of none end at 0', message(options.compress, "none:1"))
  end)
end)
