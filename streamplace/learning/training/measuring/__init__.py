"""Measured running times of the placements of a run."""
