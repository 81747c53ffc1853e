--- The summary of a run, on standard output: a name and a number a line.
local summary = {}

local LINES = { "offered", "acked", "rejected", "filtered", "undelivered" }

--- Prints a report of chute.cli.run.
function summary.print(report)
  for _, name in ipairs(LINES) do
    io.write(("%-12s%.0f\n"):format(name, report[name]))
    if name == "rejected" then
      for _, message in ipairs(report.errors) do io.write("  ", message, "\n") end
      local more = report.rejected - #report.errors
      if more > 0 then io.write(("  and %d more\n"):format(more)) end
    end
  end
  if report.stopped_at then io.write("stopped at  ", report.stopped_at, "\n") end
  io.write(("%-12s%.3f s\n"):format("elapsed", report.elapsed))
  io.write(("%-12s%.0f\n"):format("rows/s", report.acked / report.elapsed))
  io.flush()
end

return summary
