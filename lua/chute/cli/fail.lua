--- Says what went wrong, in one line on standard error, and returns the exit code for it.
return function(code, message)
  io.stderr:write("chute: ", (tostring(message):gsub("%s*\n%s*", " ")), "\n")
  return code
end
