"""Capacity: the fewest or cheapest devices, and the fewest instances, for a rate."""

__all__ = ["plan", "size", "sizing"]
