"""Placers by name, with options that make them quick."""

import numpy as np

from streamplace.placers.registry import NAMES

QUICK = {"auto": "auto:evaluations=300"}
QUICK_NAMES = tuple(QUICK.get(name, name) for name in NAMES)


def seeded_rng() -> np.random.Generator:
    """Return the generator that placers start with."""
    return np.random.default_rng(0)
