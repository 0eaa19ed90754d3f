"""Pauses between requests, in seconds."""

POLL_S = 0.5
STALE_S = 5.0  # Flink answers with states that are up to 3 s old
SETTLE_S = 2.0  # a started job must still run after this time
GRACE_S = 30.0  # after the time at which Flink gives up a savepoint
