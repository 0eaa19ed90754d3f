"""Runs of the simulated engine, tick by tick: scores, scenes and traces."""

__all__ = ["runs"]
