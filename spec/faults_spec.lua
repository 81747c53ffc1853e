-- The fault proxy itself: what it lets through arrives as it was, and each fault is the one ordered. Its
-- answers are faults_answers_spec's.

local curl = require "spec.support.curl"
local fault_bench = require "spec.support.fault_bench"
local faults = require "spec.support.faults"
local http = require "spec.support.http"
local names = require "spec.support.names"
local process = require "spec.support.process"
local server = require "spec.support.server"

local ONE_ROW, numbers, sha256 = fault_bench.ONE_ROW, fault_bench.numbers, fault_bench.sha256

describe("faultproxy", function()
  local bench, p, path, chdb

  setup(function()
    bench = fault_bench.start()
    p, path, chdb = bench.proxy, bench.path, bench.chdb
  end)

  teardown(function() bench:stop() end)
  before_each(function() bench:clean() end)

  local function count() return bench:count() end
  local function insert(options) return bench:insert(options) end
  local function insert_bytes(options) return bench:insert_bytes(options) end
  local function start(options) return bench:start(options) end
  local function only_request() return bench:only_request() end

  describe("without a rule", function()
    it("passes 50 MB in and 50 MB out as they are", function()
      local body = numbers(6250000)
      assert.equal(200, insert({ body = body, timeout = 30 }).status)
      local request = only_request()
      assert.equal(50000000, request.body_bytes)
      assert.equal(sha256(body), request.sha256)
      local answer = http.request {
        port = p.port, timeout = 30,
        path = "/?" .. http.query_string {
          database = bench.db.name, query = "SELECT n FROM t ORDER BY n FORMAT RowBinary",
        },
      }
      assert.is_true(answer.body == body)
      assert.equal(6250000, count())
    end)

    it("serves 20 connections at once, each its own", function()
      local started = {}
      for i = 1, 20 do started[i] = start { body = numbers(100000, i * 100000), timeout = 30 } end
      for i = 1, 20 do assert.equal(200, started[i]:finish().status) end
      assert.equal("2000000\t100000\t2099999\n", bench.db:query "SELECT uniqExact(n), min(n), max(n) FROM t")
      assert.equal(2000000, count())
      assert.equal(20, p:counters().connections)
    end)

    it("says what each request was", function()
      local token = "a-token"
      insert {
        path = path .. "&query_id=first%2Fone&insert_deduplication_token=" .. token,
        headers = { ["X-ClickHouse-User"] = "default", ["X-ClickHouse-Key"] = "", ["X-Odd"] = "\"\\\233" },
      }
      http.request { port = p.port, path = "/ping" }
      http.request { port = p.port, path = "/replicas_status" }
      http.request { port = p.port, path = "/?query=SELECT+1" }
      http.request { port = p.port, body = "SELECT 1" }
      http.request { port = p.port, body = "\n insert into " .. bench.db.name .. ".t values (7)" }
      p:await("finished", 6)
      local all, kinds = p:requests(), {}
      for i, request in ipairs(all) do kinds[i] = request.kind end
      assert.same({ "insert", "ping", "other", "query", "query", "insert" }, kinds)
      local one = all[1]
      assert.same({ "first/one", token, "POST", "INSERT INTO t FORMAT RowBinary" },
        { one.query_id, one.token, one.method, one.params.query })
      assert.same({ true, true, true }, { one.whole, one.forwarded, one.finished })
      assert.same({ 200, 200, "closed", "plain", 1, sha256(ONE_ROW), "default" }, {
        one.status, one.upstream_status, one.ended, one.listener, one.on_connection, one.sha256,
        one.headers["x-clickhouse-user"],
      })
      assert.equal("\"\\é", one.headers["x-odd"])
      assert.equal(1, #p:posts("token")[token])
      assert.same({ one }, p:requests { query_id = "first/one" })
      local counters = p:counters()
      assert.same({ 6, 3, 2, 2, 1, 1, 0 }, {
        counters.requests, counters.posts, counters.inserts, counters.queries, counters.pings, counters.others,
        counters.faults,
      })
    end)

    it("passes the server's own refusal", function()
      local answer = insert { path = "/?query=INSERT+INTO+nowhere+FORMAT+RowBinary" }
      assert.same({ 404, "60" }, { answer.status, answer.headers["x-clickhouse-exception-code"] })
    end)

    it("keeps connections, and says for how long", function()
      local client = curl.new()
      assert.is_true(client:request({ url = p.url .. "/ping" }).fresh)
      assert.is_false(client:request({ url = p.url .. path, body = ONE_ROW }).fresh)
      assert.is_false(client:request({ url = p.url .. "/ping" }).fresh)
      assert.same({ 1, 2, 3 }, { p:requests()[1].on_connection, p:requests()[2].on_connection,
        p:requests()[3].on_connection })
      local head = client:request({ url = p.url .. "/ping" }).head
      assert.is_truthy(head:find "Keep%-Alive: timeout=30\r\nConnection: Keep%-Alive\r\n")
    end)

    it("serves 18.16, whose answers are chunked", function()
      local old = server.shared.clickhouse18()
      p:set_upstream(old)
      local client = curl.new()
      local sql = "/?query=SELECT+number+FROM+system.numbers+LIMIT+1000000+FORMAT+RowBinary"
      for i = 1, 2 do
        local answer = client:request { url = p.url .. sql }
        assert.is_true(answer.body == numbers(1000000))
        assert.equal(i == 1, answer.fresh)
        assert.is_truthy(answer.head:find "Transfer%-Encoding: chunked\r\n")
      end
      local refusal = client:request { url = p.url .. "/", body = "SELECT nothing" }
      assert.same({ 404, false }, { refusal.status, refusal.fresh })
      p:set_upstream(chdb)
    end)

    it("never sends a cut body on", function()
      start({ length = 800 }):finish()
      local request = only_request()
      assert.same({ false, false, 8, "left" }, { request.whole, request.forwarded, request.body_bytes, request.ended })
      assert.equal(0, count())
    end)

    it("serves a unix socket, and as an HTTP proxy", function()
      local client = curl.new()
      assert.equal(200, client:request({ url = "http://x" .. path, body = ONE_ROW, socket = p.socket }).status)
      assert.equal(200, curl.new():request({ url = chdb.url .. path, body = ONE_ROW, proxy = p.url }).status)
      assert.equal(2, count())
      assert.equal("unix", p:requests()[1].listener)
    end)
  end)

  describe("matching", function()
    local function statuses(times)
      local out = {}
      for i = 1, times do out[i] = insert().status end
      return table.concat(out, " ")
    end

    it("counts: nth, every, after, times", function()
      p:rule { nth = 2, status = 502 }
      p:rule { every = 3, status = 503 }
      p:rule { after = 4, times = 1, status = 504 }
      assert.equal("200 502 503 200 504 503 200", statuses(7))
      assert.same({ 7, 1 }, { p:rules()[1].seen, p:rules()[1].fired })
      assert.equal(4, p:counters().faults)
      assert.equal(3, count())
    end)

    it("tells kinds, texts and listeners", function()
      p:rule { kind = "ping", status = 500 }
      p:rule { contains = "needle=%20", status = 502, label = "found it" }
      p:rule { listener = "unix", status = 503 }
      assert.equal(500, http.request({ port = p.port, path = "/ping" }).status)
      assert.equal(502, insert({ headers = { X = "needle=%20" } }).status)
      assert.equal(503, curl.new():request({ url = "http://x/", socket = p.socket }).status)
      assert.equal("200", statuses(1))
      assert.equal("found it", p:requests()[2].label)
    end)

    it("fires by chance, the same for a seed", function()
      local other = faults.proxy { upstream = chdb, seed = 7 }
      local again = faults.proxy { upstream = chdb, seed = 7 }
      local function draw(from)
        local out = {}
        from:rule { percent = 40, status = 503 }
        for i = 1, 30 do out[i] = http.request({ port = from.port, path = "/ping" }).status end
        return table.concat(out, " ")
      end
      local one, two = draw(other), draw(again)
      other:stop()
      again:stop()
      assert.equal(one, two)
      assert.is_truthy(one:find "200" and one:find "503")
    end)

    it("refuses what it does not understand", function()
      assert.has_error(function() p:rule { acton = "reset" } end)
      assert.has_error(function() p:rule { action = "explode" } end)
      assert.has_error(function() p:rule { status = "many" } end)
      assert.same({}, p:rules())
    end)
  end)

  describe("resets and closes", function()
    -- at → whether the server has the row, what of the body the proxy had
    for at, want in pairs {
      head = { rows = 0 }, body = { rows = 0, bytes = 4 }, request = { rows = 0, bytes = 8 },
      answer = { rows = 1, bytes = 8 },
    } do
      for action, error_is in pairs { reset = "Connection reset by peer", close = "no answer in 0 bytes" } do
        it(("%s at %s"):format(action, at), function()
          p:rule { kind = "insert", at = at, action = action }
          local answer, err = insert()
          assert.is_nil(answer)
          assert.equal(error_is, err)
          local request = only_request()
          assert.equal(want.rows, count())
          assert.equal(want.rows == 1, request.forwarded)
          assert.equal(want.bytes or 0, request.body_bytes)
          assert.equal(action == "reset" and "reset" or "closed", request.ended)
          assert.equal(0, request.status == 200 and request.sent_bytes or 0)
        end)
      end
    end

    it("reset after so many bytes of the body", function()
      p:rule { at = "body", bytes = 100000, action = "reset" }
      insert { body = numbers(100000) }
      local request = only_request()
      assert.same({ 100000, false }, { request.body_bytes, request.whole })
      assert.equal(sha256(numbers(12500)), request.sha256)
    end)

    it("at accept", function()
      p:rule { at = "accept", nth = 1, action = "reset" }
      p:rule { at = "accept", nth = 2, action = "close" }
      assert.equal("Connection reset by peer", select(2, insert()))
      assert.equal("no answer in 0 bytes", select(2, insert()))
      assert.equal(200, insert().status)
      assert.same({ 3, 1 }, { p:counters().connections, p:counters().requests })
    end)

    it("cuts the server's answer", function()
      p:rule { cut = 20, action = "close", nth = 1 }
      p:rule { cut = 30, action = "reset", nth = 2 }
      assert.equal(20, #insert_bytes())
      local _, err = insert_bytes()
      assert.equal("Connection reset by peer", err)
      p:await("finished", 2)
      assert.equal(30, p:requests()[2].sent_bytes)
      assert.equal(2, count())
    end)

    it("closes a connection that it promised to keep", function()
      p:rule { at = "answer", cut = "end", action = "close" }
      local client = curl.new()
      assert.equal(200, client:request({ url = p.url .. path, body = ONE_ROW }).status)
      assert.equal(200, client:request({ url = p.url .. path, body = ONE_ROW }).status)
      p:await("connections", 2)
      assert.equal(2, count())
    end)
  end)

  describe("a connection at its reuse", function()
    it("is reset at the next request's first byte, and libcurl alone tries again", function()
      local client = curl.new()
      client:request { url = p.url .. "/ping" }
      p:rule { at = "first", reused = true, times = 1, action = "reset" }
      local answer = client:request { url = p.url .. path, body = ONE_ROW }
      assert.is_true(answer.fresh)
      assert.same({ 2, 1, 1 }, { p:counters().connections, p:counters().posts, p:counters().faults })
      assert.equal(1, count())
    end)

    it("hangs up after the commit, and libcurl sends a body twice", function()
      local client = curl.new()
      client:request { url = p.url .. "/ping" }
      p:rule { kind = "insert", reused = true, times = 1, at = "answer", action = "close" }
      assert.equal(200, client:request({ url = p.url .. path .. "&query_id=sent-twice", body = ONE_ROW }).status)
      assert.equal(2, #p:posts("query_id")["sent-twice"])
      assert.equal(2, count())
    end)

    it("is closed after the idle time, whatever was advertised", function()
      p:rule { advertise = 9, idle_ms = 30 }
      local client = curl.new()
      assert.is_truthy(client:request({ url = p.url .. "/ping" }).head:find "Keep%-Alive: timeout=9\r\n")
      p:await_most("open", 0)
      assert.is_true(client:request({ url = p.url .. "/ping" }).fresh)
    end)
  end)

  describe("waits", function()
    it("holds until released", function()
      for _, at in ipairs { "accept", "first", "head", "body", "request", "answer" } do
        p:clear()
        p:forget()
        bench.db:query "TRUNCATE TABLE t"
        p:rule { at = at, action = "hold" }
        local pending = start()
        p:await("held", 1)
        assert.equal(at == "answer" and 1 or 0, count())
        p:release()
        assert.equal(200, pending:finish().status)
        assert.equal(1, count())
      end
    end)

    it("drops what it holds where the client leaves", function()
      p:rule { at = "request", action = "hold" }
      assert.is_nil(insert { timeout = 0.05 })
      assert.equal("left", only_request().ended)
      assert.equal(0, count())
    end)

    it("pauses, and commits although the client has left", function()
      p:rule { at = "request", action = "pause", ms = 150 }
      assert.is_nil(insert { timeout = 0.05 })
      assert.equal(200, only_request().upstream_status)
      assert.equal(1, count())
    end)

    it("pauses in the server's answer", function()
      p:rule { cut = 40, action = "pause", ms = 100 }
      local started = process.now()
      assert.equal(200, insert().status)
      assert.is_true(process.now() - started >= 0.1)
    end)

    it("reads slowly", function()
      p:rule { read_rate = 400000 }
      assert.equal(200, insert({ body = numbers(10000) }).status)
      assert.is_true(only_request().took_ms >= 180)
      assert.equal(10000, count())
    end)

    it("answers byte by byte", function()
      p:rule { at = "answer", step = 1, step_ms = 1 }
      assert.equal(200, insert().status)
      local request = only_request()
      assert.is_true(request.took_ms >= request.sent_bytes)
    end)
  end)

  describe("ports", function()
    after_each(function() p:up() end)

    local function is_refused()
      local answer, err = http.request { port = p.port, path = "/ping", timeout = 1 }
      return not answer and err == "Connection refused"
    end

    it("refuse, with open connections kept or reset, and come back", function()
      local client = curl.new()
      client:request { url = p.url .. "/ping" }
      p:down()
      assert.is_true(is_refused())
      assert.is_false(client:request({ url = p.url .. "/ping" }).fresh)
      p:down { reset = true }
      p:await_most("open", 0)
      assert.is_true(is_refused())
      local _, message, code = client:request { url = p.url .. "/ping" }
      assert.equal(7, code, message)
      p:up()
      assert.is_true(client:request({ url = p.url .. "/ping" }).fresh)
    end)

    it("let connecting hang", function()
      p:blackhole()
      local _, message, code = curl.new():request { url = p.url .. "/ping", connect_timeout = 0.2 }
      assert.equal(28, code, message)
      p:up()
      assert.equal(200, curl.new():request({ url = p.url .. "/ping" }).status)
    end)

    it("reset what is under way", function()
      p:rule { at = "request", action = "hold" }
      local pending = start()
      p:await("held", 1)
      p:reset()
      assert.equal("Connection reset by peer", select(2, pending:finish()))
    end)

    it("can be another address's", function()
      local other = faults.proxy { upstream = chdb, address = "127.0.0.2", port = p.port }
      local answer = curl.new():request { url = other.url .. "/ping" }
      assert.same({ p.port, "http://127.0.0.2:" .. p.port, 200 }, { other.port, other.url, answer.status })
      assert.equal(0, p:counters().connections)
      other:stop()
    end)

    it("reset where the server is gone, and take another", function()
      p:set_upstream(http.free_port())
      assert.equal("Connection reset by peer", select(2, insert()))
      assert.equal(1, p:counters().upstream_failures)
      p:set_upstream(chdb)
      assert.equal(200, insert().status)
      assert.equal(1, count())
    end)
  end)

  describe("names", function()
    -- Asks a name, gives it another address, and asks again.
    local PROGRAM = [[
      package.path = "./?.lua;" .. package.path
      local curl = require "spec.support.curl"
      local function ask()
        local answer, message = curl.new():request { url = os.getenv "URL" }
        print(answer and answer.status or message)
      end
      ask()
      os.rename(os.getenv "CHUTE_SPEC_NAMES" .. ".next", os.getenv "CHUTE_SPEC_NAMES")
      ask()
    ]]

    it("change while a program runs", function()
      local second = faults.proxy { upstream = chdb, address = "127.0.0.2", port = p.port }
      local known = names.new { ["chute.test"] = { "127.0.0.2" } }
      local file = assert(io.open(known.path .. ".next", "w"))
      file:write "chute.test 127.0.0.3 127.0.0.1\n"
      file:close()
      known.env.URL = "http://chute.test:" .. p.port .. "/ping"
      local child = process.spawn { argv = { "luajit", "-e", PROGRAM }, stdout = true, env = known.env }
      assert.same({ "200", "200", 0 }, { child:read_line(5), child:read_line(5), child:wait(5) })
      assert.same({ 1, 1, 2 }, { second:counters().pings, p:counters().pings, known:asked "chute.test" })
      known:close()
      second:stop()
    end)
  end)
end)
