--- Counters as text that Prometheus reads.
local M = {}

local STREAM = {
  { "rows_offered_total", "counter", "Rows that insert was called with.", "offered" },
  { "rows_accepted_total", "counter", "Rows taken.", "accepted" },
  { "rows_rejected_total", "counter", "Rows with values that their columns cannot take.", "rejected" },
  { "rows_filtered_total", "counter", "Rows that the schema's map dropped.", "filtered" },
  { "rows_refused_total", "counter", "Rows refused for want of room, or closed.", "refused" },
  { "rows_acked_total", "counter", "Rows that the server acknowledged.", "acked" },
  { "rows_dropped_total", "counter", "Rows dropped by overflow policy.", "dropped" },
  { "rows_parked", "gauge", "Rows in batches that were given up.", "parked" },
  { "rows_pending", "gauge", "Rows whose outcome is open.", "pending" },
  { "batches_sealed_total", "counter", "Batches sealed.", "batches_sealed" },
  { "batches_acked_total", "counter", "Batches that the server acknowledged.", "batches_acked" },
  { "batches_parked_total", "counter", "Batches given up.", "batches_parked" },
  { "batches_in_flight", "gauge", "Batches whose outcome is open.", "batches_in_flight" },
  { "pending_bytes", "gauge", "Bytes of sealed batches.", "pending_bytes" },
  { "batch_bytes_raw_total", "counter", "Bytes of acknowledged batches.", "bytes_raw" },
  { "batch_bytes_sent_total", "counter", "The same, as they went.", "bytes_sent" },
}
local POOL = {
  { "pool_body_bytes_raw_total", "counter", "Bytes of bodies taken, before compression.", "bytes_raw" },
  { "pool_body_bytes_sent_total", "counter", "The same, as they went.", "bytes_sent" },
  { "hosts_up", "gauge", "Hosts that are not ejected.", "hosts_up" },
}
local TIMES = {
  { "queue_wait_seconds", "From being ready to being sent.", "wait" },
  { "compress_seconds", "Compression of one body.", "compress" },
  { "send_seconds", "From being sent to the outcome.", "send" },
}

local ESCAPES = { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" }

local function labels(of)
  local parts = {}
  for i = 1, #of, 2 do
    parts[#parts + 1] = ('%s="%s"'):format(of[i], (tostring(of[i + 1]):gsub('[\\"\n]', ESCAPES)))
  end
  return #parts > 0 and "{" .. table.concat(parts, ",") .. "}" or ""
end

-- Families in order, each with its samples: a family stands in one piece.
local function family(out, name, kind, help)
  local at = out[name]
  if not at then
    at = { ("# HELP chute_%s %s"):format(name, help), ("# TYPE chute_%s %s"):format(name, kind) }
    out[name], out[#out + 1] = at, at
  end
  return at
end

local function sample(at, name, of, value)
  at[#at + 1] = ("chute_%s%s %.17g"):format(name, labels(of), value)
end

local function simple(out, list, stats, key, value)
  for _, entry in ipairs(list) do
    local name, kind, help, field = entry[1], entry[2], entry[3], entry[4]
    sample(family(out, name, kind, help), name, { key, value }, stats[field])
  end
end

local function histogram(out, name, help, pool, of)
  local at = family(out, name, "histogram", help)
  for i, bound in ipairs(of.bounds) do
    sample(at, name .. "_bucket", { "pool", pool, "le", ("%g"):format(bound) }, of.up_to[i])
  end
  sample(at, name .. "_bucket", { "pool", pool, "le", "+Inf" }, of.count)
  sample(at, name .. "_sum", { "pool", pool }, of.seconds)
  sample(at, name .. "_count", { "pool", pool }, of.count)
end

local function add_pool(out, pool, stats)
  simple(out, POOL, stats, "pool", pool)
  local at = family(out, "requests_total", "counter", "Attempts that are over.")
  for kind, results in pairs(stats.requests) do
    for result, count in pairs(results) do
      sample(at, "requests_total", { "pool", pool, "kind", kind, "result", result }, count)
    end
  end
  at = family(out, "retries_total", "counter", "Attempts that were repeated.")
  for reason, count in pairs(stats.retries) do
    sample(at, "retries_total", { "pool", pool, "reason", reason }, count)
  end
  at = family(out, "host_in_flight", "gauge", "Requests under way.")
  for _, host in ipairs(stats.hosts) do
    sample(at, "host_in_flight", { "pool", pool, "host", host.place }, host.in_flight)
  end
  for _, time in ipairs(TIMES) do histogram(out, time[1], time[2], pool, stats[time[3]]) end
end

local function sorted(of)
  local names = {}
  for name in pairs(of or {}) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  return names
end

--- The counters of streams and pools in Prometheus' text format. of: streams and pools, tables by a
-- name (or lists), which becomes the label `stream` or `pool`. Closed ones are left out.
function M.prometheus(of)
  local out, lines = {}, {}
  for _, name in ipairs(sorted(of.streams)) do
    local stats = of.streams[name]:stats()
    if stats then simple(out, STREAM, stats, "stream", name) end
  end
  for _, name in ipairs(sorted(of.pools)) do
    local stats = of.pools[name]:stats()
    if stats then add_pool(out, name, stats) end
  end
  for _, samples in ipairs(out) do
    for _, line in ipairs(samples) do lines[#lines + 1] = line end
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
