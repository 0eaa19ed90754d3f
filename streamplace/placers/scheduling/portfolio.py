"""Placements to start a search for short makespans from."""

from collections.abc import Iterable
from contextlib import suppress

import numpy as np

from streamplace.errors import PlacementError
from streamplace.placers.base import Placer
from streamplace.placers.repair import feasible
from streamplace.placers.scheduling.lists import Heft, Peft
from streamplace.placers.scheduling.sampled import RandomEft
from streamplace.placers.trivial import RoundRobin, Single
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

PORTFOLIO: tuple[Placer, ...] = (Heft(), Peft(), RandomEft(samples=10), Single())


def portfolio(
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
    placers: Iterable[Placer] = PORTFOLIO,
) -> Ints:
    """Return different feasible placements, (K, V): at least one.

    Raises
    ------
    PlacementError
        If none was found.
    """
    rows = [] if start is None else [feasible(problem, start.devices).devices]
    for placer in placers:
        with suppress(PlacementError):
            rows.append(placer(problem, rng).devices)
    if not rows:
        rows.append(RoundRobin()(problem, rng).devices)
    return np.unique(np.stack(rows), axis=0).astype(np.int32)
