"""Recipes of problems of real sizes: a line of text stands for each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.real_sizes.shapes import FAMILIES, graph_of
from streamplace import Cluster, Device, Makespan, Network, Problem
from streamplace.problem.cluster import NetworkKind
from streamplace.scoring.flow import flow

SIZES = (50, 100, 200, 300, 500, 1_000, 2_000, 3_000)
DEVICES = (2, 4, 8, 16, 28, 32, 64)
LOADS = (0.8, 1.1)
LINKS: dict[NetworkKind, tuple[float, ...]] = {
    "nic": (1.0, 3.0, 10.0, 40.0),
    "pair": (0.3, 1.0, 3.0, 10.0),
}
HARD_LINKS: dict[NetworkKind, tuple[float, ...]] = {"nic": (3.0, 10.0, 40.0), "pair": (1.0, 3.0)}
"""Strengths at which links nearly always bind."""
MIPS = (1000.0, 2500.0, 4000.0)  # speeds of unequal devices; equal ones have the second
PER_DEVICE = 4  # operators, at least: with fewer, one operator alone fills a device
LADDER = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
TEN_THOUSAND, LARGE = (10_000,), (100_000, 1_000_000)
MOST_REAL = 100_000  # instances, since the family ``real`` has 20 streams for each
BATCHES = (1_000, 100_000)  # source tuples


READERS: tuple[Callable[[str], Any], ...] = (
    *(str, int, int, str, float, float),
    *(lambda flag: flag == "1", int, int, int),
)
"""What reads each field of a recipe from its text."""


@dataclass(frozen=True)
class Recipe:
    """A problem, as the numbers that it is made from.

    Parameters
    ----------
    operators
        Their number, about; instances in the family ``real``.
    network, link
        ``pair`` or ``nic``, and the mean utilisation of a link if every stream crossed. Under
        makespans, relative to the utilisation of devices.
    load
        CPU work at the offered rate, relative to the cluster's capacity.
    equal
        Whether all devices are alike.
    fastest
        Keep this many of the fastest devices, with rate and bandwidth unchanged; 0: all.
    batch
        Source tuples of a pass, for makespans; 0: throughput.
    """

    family: str
    operators: int
    devices: int
    network: NetworkKind
    link: float
    load: float
    equal: bool
    seed: int
    fastest: int = 0
    batch: int = 0

    def __str__(self) -> str:
        return " ".join(
            value if isinstance(value, str) else f"{float(value):.12g}"
            for value in vars(self).values()
        )

    @classmethod
    def of(cls, text: str) -> "Recipe":
        """Return the recipe that `str` shows."""
        values = zip(READERS, text.split(), strict=True)
        return cls(*(read(word) for read, word in values))

    @property
    def words(self) -> str:
        """The recipe as a reader wants it."""
        kind = f"{self.devices} {'equal' if self.equal else 'unequal'} devices"
        link = f"{self.network}, link {self.link:g}, load {self.load:g}"
        batch = f", batch {self.batch:,}" if self.batch else ""
        return f"{self.family} {self.operators:,}, {kind}, {link}, seed {self.seed}{batch}"

    def problem(self) -> Problem:
        """Return the problem; equal recipes make equal ones on any machine."""
        rng = np.random.default_rng((self.seed, FAMILIES.index(self.family)))
        drawn = [MIPS[int(u * len(MIPS))] for u in rng.random(self.devices).tolist()]
        speeds = [MIPS[1]] * self.devices if self.equal else drawn
        graph = graph_of(self.family, self.operators, rng)
        plain = Problem(graph, Cluster([Device("d0", MIPS[1])]), source_rate=1.0)
        arrays = flow(plain)
        rate = self.load * sum(speeds) / (MIPS[1] * arrays.work.sum() / arrays.capacity[0])
        links = self.devices * (self.devices - 1 if self.network == "pair" else 1)
        mbps = float(arrays.stream_bits.sum()) * rate / (1e6 * self.link * max(links, 1))
        devices = [Device(f"d{d}", mips) for d, mips in enumerate(speeds)]
        if self.fastest:
            order = Cluster(devices).fastest_first[: self.fastest]
            devices = [devices[d] for d in sorted(order.tolist())]
        cluster = Cluster(devices, Network(self.network, mbps))
        if self.batch:
            return Problem(plain.graph, cluster, objective=Makespan(batch=self.batch))
        return Problem(plain.graph, cluster, source_rate=rate)


def drawn(
    count: int, seed: int, sizes: Sequence[int] = SIZES, least: int = 2, *, hard: bool = False
) -> list[Recipe]:
    """Return recipes whose families take turns; the first ones do not depend on their number.

    Parameters
    ----------
    sizes
        Numbers of operators to draw from.
    least
        Devices, at least.
    hard
        Whether links are so weak that they nearly always bind.
    """
    return [_drawn(number, seed, sizes, least, hard) for number in range(count)]


def _drawn(number: int, seed: int, sizes: Sequence[int], least: int, hard: bool) -> Recipe:
    family = FAMILIES[number % len(FAMILIES)]
    picks = iter(np.random.default_rng((seed, number)).random(7).tolist())

    def pick(some: Sequence[Any]) -> Any:
        return some[int(next(picks) * len(some))]

    most = MOST_REAL if family == "real" else max(sizes)
    operators = pick([size for size in sizes if PER_DEVICE * least <= size <= most])
    devices = pick([d for d in DEVICES if least <= d <= operators // PER_DEVICE])
    network: NetworkKind = pick(("nic", "pair"))
    link = pick((HARD_LINKS if hard else LINKS)[network])
    load, equal = pick(LOADS), pick((True, False))
    return Recipe(family, operators, devices, network, link, load, equal, int(next(picks) * 1e6))


def hard(count: int, seed: int) -> list[Recipe]:
    """Return recipes with links that bind and at least 16 devices."""
    return drawn(count, seed, [size for size in SIZES if size >= 100], 16, hard=True)


def passes(count: int, seed: int) -> list[Recipe]:
    """Return recipes of makespans: 100 to 3,000 operators on 4 to 64 devices."""
    recipes = drawn(count, seed, [size for size in SIZES if size >= 100], 4)
    return [replace(each, load=1.0, batch=BATCHES[n // 8 % 2]) for n, each in enumerate(recipes)]


def smaller(recipe: Recipe) -> list[Recipe]:
    """Return the recipe on each number of its fastest devices that the ladder has."""
    return [replace(recipe, fastest=k) for k in LADDER if k < recipe.devices]
