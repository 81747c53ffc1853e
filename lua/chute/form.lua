--- Forms: how values of a kind of type are read, by the kind: as its only child, as a list, a map, a
-- tuple, a list of tuples, as they come, or by paths. Kinds that are not here are read one by one.
local C = require("chute.lib").C

local FORMS = {}

for form, kinds in pairs {
  child = { "NULLABLE", "LOW_CARDINALITY", "SIMPLE_AGGREGATE_FUNCTION" },
  list = { "ARRAY", "QBIT", "RING", "LINE_STRING", "MULTI_LINE_STRING", "POLYGON", "MULTI_POLYGON" },
  map = { "MAP" }, tuple = { "TUPLE", "POINT" }, nested = { "NESTED" },
  any = { "VARIANT", "GEOMETRY", "DYNAMIC" }, json = { "JSON" },
} do
  for _, kind in ipairs(kinds) do FORMS[tonumber(C["CHUTE_TYPE_" .. kind])] = form end
end

return FORMS
