"""Exact search and proofs of optimality.

The names here are those of contraction, bounds, and branch and bound.
"""

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

__all__ = [
    "FOUND",
    "OPEN",
    "REFUTED",
    "Dive",
    "LoadBounds",
    "Verdict",
    "dive",
    "hardness",
    "merged",
    "refute",
    "start_again",
]
