CREATE TABLE flights
(
    departed DateTime('UTC'),
    delay Int16,
    distance UInt16,
    origin LowCardinality(String),
    destination LowCardinality(String)
)
ENGINE = MergeTree
ORDER BY (origin, departed)
