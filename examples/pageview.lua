-- Page views of a web analytics service; pageview_event.lua is one.

local function text(name) return { name, "String", default = "" } end

local function word(name) return { name, "LowCardinality(String)", default = "" } end

local function code(name, bytes) return { name, ("FixedString(%d)"):format(bytes), default = "" } end

return {
  table = "pageviews",
  columns = {
    word "name",
    { "site_id", "UInt64", default = 0 },
    text "hostname",
    text "pathname",
    { "user_id", "UInt64", default = 0 },
    { "session_id", "UInt64", default = 0 },
    { "timestamp", "DateTime", default = 0 },
    { "meta.key", "Array(String)", default = {} },
    { "meta.value", "Array(String)", default = {} },
    { "revenue_source_amount", "Nullable(Decimal64(3))" },
    code("revenue_source_currency", 3),
    { "revenue_reporting_amount", "Nullable(Decimal64(3))" },
    code("revenue_reporting_currency", 3),
    text "referrer",
    text "referrer_source",
    text "utm_medium",
    text "utm_source",
    text "utm_campaign",
    text "utm_content",
    text "utm_term",
    code("country_code", 2),
    word "subdivision1_code",
    word "subdivision2_code",
    { "city_geoname_id", "UInt32", default = 0 },
    word "screen_size",
    word "operating_system",
    word "operating_system_version",
    word "browser",
    word "browser_version",
  },
}
