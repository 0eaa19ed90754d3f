"""Restart of a running Flink job with a placement: checks, requests, steps, verification."""
