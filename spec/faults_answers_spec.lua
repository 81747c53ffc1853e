-- The fault proxy's answers in the server's place, and its ports that speak TLS.

local curl = require "spec.support.curl"
local fault_bench = require "spec.support.fault_bench"
local faults = require "spec.support.faults"
local process = require "spec.support.process"

local ONE_ROW, numbers, sha256 = fault_bench.ONE_ROW, fault_bench.numbers, fault_bench.sha256

describe("faultproxy's", function()
  local bench, p, path

  setup(function()
    bench = fault_bench.start()
    p, path = bench.proxy, bench.path
  end)

  teardown(function() bench:stop() end)
  before_each(function() bench:clean() end)

  local function count() return bench:count() end
  local function insert(options) return bench:insert(options) end
  local function insert_bytes(options) return bench:insert_bytes(options) end
  local function only_request() return bench:only_request() end

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
end)
