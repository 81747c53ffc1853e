-- The fault proxy itself: what it lets through arrives as it was, and each fault is the one ordered.

local ffi = require "ffi"
local curl = require "spec.support.curl"
local faults = require "spec.support.faults"
local http = require "spec.support.http"
local names = require "spec.support.names"
local process = require "spec.support.process"
local server = require "spec.support.server"

ffi.cdef "unsigned char *SHA256(const char *bytes, size_t len, unsigned char *sum);"
local crypto = ffi.load "crypto"

local function sha256(text)
  local sum = ffi.new "unsigned char[32]"
  crypto.SHA256(text, #text, sum)
  return (ffi.string(sum, 32):gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

-- UInt64 first, first + 1, …
local function numbers(count, first)
  local out = ffi.new("uint64_t[?]", count)
  for i = 0, count - 1 do out[i] = (first or 0) + i end
  return ffi.string(out, count * 8)
end

local ONE_ROW = numbers(1)

describe("faultproxy", function()
  local chdb, db, p, path

  setup(function()
    chdb = server.shared.chdb()
    db = chdb:database()
    db:query "CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n"
    p = faults.proxy { upstream = chdb, tls = true }
    path = "/?" .. http.query_string { database = db.name, query = "INSERT INTO t FORMAT RowBinary" }
  end)

  teardown(function()
    p:stop()
    db:drop()
  end)

  before_each(function()
    p:clear()
    p:reset()
    p:await_most("open", 0)
    p:forget()
    db:query "TRUNCATE TABLE t"
  end)

  local function count() return tonumber(db:query "SELECT count() FROM t") end

  local function start(options)
    options = options or {}
    return assert(http.start {
      port = options.port or p.port, path = options.path or path, body = options.body or ONE_ROW,
      headers = options.headers, timeout = options.timeout or 5, length = options.length,
    })
  end

  local function insert(options) return start(options):finish() end

  -- The bytes that come back, or those before an error, and the error.
  local function insert_bytes(options)
    local text, err, before = start(options):bytes()
    return text or before, err
  end

  local function only_request() -- logged; once it is over
    p:await("finished", 1)
    local all = p:requests()
    assert.equal(1, #all)
    return all[1]
  end

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
          database = db.name, query = "SELECT n FROM t ORDER BY n FORMAT RowBinary",
        },
      }
      assert.is_true(answer.body == body)
      assert.equal(6250000, count())
    end)

    it("serves 20 connections at once, each its own", function()
      local started = {}
      for i = 1, 20 do started[i] = start { body = numbers(100000, i * 100000), timeout = 30 } end
      for i = 1, 20 do assert.equal(200, started[i]:finish().status) end
      assert.equal("2000000\t100000\t2099999\n", db:query "SELECT uniqExact(n), min(n), max(n) FROM t")
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
      http.request { port = p.port, body = "\n insert into " .. db.name .. ".t values (7)" }
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
        db:query "TRUNCATE TABLE t"
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

  describe("answers of its own", function()
    it("refuse by status, with headers and body, before or after the commit", function()
      for i, status in ipairs { 408, 413, 425, 429, 500, 502, 503, 504 } do
        p:clear()
        local at = i % 2 == 0 and "answer" or "request"
        p:rule { status = status, at = at, headers = { ["Retry-After"] = 3, ["X-Other"] = "a" }, body = "why: not\n" }
        local answer = insert()
        assert.same({ status, "why: not\n", "3", "a" },
          { answer.status, answer.body, answer.headers["retry-after"], answer.headers["x-other"] })
        assert.equal(math.floor(i / 2), count())
      end
      assert.equal(200, p:requests()[2].upstream_status)
    end)

    it("look like ClickHouse's", function()
      p:rule(faults.exception(241, "MEMORY_LIMIT_EXCEEDED", "Memory limit"), { nth = 1 })
      p:rule(faults.exception(252, "TOO_MANY_PARTS", "Too many parts", { old = true }), { nth = 2 })
      p:rule(faults.exception(60, "UNKNOWN_TABLE", "No table", { ok = true }), { nth = 3, at = "answer" })
      local one, two, three = insert(), insert(), insert()
      assert.same({ 500, "241" }, { one.status, one.headers["x-clickhouse-exception-code"] })
      assert.is_truthy(one.body:find("Code: 241. DB::Exception: Memory limit. (MEMORY_LIMIT_EXCEEDED)", 1, true))
      assert.same({ 500 }, { two.status, two.headers["x-clickhouse-exception-code"] })
      assert.is_truthy(two.body:find("Code: 252, e.displayText() = DB::Exception: Too many parts,", 1, true))
      assert.same({ 200, "60" }, { three.status, three.headers["x-clickhouse-exception-code"] })
      assert.equal(1, count())
    end)

    it("add headers to the server's own", function()
      p:rule { headers = { ["X-ClickHouse-Exception-Code"] = 1000 } }
      local answer = insert()
      assert.same({ 200, "1000" }, { answer.status, answer.headers["x-clickhouse-exception-code"] })
      assert.is_truthy(answer.headers["x-clickhouse-summary"])
      assert.equal(1, count())
    end)

    it("break off in the middle, the old way and the new", function()
      p:rule(faults.midstream_old(241, "MEMORY_LIMIT_EXCEEDED", "no", { rows = "1\n" }), { nth = 1 })
      p:rule(faults.midstream_new(241, "MEMORY_LIMIT_EXCEEDED", "no", { rows = "1\n", tag = "abcdefghijklmnop" }),
        { nth = 2 })
      p:rule(faults.midstream_new(241, "A", "no", { framing = "unended" }), { nth = 3 })
      local text = insert_bytes()
      local old = "1\n__exception__\r\nCode: 241. DB::Exception: no. (MEMORY_LIMIT_EXCEEDED)\n"
      assert.equal(("%x\r\n%s\r\nno chunk\r\n"):format(#old, old), text:match "\r\n\r\n(.*)$")
      local new, message = insert(), "Code: 241. DB::Exception: no. (MEMORY_LIMIT_EXCEEDED)\n"
      assert.equal("abcdefghijklmnop", new.headers["x-clickhouse-exception-tag"])
      assert.equal("1\n\r\n__exception__\r\nabcdefghijklmnop\r\n" .. message .. #message ..
        " abcdefghijklmnop\r\n__exception__\r\n", new.body)
      assert.same({ nil, "the answer is cut short" }, { insert() })
    end)

    it("are framed as ordered", function()
      local function framed(rule)
        p:clear()
        rule.status, rule.body = 200, "hello"
        p:rule(rule)
        return (insert_bytes())
      end
      assert.is_truthy(framed({ framing = "short" }):find "Content%-Length: 1005\r\n.*\r\n\r\nhello$")
      assert.is_truthy(framed({ framing = "chunked" }):find "\r\n\r\n5\r\nhello\r\n0\r\n\r\n$")
      assert.is_truthy(framed({ framing = "unended" }):find "chunked\r\n.*\r\n\r\n5\r\nhello\r\n$")
      assert.is_truthy(framed({ framing = "trailers", trailer = "X-Sum: 1" }):find "hello\r\n0\r\nX%-Sum: 1\r\n\r\n$")
      local text = framed { framing = "until_close" }
      assert.is_truthy(text:find "\r\n\r\nhello$")
      assert.is_nil(text:find "Content%-Length")
      assert.is_truthy(framed({ http10 = true }):find "^HTTP/1%.0 200 OK\r\n")
      text = framed { interim = "100,103" }
      assert.is_truthy(text:find "^HTTP/1%.1 100 .-\r\n\r\nHTTP/1%.1 103 .-\r\n\r\nHTTP/1%.1 200")
    end)

    it("are huge", function()
      p:rule { status = 200, size = 1024 ^ 3, body = "0123456789", framing = "chunked", nth = 1 }
      p:rule { status = 200, size = 300001, body = "0123456789", nth = 2 }
      assert.equal(200, curl.new():request({ url = p.url .. "/ping", discard = true }).status)
      assert.is_true(only_request().sent_bytes > 1024 ^ 3)
      assert.equal(("0123456789"):rep(30000) .. "0", insert().body)
    end)

    it("are garbage, or in a wrong encoding", function()
      p:rule { raw = "\0\1\2 no HTTP\r\n\r\n", nth = 1 }
      p:rule { at = "accept", after = 1, times = 1, raw = "SSH-2.0-x\r\n" }
      p:rule { headers = { ["Content-Encoding"] = "zstd" }, status = 500, body = "no frame", nth = 2 }
      assert.equal("\0\1\2 no HTTP\r\n\r\n", insert_bytes())
      assert.equal("SSH-2.0-x\r\n", insert_bytes())
      local answer = insert()
      assert.same({ "zstd", "no frame" }, { answer.headers["content-encoding"], answer.body })
    end)

    it("come before the body, and arrive", function()
      p:rule { at = "head", status = 413, body = "too large" }
      local answer = insert { body = numbers(500000) }
      assert.same({ 413, "too large", "close" }, { answer.status, answer.body, answer.headers.connection })
      local request = only_request()
      assert.same({ false, "closed" }, { request.whole, request.ended })
      assert.equal(0, count())
    end)

    it("advertise what they are told, and close as they say", function()
      p:rule { status = 200, advertise = 3, nth = 1 }
      p:rule { at = "answer", advertise = 4, nth = 2 }
      p:rule { at = "answer", advertise = 0, connection = "close", nth = 3 }
      local client = curl.new()
      local function head() return client:request({ url = p.url .. path, body = ONE_ROW }).head end
      assert.is_truthy(head():find "Keep%-Alive: timeout=3\r\n")
      assert.is_truthy(head():find "Keep%-Alive: timeout=4\r\n")
      local last = head()
      assert.is_nil(last:find "Keep%-Alive")
      assert.is_truthy(last:find "Connection: close\r\n")
      p:await("finished", 3)
      assert.equal("closed", p:requests()[3].ended)
    end)
  end)

  describe("Expect: 100-continue", function()
    local CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n"

    local function continues(rule)
      p:clear()
      if rule then p:rule(rule) end
      local text = insert_bytes { headers = { Expect = "100-continue" } }
      return select(2, text:gsub(CONTINUE, "")), text:gsub(CONTINUE, ""):match "^HTTP/1.1 (%d+)"
    end

    it("is answered once, twice, late, or never", function()
      assert.same({ 1, "200" }, { continues() })
      assert.same({ 2, "200" }, { continues { expect = "twice" } })
      assert.same({ 0, "200" }, { continues { expect = "never" } })
      local started = process.now()
      assert.same({ 1, "200" }, { continues { expect = "late", ms = 80 } })
      assert.is_true(process.now() - started >= 0.08)
      assert.same({ 0, "417" }, { continues { at = "head", status = 417 } })
      assert.equal(4, count())
    end)
  end)

  describe("TLS", function()
    local function ask(name, options)
      options = options or {}
      options.url, options.ca = p.tls[name].url .. "/ping", p.ca
      local answer, _, code = curl.new():request(options)
      return answer and answer.status or code
    end

    it("is good, or bad in one way", function()
      assert.equal(200, ask "good")
      for _, name in ipairs { "wrong_name", "expired", "self_signed" } do assert.equal(60, ask(name), name) end
      assert.equal(60, select(3, curl.new():request { url = p.tls_url .. "/ping" })) -- an authority unknown
      p:await("tls_failures", 3) -- a name is looked at after the handshake
      assert.equal("good", only_request().listener)
    end)

    it("demands a client's certificate", function()
      assert.equal(200, ask("mutual", { client = p.client }))
      assert.is_true(ask "mutual" < 100)
      assert.is_true(ask("mutual", { client = p.stranger }) < 100)
    end)

    it("carries 8 MB and the faults", function()
      local body = numbers(1000000)
      local url = p.tls_url .. path
      assert.equal(200, curl.new():request({ url = url, ca = p.ca, body = body }).status)
      assert.equal(sha256(body), only_request().sha256)
      for action, code in pairs { reset = 56, close = 52 } do
        p:clear()
        p:rule { at = "answer", action = action }
        assert.equal(code, select(3, curl.new():request { url = url, ca = p.ca, body = ONE_ROW }))
      end
      assert.equal(1000002, count())
    end)

    it("is no TLS at all", function()
      p:rule { at = "accept", listener = "good", raw = "HTTP/1.1 400 Bad Request\r\n\r\n" }
      assert.equal(35, ask "good")
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
