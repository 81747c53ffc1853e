-- defer: what a test cleans up, run at its end, the last first. busted's own `finally` keeps only
-- the last function that a test gives it.

local finally, pending

local function clean_up()
  local problem
  for i = #pending, 1, -1 do
    local ok, why = pcall(pending[i])
    if not ok then problem = problem or why end
  end
  if problem then error(problem, 0) end
end

--- Has `f` called at the end of the test that is running, however that ends. All are called, whether
-- or not one of them throws.
return function(f)
  local own = getfenv(2).finally -- of the caller's test: each has another
  if own ~= finally then
    finally, pending = own, {}
    own(clean_up)
  end
  pending[#pending + 1] = f
end
