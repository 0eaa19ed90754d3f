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
    "registry",
    "teachers",
    "trajectories",
    "walks",
    "weights",
]
