"""The random task graphs and device networks of GiPH (Hu et al., MLSys 2023).

`GiphPaper` draws from the ranges that the paper states. `GiphCode` makes the same draws as the
released code, which has ranges of half that width and draws the reciprocal of the bandwidth.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from streamplace.errors import UsageError
from streamplace.families.family import Draw, check_range
from streamplace.families.giph.cases import (
    DRAWN,
    SPLITS,
    Case,
    Ranges,
    draw_cluster,
    draw_graph,
    drawn_case,
    protocol_cases,
)
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.util.suggest import valid_choices

MAX_DEVICES = 2048
CASES = (DRAWN, "single", "several")
LIMITS = (("v", 1, 10_000), ("alpha", 0.05, 20), ("connect", 0, 1))


@dataclass(frozen=True)
class GiphPaper:
    """Task graphs and device networks with the ranges of the paper.

    Parameters
    ----------
    cases
        ``drawn``: each graph and each network has its own random seed. ``single`` and ``several``:
        the cases of the released settings with one device network and with ten, in an order that
        is shuffled by the seed of the dataset.
    split
        ``train`` or ``test``: which of those cases.
    devices
        Number of devices.
    v, alpha, connect
        Mean number of tasks (the graph's shape changes it), shape (above 1: wide, below: deep) and
        probability of an edge, for ``drawn``; None draws one of the released settings.

    Raises
    ------
    UsageError
        On an unknown choice, or a value that is out of range.
    """

    cases: str = DRAWN
    split: str = "test"
    devices: int = 20
    v: int | None = None
    alpha: float | None = None
    connect: float | None = None
    ranges: ClassVar[Ranges] = Ranges(half=False, reciprocal=False)

    def __post_init__(self) -> None:
        for what, value, known in (("cases", self.cases, CASES), ("split", self.split, SPLITS)):
            if value not in known:
                raise UsageError(f"unknown {what} {value!r:.40}{valid_choices(value, known)}")
        check_range("devices", self.devices, MAX_DEVICES)
        for what, smallest, largest in LIMITS:
            if (setting := getattr(self, what)) is not None:
                check_range(what, setting, largest, smallest)
        fixed = [what for what, _, _ in LIMITS if getattr(self, what) is not None]
        if self.cases != DRAWN and fixed:
            raise UsageError(f"cannot combine cases={self.cases} with {fixed[0]}")

    def check(self, count: int, sizes: range | None) -> None:
        """Refuse numbers of operators, and more graphs than there are cases."""
        if sizes is not None:
            raise UsageError("the settings determine the number of operators; use v=N")
        if self.cases != DRAWN and count > len(self._protocol):
            most, what = len(self._protocol), f"cases={self.cases}:split={self.split}"
            raise UsageError(f"count must be 1 to {most} with {what} (got {count})")

    def graph(self, draw: Draw) -> StreamGraph:
        """Return one task graph."""
        case = self._case(draw)
        return draw_graph(case.graph, self.ranges, draw.name)

    def cluster(self, draw: Draw) -> Cluster:
        """Return the device network of one graph."""
        return draw_cluster(self._case(draw).network_seed, self.devices, self.ranges)

    def _case(self, draw: Draw) -> Case:
        if self.cases == DRAWN:
            return drawn_case(draw.rng(), self.v, self.alpha, self.connect)
        return self._protocol[self._order(draw.seed)[draw.number]]

    @cached_property
    def _protocol(self) -> list[Case]:
        return protocol_cases(self.cases, self.split)

    def _order(self, seed: int) -> list[int]:
        """Return the order of the cases, shuffled as in the released code."""
        order = list(range(len(self._protocol)))
        np.random.RandomState(seed % 2**32).shuffle(order)
        return order


@dataclass(frozen=True)
class GiphCode(GiphPaper):
    """Task graphs and device networks with the draws of the released code; see `GiphPaper`."""

    ranges: ClassVar[Ranges] = Ranges(half=True, reciprocal=True)
