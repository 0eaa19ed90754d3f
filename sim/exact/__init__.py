"""Exact search and proofs of optimality: contraction, branch and bound, and enumeration."""

from streamplace.sim.exact.bounds import LoadBounds, Verdict
from streamplace.sim.exact.branch_and_bound import (
    FOUND,
    OPEN,
    REFUTED,
    Dive,
    dive,
    hardness,
    refute,
    start_again,
)
from streamplace.sim.exact.contraction import merged
from streamplace.sim.exact.enumeration import Walk, enumerate_above, walk
from streamplace.sim.exact.path_average import PathAverageBounds

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
