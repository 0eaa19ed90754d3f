"""GiPH's cases: the settings and seeds of a task graph, and the seed of a device network."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from streamplace.util.arrays import Floats

MEAN_COMPUTE, MEAN_BYTES = 100.0, 100.0  # of tasks and edges, in GiPH's units
SPREAD_OF_TASKS, SPREAD_OF_DEVICES = 0.4, 0.8
MEAN_SPEED, MEAN_BANDWIDTH, MEAN_DELAY = 5.0, 100.0, 10.0
TYPES, TYPE_PROBABILITY = 5, 0.2


@dataclass(frozen=True)
class Ranges:
    """How the paper and the released code differ.

    Parameters
    ----------
    half
        Whether numbers are within half the spread around their mean instead of the whole spread.
    reciprocal
        Whether the reciprocal of the bandwidth is uniform instead of the bandwidth.
    spread_of_tasks, spread_of_devices
        Spread of the numbers of tasks and edges, and of devices and links, as a share of the mean.
    type_probability
        Probability that a device supports a hardware type.
    """

    half: bool
    reciprocal: bool
    spread_of_tasks: float = SPREAD_OF_TASKS
    spread_of_devices: float = SPREAD_OF_DEVICES
    type_probability: float = TYPE_PROBABILITY

    def around(self, mean: float, spread: float) -> tuple[float, float]:
        """Return the ends of the range around a mean."""
        part = spread / 2 if self.half else spread
        return mean * (1 - part), mean * (1 + part)

    def bandwidths(self, stream: np.random.RandomState, devices: int) -> Floats:
        """Draw the bandwidth of each ordered pair of devices, (D, D)."""
        if self.reciprocal:
            ends = self.around(1 / MEAN_BANDWIDTH, self.spread_of_devices)
            return 1.0 / stream.uniform(*ends, (devices, devices))
        ends = self.around(MEAN_BANDWIDTH, self.spread_of_devices)
        return stream.uniform(*ends, (devices, devices))

    def speeds(self, stream: np.random.RandomState, devices: int) -> Floats:
        """Draw the speed of each device, (D,)."""
        return stream.uniform(*self.around(MEAN_SPEED, self.spread_of_devices), devices)


DRAWN = "drawn"
SPLITS = ("train", "test")
V, ALPHA, CONNECT = (10, 15), (0.1, 0.2, 0.3), (0.1, 0.2)
SEEDS = {
    ("single", "train"): ((1,), range(25)),
    ("single", "test"): ((1,), range(25, 50)),
    ("several", "train"): (range(10), range(10)),
    ("several", "test"): (range(10), range(25, 35)),
}
"""Setting and split -> seeds of the networks, and seeds of the graphs of each network."""


@dataclass(frozen=True)
class GraphCase:
    """The settings of a task graph.

    Parameters
    ----------
    v
        Number of tasks, before the levels of the graph are drawn.
    alpha
        Shape: levels have a mean width of alpha * sqrt(v), and there are about sqrt(v) / alpha.
    connect
        Probability that two tasks of different levels are connected.
    seed
        Seed of the graph's numbers.
    """

    v: int
    alpha: float
    connect: float
    seed: int


@dataclass(frozen=True)
class Case:
    """A task graph and the seed of its device network."""

    graph: GraphCase
    network_seed: int


def protocol_cases(setting: str, split: str) -> list[Case]:
    """Return the cases of the released settings, network outermost and graph seed innermost."""
    networks, graphs = SEEDS[setting, split]
    return [
        Case(GraphCase(v, alpha, connect, seed), network)
        for network, alpha, v, connect, seed in product(networks, ALPHA, V, CONNECT, graphs)
    ]


def drawn_case(
    rng: np.random.Generator, v: int | None, alpha: float | None, connect: float | None
) -> Case:
    """Draw a case; each setting that is None is one of the released ones."""
    at_v, at_alpha, at_connect, seed, network = rng.random(5).tolist()
    graph = GraphCase(
        V[int(at_v * len(V))] if v is None else v,
        ALPHA[int(at_alpha * len(ALPHA))] if alpha is None else alpha,
        CONNECT[int(at_connect * len(CONNECT))] if connect is None else connect,
        int(seed * 2**32),
    )
    return Case(graph, int(network * 2**32))
