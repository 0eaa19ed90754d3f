"""Limits on the latency of single tuples: proof, screen, search and simulation."""
