"""A loopback server with Flink's REST API: a small cluster, jobs with growing counters, faults."""
