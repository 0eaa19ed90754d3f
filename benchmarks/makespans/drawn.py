"""Random problems of all families, on networks of all kinds, for comparisons of placers."""

from dataclasses import replace

import numpy as np

import streamplace as sp
from benchmarks.makespans.problems import layered_problem
from streamplace.makespan.compiled_pass import compiled_pass
from streamplace.problem.makespan import DispatchOrder
from streamplace.problem.network import NetworkKind

KINDS: tuple[NetworkKind, ...] = ("free", "egress", "pair", "nic")
QUEUEING: tuple[NetworkKind, ...] = ("pair", "nic")
ORDERS: tuple[DispatchOrder, ...] = ("fifo", "fifo", "b-level", "any")
FAMILIES = (
    "layered-small",
    "layered-large",
    "giph-code",
    "giph-paper",
    "enas-cifar",
    "enas-ptb",
    "nmt",
    "chain-mm",
    "ffnn",
    "transformer-block",
    "transformer-layer",
    "dream",
)
SHARDED = ("chain-mm", "ffnn", "transformer-block", "transformer-layer")
RATIOS = (0.1, 0.3, 1.0, 3.0)  # of communication to computation
COUNTS = (4, 6, 8, 12, 16, 24, 32, 48, 64)  # of devices
SMALL_COUNTS = (2, 3, 4, 6, 8, 12)
BATCHES = (1_000, 100_000)


def drawn_problem(number: int, seed: int) -> tuple[str, sp.Problem]:
    """Return the problem of a number, with its description.

    Families take turns, and then kinds of network, and then orders. The problem has two to eight
    unequal devices where its family has none. A third of the problems have constraints.
    """
    family = FAMILIES[number % len(FAMILIES)]
    turn = number // len(FAMILIES)
    kind, order = KINDS[turn % len(KINDS)], ORDERS[turn // len(KINDS) % len(ORDERS)]
    rng = np.random.default_rng((seed, number))
    graph, cluster = _graph_and_cluster(family, rng)
    network = replace(cluster.network, kind=kind)
    if kind == "nic":
        network = replace(network, overrides=())
    cluster = sp.Cluster(cluster.devices, network)
    rules = _constraints(graph, cluster, rng) if number % 3 == 0 else sp.Constraints()
    aim = sp.Makespan(order=order)
    return f"{family}, {kind}, {order}", sp.Problem(
        graph, cluster, objective=aim, constraints=rules
    )


def _graph_and_cluster(family: str, rng: np.random.Generator) -> tuple[sp.StreamGraph, sp.Cluster]:
    seed, devices = int(rng.integers(2**31)), int(rng.integers(2, 9))
    if family.startswith("layered"):
        operators = int(rng.integers(8, 40) if family.endswith("small") else rng.integers(100, 400))
        problem = layered_problem(operators, devices, seed, float(rng.choice(RATIOS)))
        return problem.graph, problem.cluster
    text = f"{family}:shards={rng.integers(2, 5)}" if family in SHARDED else family
    recipe = sp.Recipe(text, 1, seed=seed)
    graph = recipe.graph(0)
    own = recipe.cluster(0) if family.startswith("giph") else None
    return graph, own or _cluster(graph, devices, rng)


def _cluster(graph: sp.StreamGraph, devices: int, rng: np.random.Generator) -> sp.Cluster:
    """Return unequal devices and a bandwidth that makes communication matter for the graph."""
    speed = float(graph.instructions.mean()) / 1e6 or 1.0  # about 1 s per operator
    mips = rng.uniform(0.5, 2.0, devices) * speed
    ratio = float(rng.choice(RATIOS))
    mbps = 8e-6 * float(graph.stream_payload_bytes.mean()) / ratio or None
    network = sp.Network("free", bandwidth_mbps=mbps, latency_s=0.01)
    return sp.Cluster([sp.Device(f"d{d}", float(m)) for d, m in enumerate(mips)], network)


def _constraints(
    graph: sp.StreamGraph, cluster: sp.Cluster, rng: np.random.Generator
) -> sp.Constraints:
    """Return a pin, a pair of operators on one device and a pair on two, where that is possible."""
    if graph.requires or len(graph.names) < 5 or len(cluster.devices) < 3:
        return sp.Constraints()
    a, b, c, d, e = (graph.names[v] for v in rng.permutation(len(graph.names))[:5])
    return sp.Constraints({a: cluster.names[0]}, [[b, c]], [[d, e]])


def sized_problem(number: int, seed: int, small: bool = False) -> tuple[str, sp.Problem]:
    """Return a problem of 100 to 3,000 operators on 4 to 64 devices, with its description.

    Families and kinds of network take turns. Devices are equal, or each is no faster than the one
    before; links are equal. A mean message takes 0.03 to 3 times as long as a mean operator.

    Parameters
    ----------
    small
        Whether to draw 5 to 60 operators and up to 12 devices, with constraints for a third.
    """
    rng = np.random.default_rng((seed, number))
    family, kind = ("layered", "series-parallel")[number % 2], QUEUEING[number // 2 % 2]
    least, most = (5, 60) if small else (100, 3_000)
    operators = int(np.exp(rng.uniform(np.log(least), np.log(most))))
    sizes = range(operators, operators + 1)
    graph = sp.Recipe(family, 1, sizes=sizes, seed=int(rng.integers(2**31))).graph(0)
    devices = int(rng.choice(SMALL_COUNTS if small else COUNTS))
    mips = np.full(devices, 4000.0)
    if rng.random() < 0.5:
        mips = -np.sort(-rng.uniform(1500.0, 6000.0, devices))
    batch = int(rng.choice(BATCHES))
    tasks = compiled_pass(
        sp.Problem(graph, sp.Cluster.equal(1, 4000.0), objective=sp.Makespan(batch=batch))
    ).tasks
    per_operator, per_message = tasks.work.mean() / 4e9, tasks.bits.mean()
    mbps = 1e-6 * per_message / (per_operator * 10.0 ** rng.uniform(-1.5, 0.5))
    cluster = sp.Cluster(
        [sp.Device(f"d{d}", float(m)) for d, m in enumerate(mips)],
        sp.Network(kind, bandwidth_mbps=mbps, latency_s=0.001),
    )
    rules = _constraints(graph, cluster, rng) if small and number % 3 == 0 else sp.Constraints()
    aim = sp.Makespan(batch=batch)
    name = f"{family} {operators}, {kind}, {devices} devices"
    return name, sp.Problem(graph, cluster, objective=aim, constraints=rules)


def with_first(problem: sp.Problem, devices: int) -> sp.Problem:
    """Return a problem on the first of its devices."""
    cluster = sp.Cluster(problem.cluster.devices[:devices], problem.cluster.network)
    return problem.with_cluster(cluster)
