-- Connections: whom they trust, as whom they come, over which way, and how long they wait.
local chute = require "chute"
local faults = require "spec.support.faults"
local http = require "spec.support.http"
local server = require "spec.support.server"

local SECRET = "s3cret-Word"

local function thrown(f, ...)
  local ok, problem = pcall(f, ...)
  return not ok and tostring(problem) or nil
end

describe("a connection", function()
  local p, chdb

  setup(function()
    chdb = server.shared.chdb()
    p = faults.proxy { upstream = chdb, tls = true, receive_buffer = 4096 }
  end)
  teardown(function() p:stop() end)
  before_each(function()
    p:clear()
    p:reset()
    p:await_most("open", 0)
    p:forget()
  end)

  local function connect(url, opts)
    local conn = chute.connect(url, opts)
    finally(function() conn:close() end)
    return conn
  end

  local function ask(url, opts)
    local result, err = connect(url, opts):query "SELECT 1 FORMAT TSV"
    return result and result.body, err
  end

  local function last()
    local all = p:requests()
    return all[#all]
  end

  describe("over TLS", function()
    local function refused(url, opts)
      local body, err = ask(url, opts)
      assert.is_nil(body)
      assert.equal("network", err.kind)
      assert.is_false(err.retryable)
      assert.is_false(err.uncertain)
      return err.message
    end

    it("trusts the authority it is given", function()
      assert.equal("1\n", ask(p.tls_url, { tls = { ca = p.ca } }))
      assert.equal("good", last().listener)
    end)

    it("refuses an unknown authority, a wrong name, an expired and a self-signed certificate", function()
      assert.matches("certificate", refused(p.tls_url))
      for _, name in ipairs { "wrong_name", "expired", "self_signed" } do
        assert.matches("SSL", refused(p.tls[name].url, { tls = { ca = p.ca } }))
      end
      assert.same({}, p:requests())
    end)

    it("takes any certificate where told to", function()
      for _, name in ipairs { "good", "wrong_name", "expired", "self_signed" } do
        assert.equal("1\n", ask(p.tls[name].url, { tls = { verify = false } }), name)
      end
    end)

    it("wants the certificate of the name that it is told", function()
      local tls = { ca = p.ca, server_name = "elsewhere.test" }
      assert.equal("1\n", ask(p.tls.wrong_name.url, { tls = tls }))
      assert.matches("^elsewhere%.test:", last().headers.host)
      assert.matches("SSL", refused(p.tls.good.url, { tls = tls }))
    end)

    it("shows its own certificate", function()
      local tls = { ca = p.ca, cert = p.client.cert, key = p.client.key }
      assert.equal("1\n", ask(p.tls.mutual.url, { tls = tls }))
      assert.is_nil((ask(p.tls.mutual.url, { tls = { ca = p.ca } })))
      assert.is_nil((ask(p.tls.mutual.url, { tls = { ca = p.ca, cert = p.stranger.cert, key = p.stranger.key } })))
    end)
  end)

  describe("says who it is", function()
    it("in headers of ClickHouse's", function()
      ask(p.url, { user = "bob", password = SECRET })
      assert.same({ "bob", SECRET, nil }, { last().headers["x-clickhouse-user"], last().headers["x-clickhouse-key"],
        last().headers.authorization })
    end)

    it("by Basic", function()
      ask(p.url, { user = "bob", password = SECRET, auth = "basic" })
      assert.equal("Basic Ym9iOnMzY3JldC1Xb3Jk", last().headers.authorization)
      assert.is_nil(last().headers["x-clickhouse-user"])
    end)

    it("by a bearer's token", function()
      for _, auth in ipairs { "bearer", false } do
        ask(p.url, { token = "abc.def", auth = auth or nil })
        assert.equal("Bearer abc.def", last().headers.authorization)
        assert.is_nil(last().headers["x-clickhouse-user"])
      end
    end)

    it("with roles, a database and settings, which a statement's own go before", function()
      local conn = connect(p.url .. "/?max_threads=2&max_block_size=7", { roles = { "one", "two & three" },
        database = "system", settings = { max_threads = 3, log_queries = false } })
      conn:query("SELECT 1", { settings = { max_block_size = 9 } })
      local target = last().target
      assert.matches("&role=one&role=two%%20%%26%%20three", target)
      assert.same({ "system", "3", "9", "0" }, { last().params.database, last().params.max_threads,
        last().params.max_block_size, last().params.log_queries })
      local _, count = target:gsub("max_threads=", "")
      assert.equal(1, count)
    end)
  end)

  it("shows a secret nowhere", function()
    local guarded = server.chdb { user = "bob", password = "another" }
    local shown = {}
    local function show(...)
      for i = 1, select("#", ...) do
        local value = select(i, ...)
        shown[#shown + 1] = tostring(value)
        for _, field in pairs(type(value) == "table" and value or {}) do shown[#shown + 1] = tostring(field) end
      end
    end
    local dead = http.free_port()
    local ways = {
      { "http://127.0.0.1:" .. guarded.port, { user = "bob", password = SECRET } },
      { "http://127.0.0.1:" .. guarded.port, { user = "bob", password = SECRET, auth = "basic" } },
      { "http://127.0.0.1:" .. guarded.port, { token = SECRET } },
      { ("http://bob:%s@127.0.0.1:%d"):format(SECRET, guarded.port) },
      { ("http://bob:%s@127.0.0.1:%d"):format(SECRET, dead) },
      { p.tls_url:gsub("//", "//bob:" .. SECRET .. "@"), nil },
      { chdb.url, { proxy = ("http://bob:%s@127.0.0.1:%d"):format(SECRET, dead) } },
    }
    for _, way in ipairs(ways) do
      local conn = connect(way[1], type(way[2]) == "table" and way[2] or nil)
      local result, err = conn:query "SELECT 1"
      assert.is_nil(result, way[1])
      show(conn, conn.pool, err, select(2, conn:ping()))
    end
    guarded:stop()
    for _, bad in ipairs {
      { "http://bob:" .. SECRET .. "@host:99999" }, { "http://bob:" .. SECRET .. "%zz@host" },
      { "http://host/?password=" .. SECRET }, { "nowhere://bob:" .. SECRET .. "@host" },
      { "http://h", { proxy = "http://bob:" .. SECRET .. "@h:x" } }, { "http://h", { token = SECRET .. " x" } },
      { "http://h", { token = SECRET, user = "u" } }, { "http://h", { user = "u", password = SECRET .. "\n" } },
    } do
      local problem = thrown(chute.connect, bad[1], bad[2])
      assert.is_string(problem)
      show(problem)
    end
    for _, text in ipairs(shown) do assert.is_nil(text:match(".*" .. SECRET:gsub("%p", "%%%0") .. ".*")) end
  end)

  describe("goes by", function()
    it("a unix socket", function()
      assert.equal("1\n", ask("http://nowhere.test", { unix = p.socket }))
      assert.equal("unix", last().listener)
      local body, err = ask("http://nowhere.test", { unix = p.socket .. ".gone" })
      assert.is_nil(body)
      assert.same({ "network", true, false }, { err.kind, err.retryable, err.uncertain })
    end)

    it("a proxy", function()
      assert.equal("1\n", ask(chdb.url, { proxy = p.url }))
      assert.equal(1, #p:requests())
    end)
  end)

  describe("waits", function()
    it("for a connection, so long", function()
      p:blackhole()
      local body, err = ask(p.url, { connect_timeout = "200ms" })
      p:up()
      assert.is_nil(body)
      assert.same({ "timeout", true, false }, { err.kind, err.retryable, err.uncertain })
    end)

    it("for room to send, so long, however long the answer may take", function()
      p:rule { kind = "insert", at = "body", bytes = 100000, action = "hold" }
      local conn = connect(p.url, { stall_timeout = "500ms", timeout = "60s" })
      local result, err = conn:query("INSERT INTO FUNCTION null('a String') FORMAT RowBinary",
        { body = ("x"):rep(20000000) })
      assert.is_nil(result)
      assert.same({ "timeout", true, true }, { err.kind, err.retryable, err.uncertain })
      assert.matches("no byte could be sent for 0%.5 s", err.message)
      p:clear()
      assert.equal("1\n", assert(conn:query "SELECT sleep(1.5) + 1 FORMAT TSV").body)
    end)

    it("for an answer, so long", function()
      p:rule { at = "answer", action = "hold" }
      local body, err = ask(p.url, { timeout = "300ms" })
      p:release()
      assert.is_nil(body)
      assert.same({ "timeout", true, true }, { err.kind, err.retryable, err.uncertain })
    end)
  end)

  describe("sends a large body at once", function()
    for _, odd in ipairs { "twice", "late", "never" } do
      it("whatever 100-continue would be like: " .. odd, function()
        p:rule { expect = odd, kind = "insert" }
        local started = os.time()
        assert(connect(p.url):query("INSERT INTO FUNCTION null('a String') FORMAT TSV", { body = ("x"):rep(3000000) }))
        assert.is_nil(last().headers.expect)
        assert.equal("3000000", last().headers["content-length"])
        assert.is_true(os.time() - started < 5)
      end)
    end
  end)

  it("throws wrong options at the caller's line", function()
    for want, opts in pairs {
      ['auth "?magic"? is none of headers, basic, bearer'] = { auth = "magic" },
      ['a token goes with auth "bearer", and only with it'] = { auth = "bearer" },
      ["a token stands alone"] = { token = "t", user = "u" },
      ["tls has no option nosuch"] = { tls = { nosuch = 1 } },
      ["tls%.verify must be true or false"] = { tls = { verify = "no" } },
      ["tls%.ca: cannot read /no/such/file: No such file"] = { tls = { ca = "/no/such/file" } },
      ["roles must be a list"] = { roles = "one" },
      ["the proxy is no URL"] = { proxy = "http://a b:x" },
      ["stall_timeout must be seconds"] = { stall_timeout = "soon" },
      ["settings must be a table"] = { settings = "a=1" },
    } do
      assert.matches("access_spec.lua:%d+: chute: " .. want,
        thrown(function() return (chute.connect("http://h", opts)) end))
    end
  end)
end)

describe("a kept connection", function()
  it("is used again only within the server's limit, less a margin", function()
    local chdb = server.shared.chdb()
    for seconds, connections in pairs { [30] = 1, [2] = 2 } do
      local p = faults.proxy { upstream = chdb, keep_alive = seconds }
      local conn = chute.connect(p.url)
      for _ = 1, 3 do assert(conn:query "SELECT 1") end
      local counters = p:counters()
      conn:close()
      p:stop()
      assert.equal(connections, counters.connections, seconds .. " s")
    end
  end)
end)
