"""Learned placers: problem encodings, networks and weights."""

__all__ = [
    "base",
    "config",
    "costs",
    "decoding",
    "encoded",
    "graph_batch",
    "improving",
    "partial",
    "placer",
    "refining",
    "registry",
    "teachers",
    "trajectories",
    "weights",
]
