"""Proofs that no placement is better: what has to stay together, and search that tries the rest."""

from sim.proof.enumeration import Walk, enumerate_above, walk
from sim.proof.joint import with_joined
from sim.proof.refute import FOUND, OPEN, REFUTED, Dive, dive, refute, start_again

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
