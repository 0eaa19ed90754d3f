"""The hardening campaign: nothing lost, nothing let in. Each part counts what it tries."""
