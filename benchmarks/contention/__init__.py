"""Placements of instances on a real Flink whose TaskManagers compete for CPU time."""
