"""Closed forms, engine, search and proofs, on arrays."""
