CREATE TABLE birdstrikes
(
    date Date,
    airport LowCardinality(String),
    state LowCardinality(String),
    operator LowCardinality(String),
    aircraft LowCardinality(String),
    phase Enum8('Parked' = 0, 'Taxi' = 1, 'Take-off run' = 2, 'Climb' = 3, 'Descent' = 4, 'Approach' = 5, 'Landing Roll' = 6),
    time_of_day Enum8('Dawn' = 0, 'Day' = 1, 'Dusk' = 2, 'Night' = 3),
    species LowCardinality(String),
    size Enum8('Small' = 0, 'Medium' = 1, 'Large' = 2),
    damage Nullable(Enum8('None' = 0, 'Minor' = 1, 'Medium' = 2, 'Substantial' = 3)),
    speed Nullable(UInt16),
    cost_repair Decimal(12, 2),
    cost_other Decimal(12, 2)
)
ENGINE = MergeTree
ORDER BY (date, airport)
