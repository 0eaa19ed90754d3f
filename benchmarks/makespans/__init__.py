"""Benchmarks of makespans: speed of the engine, and quality against reference problems."""
