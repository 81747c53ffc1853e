-- Departures of United States flights, January to March 2001: vega-datasets' flights-20k.json.
return {
  table = "flights",
  columns = {
    -- "2001/01/01 00:47", local time of the origin, whose zone the data does not tell.
    { "departed", "DateTime('UTC')", value = function(row)
      return (row.date:gsub("/", "-"))
    end },
    { "delay", "Int16" }, -- minutes; negative: early
    { "distance", "UInt16" }, -- miles
    { "origin", "LowCardinality(String)" },
    { "destination", "LowCardinality(String)" },
  },
}
