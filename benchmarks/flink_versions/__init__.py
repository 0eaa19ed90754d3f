"""Differences between versions of Flink, and what streamplace reads and changes on each."""
