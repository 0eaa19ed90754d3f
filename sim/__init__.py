"""The numerical core: closed forms, engine, search and proofs on arrays."""
