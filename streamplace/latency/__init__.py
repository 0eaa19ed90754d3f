"""Latencies of single tuples, and confidence in a rate."""

__all__ = ["confidence", "limit", "tuples", "within_limit"]
