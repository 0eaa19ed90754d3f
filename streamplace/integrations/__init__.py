"""Flink, Storm and others: their documents in, placements out."""
