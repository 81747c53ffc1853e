CREATE TABLE pageviews
(
    name LowCardinality(String),
    site_id UInt64,
    hostname String,
    pathname String,
    user_id UInt64,
    session_id UInt64,
    timestamp DateTime,
    `meta.key` Array(String),
    `meta.value` Array(String),
    revenue_source_amount Nullable(Decimal64(3)),
    revenue_source_currency FixedString(3),
    revenue_reporting_amount Nullable(Decimal64(3)),
    revenue_reporting_currency FixedString(3),
    referrer String,
    referrer_source String,
    utm_medium String,
    utm_source String,
    utm_campaign String,
    utm_content String,
    utm_term String,
    country_code FixedString(2),
    subdivision1_code LowCardinality(String),
    subdivision2_code LowCardinality(String),
    city_geoname_id UInt32,
    screen_size LowCardinality(String),
    operating_system LowCardinality(String),
    operating_system_version LowCardinality(String),
    browser LowCardinality(String),
    browser_version LowCardinality(String)
)
ENGINE = MergeTree
ORDER BY (site_id, timestamp)
