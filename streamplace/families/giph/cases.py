"""GiPH's cases: task graphs, device networks, and the settings and seeds of both."""

import math
import random
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from streamplace.problem.cluster import Cluster, Device, LinkOverride, Network
from streamplace.problem.graph import StreamGraph
from streamplace.util.arrays import Floats

MEAN_COMPUTE, MEAN_BYTES = 100.0, 100.0  # of tasks and edges, in GiPH's units
SPREAD_OF_TASKS, SPREAD_OF_DEVICES = 0.4, 0.8
MEAN_SPEED, MEAN_BANDWIDTH, MEAN_DELAY = 5.0, 100.0, 10.0
TYPES, TYPE_PROBABILITY = 5, 0.2
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

INSTRUCTIONS_PER_UNIT = 1e6  # of work, so that a device of speed s has s MIPS
BYTES_PER_UNIT = 125_000.0  # of data, so that a bandwidth of b has b Mbit/s

Successors = dict[int, list[int]]
"""Task -> its successors, in the order in which the edges were added."""


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


def draw_graph(case: GraphCase, ranges: Ranges, name: str) -> StreamGraph:
    """Return the task graph of a case, with the draws of the released code (``generate_graph``).

    One unit of time in GiPH is one second. Entry and exit keep the cost that is drawn for them.
    """
    successors = _structure(case)
    stream = np.random.RandomState(case.seed)
    work = ranges.around(MEAN_COMPUTE, ranges.spread_of_tasks)
    compute, types = [], []
    for _ in successors:
        compute.append(stream.uniform(*work))
        types.append(int(stream.choice(TYPES)))
    ends = [(task, target) for task, targets in successors.items() for target in targets]
    data = stream.uniform(*ranges.around(MEAN_BYTES, ranges.spread_of_tasks), len(ends))
    payload = data * BYTES_PER_UNIT
    largest = np.zeros(len(successors))
    np.maximum.at(largest, np.array(ends)[:, 0], payload)
    return StreamGraph.from_columns(
        [f"t{task}" for task in successors],
        np.array(compute) * INSTRUCTIONS_PER_UNIT,
        largest,
        ends,
        stream_payload_bytes=payload,
        requires={task: (f"type{t}",) for task, t in enumerate(types)},
        type={task: f"type{t}" for task, t in enumerate(types)},
        name=name,
        firing="all",
    )


def _structure(case: GraphCase) -> Successors:
    """Draw the tasks and edges (``graph_dag_structure`` of the released code).

    The code draws numbers from numpy and choices from Python's own generator, both with one seed.
    """
    stream = np.random.RandomState(case.seed)
    choices = random.Random(case.seed)
    root = math.sqrt(case.v)
    depth = math.ceil(stream.uniform(root / case.alpha * 0.8, root / case.alpha * 1.2))
    widths = [math.ceil(stream.uniform(0, 2 * case.alpha * root)) for _ in range(depth)]
    levels = [[0]]
    successors: Successors = {0: []}
    for width in widths:
        earlier = range(len(successors))
        level = list(range(len(successors), len(successors) + width))
        for task in level:
            successors[task] = []
            for source in earlier:
                if stream.rand() < case.connect:
                    successors[source].append(task)
        levels.append(level)
    levels.append([len(successors)])
    successors[len(successors)] = []
    chain = [choices.choice(level) for level in levels]
    for source, target in pairwise(chain):
        _add(successors, source, target)
    _connect_loose_ends(successors, levels, choices)
    return successors


def _connect_loose_ends(
    successors: Successors, levels: list[list[int]], choices: random.Random
) -> None:
    """Give each task between entry and exit an input and an output, where it has none."""
    fed = {target for targets in successors.values() for target in targets}
    for i, level in enumerate(levels[1:-1], start=1):
        for task in level:
            if not successors[task]:
                target = choices.choice([later for each in levels[i + 1 :] for later in each])
                _add(successors, task, target)
                fed.add(target)
            if task not in fed:
                _add(successors, choices.choice([e for each in levels[:i] for e in each]), task)
                fed.add(task)


def _add(successors: Successors, source: int, target: int) -> None:
    if target not in successors[source]:
        successors[source].append(target)


def draw_cluster(seed: int, devices: int, ranges: Ranges) -> Cluster:
    """Return the cluster of a seed, with the draws of the released code (``generate_network``).

    A device's speed in GiPH's units is its MIPS, and a bandwidth its Mbit/s. Delays are up to twice
    their mean, in seconds. Delays and bandwidths are the same in both directions. Hardware types
    are the labels ``type0`` to ``type4``.
    """
    stream = np.random.RandomState(seed)
    delay = stream.uniform(0, 2 * MEAN_DELAY, (devices, devices))
    bandwidth = ranges.bandwidths(stream, devices)
    speed = ranges.speeds(stream, devices)
    supported = _types(stream, devices, ranges.type_probability)
    overrides = tuple(
        LinkOverride(
            f"d{a}",
            f"d{b}",
            # the code copies the lower triangle to the upper one
            bandwidth_mbps=float(bandwidth[max(a, b), min(a, b)]),
            latency_s=float(delay[max(a, b), min(a, b)]),
        )
        for a in range(devices)
        for b in range(devices)
        if a != b
    )
    network = Network(
        "free", bandwidth_mbps=MEAN_BANDWIDTH, latency_s=MEAN_DELAY, overrides=overrides
    )
    return Cluster(
        [Device(f"d{d}", float(speed[d]), labels=labels_of(supported[d])) for d in range(devices)],
        network,
    )


def labels_of(types: list[int]) -> tuple[str, ...]:
    """Return the labels of hardware types."""
    return tuple(f"type{t}" for t in types)


def draw_types(stream: np.random.RandomState, probability: float) -> list[int]:
    """Draw the hardware types of a device: each with a probability, and at least one."""
    types = [t for t in range(TYPES) if stream.rand() < probability]
    return types or [int(stream.choice(TYPES))]


def _types(stream: np.random.RandomState, devices: int, probability: float) -> list[list[int]]:
    """Draw the hardware types of each device; every type is on some device if devices allow it."""
    supported = [draw_types(stream, probability) for _ in range(devices)]
    for missing in sorted(set(range(TYPES)).difference(*supported)):
        # the code gives a missing type to no device of fewer than five, where tasks need it
        holders = max(1, int(devices * probability))
        for d in stream.choice(devices, holders, replace=False).tolist():
            supported[d].append(missing)
    return supported
