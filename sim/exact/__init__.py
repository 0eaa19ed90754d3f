"""Exact search and proofs of optimality: contraction, branch and bound, and enumeration."""

from sim.exact.branch_and_bound import FOUND, OPEN, REFUTED, Dive, dive, refute, start_again
from sim.exact.contraction import with_joined
from sim.exact.enumeration import Walk, enumerate_above, walk

__all__ = [
    "FOUND",
    "OPEN",
    "REFUTED",
    "Dive",
    "Walk",
    "dive",
    "enumerate_above",
    "refute",
    "start_again",
    "walk",
    "with_joined",
]
