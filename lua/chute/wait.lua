--- Waiting for a request: the one place where a call of Lua waits for the network.
local lib = require "chute.lib"
local C = lib.C

--- Waits until the request is done, for at most `ms` milliseconds. True where it is.
return function(request, ms) return C.chute_request_wait(request, ms) == 1 end
