"""Placers for the makespan of one pass: list schedulers, search and proofs."""
