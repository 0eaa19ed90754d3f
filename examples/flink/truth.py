"""True numbers of the sample job, as in SampleJob.java."""

INSTRUCTIONS = {
    "Source: events": 80e6,
    "parse": 100e6,
    "filter": 80e6,
    "score": 120e6,
    "enrich": 100e6,
    "split": 80e6,
    "join": 80e6,
    "summarise": 100e6,
    "render": 120e6,
    "archive: Writer": 100e6,
}
"""Instructions per tuple."""
PAYLOAD_BYTES = {
    "Source: events": 1000,
    "parse": 1200,
    "filter": 1600,
    "score": 20000,
    "enrich": 4000,
    "split": 2000,
    "join": 1000,
    "summarise": 1500,
    "render": 3000,
}
"""Bytes per emitted tuple, without Flink's overhead."""
SELECTIVITY = {
    ("Source: events", "parse"): 1.0,
    ("parse", "filter"): 1.0,
    ("parse", "enrich"): 1.0,
    ("filter", "score"): 0.5,
    ("score", "join"): 1.0,
    ("enrich", "split"): 1.0,
    ("split", "join"): 2.0,
    ("join", "summarise"): 0.4,
    ("summarise", "render"): 0.5,
    ("render", "archive: Writer"): 3.0,
}
"""Tuples on a stream per tuple that its source operator processes."""
