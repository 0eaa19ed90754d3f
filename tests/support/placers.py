"""Placers by name, with options that make them quick."""

import numpy as np
import pytest

from streamplace.placers.registry import NAMES, class_of, names_for

OF_NETWORKS = ("streamplace.learning", "streamplace.papers")
LEARNED = tuple(name for name in NAMES if class_of(name).__module__.startswith(OF_NETWORKS))
"""The placers that use a network."""
QUICK = {
    "auto": "auto:evaluations=300",
    "rnn": "rnn:steps=2:samples=2",
    "hsdag": "hsdag:episodes=2:steps=2:samples=2",
}
QUICK_NAMES = tuple(QUICK.get(name, name) for name in names_for("throughput"))
SOME_LONG = [
    pytest.param(name, marks=pytest.mark.long if class_of(name.partition(":")[0]).trains else ())
    for name in QUICK_NAMES
]
"""`QUICK_NAMES` as parameters, with those that train a policy marked long."""
QUICK_OF_PASSES = QUICK | {
    "search": "search:evaluations=300",
    "critical-path": "critical-path:samples=3",
}
QUICK_MAKESPAN_NAMES = (
    *(QUICK_OF_PASSES.get(n, n) for n in names_for("makespan")),
    "heft:contention",
)


def seeded_rng() -> np.random.Generator:
    """Return the generator that placers start with."""
    return np.random.default_rng(0)
