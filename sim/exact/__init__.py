"""Exact search and proofs of optimality: contraction, branch and bound, and enumeration."""

from sim.exact.bounds import LoadBounds, Verdict
from sim.exact.branch_and_bound import (
    FOUND,
    OPEN,
    REFUTED,
    Dive,
    dive,
    hardness,
    refute,
    start_again,
)
from sim.exact.contraction import merged
from sim.exact.enumeration import Walk, enumerate_above, walk
from sim.exact.path_average import PathAverageBounds

__all__ = [
    "FOUND",
    "OPEN",
    "REFUTED",
    "Dive",
    "LoadBounds",
    "PathAverageBounds",
    "Verdict",
    "Walk",
    "dive",
    "enumerate_above",
    "hardness",
    "merged",
    "refute",
    "start_again",
    "walk",
]
