--- Says what went wrong, in one line on standard error, and returns the exit code for it.
return function(code, message)
  -- The library's messages name it already.
  local text = tostring(message):gsub("^chute: ", ""):gsub("%s*\n%s*", " ")
  io.stderr:write("chute: ", text, "\n")
  return code
end
