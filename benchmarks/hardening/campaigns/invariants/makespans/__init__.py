"""Invariants of makespans: schedules, bounds, placers and the page's engine."""
