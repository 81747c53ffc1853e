--- `chute spool`: what is in a spool, looked at and put in order.
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local spools = require "spec.support.spools"

local dead_url, files, lines, read, slots, write = spools.dead_url, spools.files, spools.lines, spools.read,
  spools.slots, spools.write

describe("chute spool #shell", function()
  local sp = spools.new()
  local open, leave, deliver, new_table = sp.open, sp.leave, sp.deliver, sp.new_table
  setup(sp.setup)
  teardown(sp.teardown)
  before_each(sp.before_each)
  after_each(sp.after_each)

  -- The exit code and what it printed.
  local function run(...)
    local words = { "chute", "spool", ... }
    for i, word in ipairs(words) do words[i] = "'" .. word:gsub("'", "'\\''") .. "'" end
    return shell.run(table.concat(words, " "), { dir = sp.root })
  end

  local function refused_batch()
    local name = new_table() .. "_later"
    local s = open { url = server.shared.chdb().url, table = name, settings = { log_comment = "x" } }
    for i = 1, 10 do assert(s:insert { i .. "000000000000000", "row " .. i }) end
    assert.is_true(s:drain(20))
    assert.is_true(s:close())
    return name, slots(sp.root)[1]:match "^spool/(.*)$"
  end

  it("which lists, shows and exports what is there", function()
    local name, path = refused_batch()
    local live = open { url = dead_url(), table = name }
    assert(live:insert { 1, "x" })
    local code, text = run("ls", "spool")
    assert.equal(0, code, text)
    assert.matches("dead +attempted +10 +%d+ +20%d%d%-.* " .. path:gsub("%p", "%%%0") .. " +.*UNKNOWN_TABLE", text)
    assert.matches("live +open +1 ", text)
    live:close(0)
    assert.matches("left +%a+ +1 ", select(2, run("ls", "spool")))
    code, text = run("show", "spool", path, "--rows", "2")
    assert.equal(0, code, text)
    assert.matches("setting   log_comment = x", text)
    assert.matches("column    a UInt64", text)
    assert.matches('{"a":1000000000000000,"b":"row 1"}\n{"a":2000000000000000,"b":"row 2"}\n$', text)
    code, text = run("export", "spool", path)
    assert.equal(0, code, text)
    assert.equal(10, #lines(text))
    assert.equal('{"a":"10000000000000000","b":"row 10"}', lines(text)[10])
    code, text = run("export", "spool", path, "--format", "rowbinary")
    assert.equal(0, code)
    assert.equal(2 + 2 + 2 + 7 + 7 - 1 + 9 * 8 + 8 + 10 * 1 + 9 * 5 + 6, #text)
    assert.equal(0, (run("verify", "spool")))
  end)

  it("which sends again, and removes", function()
    local name, path = refused_batch()
    sp.db:query(("CREATE TABLE %s (a UInt64, b String) ENGINE = Memory"):format(name))
    local code, text = run("retry", "spool", path)
    assert.equal(0, code, text)
    assert.same({}, files(sp.root .. "/spool/dead"))
    assert.equal(10, deliver(name).acked)
    refused_batch()
    code, text = run("drop", "spool", "--all")
    assert.same({ 0, "1 removed\n" }, { code, text })
    assert.same({}, files(sp.root .. "/spool"))
  end)

  it("which finds what is damaged", function()
    leave("t", 1, 10)
    local path = sp.root .. "/" .. slots(sp.root)[1]
    local bytes = read(path)
    local at = assert(bytes:find("\3row", 12288, true))
    write(path, bytes:sub(1, at) .. "R" .. bytes:sub(at + 2))
    local code, text = run("verify", "spool")
    assert.equal(1, code)
    assert.matches("left +damaged +0 ", text)
  end)

  it("which refuses what it cannot do, in a line", function()
    local _, path = refused_batch()
    for _, words in ipairs { { "ls", "nowhere" }, { "show", "spool", "dead/x.slot" },
      { "show", "spool", "../spool/" .. path }, { "drop", "spool" }, { "drop", "spool", "stream-1/x" },
      { "retry", "spool", "bad/x" }, { "drop", "spool", "--all", path }, { "export", "spool", "/etc/passwd" } } do
      local code, text = run(unpack(words))
      assert.equal(2, code, text)
      assert.matches("^chute: [^\n]+\n", text)
    end
    assert.equal(2, #files(sp.root .. "/spool"))
  end)
end)
