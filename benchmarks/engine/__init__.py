"""Accuracy and speed of the engine, against CEPSim, the closed forms and plain Python."""

RATE = 1e4  # tuples/s of all sources, if a part does not draw its own
SEED = 5_000_000  # far from all seeds of training
