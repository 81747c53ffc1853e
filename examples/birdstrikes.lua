-- Aircraft that met wildlife, 1990 to 2002: vega-datasets' birdstrikes.csv, as the pilots and
-- clerks filled it in.

-- Letters that stand where a degree of damage should are codes of a lost list.
local degrees = { None = true, Minor = true, Medium = true, Substantial = true }

return {
  table = "birdstrikes",
  columns = {
    { "date", "Date", from = "Flight Date" },
    { "airport", "LowCardinality(String)", from = "Airport Name" },
    { "state", "LowCardinality(String)", from = "Origin State" },
    -- Some names end with a star that refers to a footnote.
    { "operator", "LowCardinality(String)", value = function(row)
      return (row["Aircraft Airline Operator"]:gsub("%*$", ""))
    end },
    { "aircraft", "LowCardinality(String)", from = "Aircraft Make Model" },
    { "phase", "Enum8('Parked' = 0, 'Taxi' = 1, 'Take-off run' = 2, 'Climb' = 3, 'Descent' = 4, "
      .. "'Approach' = 5, 'Landing Roll' = 6)", from = "Phase of flight" },
    { "time_of_day", "Enum8('Dawn' = 0, 'Day' = 1, 'Dusk' = 2, 'Night' = 3)", from = "Time of day" },
    { "species", "LowCardinality(String)", from = "Wildlife Species" },
    { "size", "Enum8('Small' = 0, 'Medium' = 1, 'Large' = 2)", from = "Wildlife Size" },
    { "damage", "Nullable(Enum8('None' = 0, 'Minor' = 1, 'Medium' = 2, 'Substantial' = 3))",
      value = function(row)
        local degree = row["Effect Amount of damage"]
        if degrees[degree] then return degree end
      end },
    -- Knots; often left blank.
    { "speed", "Nullable(UInt16)", from = "Speed IAS in knots" },
    { "cost_repair", "Decimal(12, 2)", from = "Cost Repair" },
    { "cost_other", "Decimal(12, 2)", from = "Cost Other" },
  },
}
