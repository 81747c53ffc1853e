--- Values that plain Lua has no word for.
local M = {}

--- An explicit NULL. cjson's and ngx's null are taken as the same.
M.null = setmetatable({}, {
  __tostring = function() return "NULL" end,
  __newindex = function() error("chute.null cannot be changed", 2) end,
  __metatable = "chute.null",
})

M.Pairs = {}

--- A map as a list of pairs { {key, value}, … }: for keys that are no Lua keys (64-bit cdata are
-- compared by identity there), for an order, or for a key twice. Marks and returns the table.
function M.pairs(list)
  if type(list) ~= "table" then error("chute.pairs takes a list of {key, value}", 2) end
  return setmetatable(list, M.Pairs)
end

M.List = {}

--- A list that is one even where nothing is in it: in JSON, {} is an object. Marks and returns the
-- table.
function M.list(list)
  if type(list) ~= "table" then error("chute.list takes a table", 2) end
  return setmetatable(list, M.List)
end

M.Typed = {}
M.Typed.__tostring = function(self) return ("%s as %s"):format(tostring(self.value), self.type) end

--- A value for a Variant, a Dynamic or a path of JSON that is to be stored as this type, where the
-- plain value would be taken for another. Fields: type (text), value.
function M.typed(ctype, value)
  if type(ctype) ~= "string" then error("chute.typed takes a type's text and a value", 2) end
  return setmetatable({ type = ctype, value = value }, M.Typed)
end

return M
