"""`auto` against every other placer at equal evaluations, on problems of all families.

    python -m benchmarks.makespans.auto [--problems 500] [--evaluations 20000]

Each problem is drawn from one of the families, on a cluster with one of the kinds of network and,
where the family has none, two to eight unequal devices; a third have constraints. Placers that take
a number of evaluations get that of `auto`; the others need less time. A row counts the problems on
which `auto` is as good, up to rounding, and shows the largest ratio.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import streamplace as sp
from benchmarks.makespans.problems import layered_problem
from streamplace.errors import PlacementError
from streamplace.placers.registry import ready_placer
from streamplace.placers.warmup import scoring_of
from streamplace.problem.network import NetworkKind
from streamplace.scoring.makespan_evaluator import MakespanEvaluator

ROUNDING = 1 + 1e-9
KINDS: tuple[NetworkKind, ...] = ("free", "egress", "pair", "nic")
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
LIMITED = ("search", "climb", "random")
OTHERS = (
    "single",
    "heft",
    "heft:contention",
    "peft",
    "cpop",
    "critical-path:samples=50",
    "random-eft:samples=50",
    "enumerative",
    "metis-oracle",
    "round-robin",
)


def main() -> None:
    """Print one row per rival of `auto`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--evaluations", type=int, default=20_000)
    options = parser.parse_args()
    limit = f"evaluations={options.evaluations}"
    rivals = [*(f"{name}:{limit}" for name in LIMITED), *OTHERS]
    good, tried = defaultdict[str, int](int), defaultdict[str, int](int)
    worst = dict[str, tuple[float, str]]()
    begun, best_of_all = time.monotonic(), 0
    for number, (name, problem) in enumerate(problems(options.problems)):
        own = _makespan(problem, f"auto:{limit}")
        beaten = False
        for rival in rivals:
            other = _makespan(problem, rival)
            if other is None or own is None:
                continue
            tried[rival] += 1
            if own <= other * ROUNDING:
                good[rival] += 1
            else:
                beaten = True
                case = own / other, f"on {name} (problem {number})"
                worst[rival] = max(worst.get(rival, case), case)
        best_of_all += not beaten
        if number % 50 == 49:
            print(f"  {number + 1} problems, {time.monotonic() - begun:.0f} s", flush=True)
    for rival in rivals:
        excess, where = worst.get(rival, (1.0, ""))
        print(f"{rival:28}{good[rival]:5} of {tried[rival]:5}  {excess:.4f} {where}")
    print(f"as good as every rival: {best_of_all} of {options.problems}")


def problems(count: int) -> Iterator[tuple[str, sp.Problem]]:
    """Return problems of all families in turn, on networks of all kinds."""
    for number in range(count):
        family = FAMILIES[number % len(FAMILIES)]
        kind = KINDS[number // len(FAMILIES) % len(KINDS)]
        problem = _problem(family, number)
        network = replace(problem.cluster.network, kind=kind)
        if kind == "nic":
            network = replace(network, overrides=())
        cluster = sp.Cluster(problem.cluster.devices, network)
        rules = sp.Constraints() if number % 3 else _constraints(problem.graph, cluster, number)
        yield (
            f"{family}, {kind}",
            sp.Problem(problem.graph, cluster, objective=sp.Makespan(), constraints=rules),
        )


def _constraints(graph: sp.StreamGraph, cluster: sp.Cluster, seed: int) -> sp.Constraints:
    """Return a pin, a pair of operators on one device and a pair on two, where that is possible."""
    if graph.requires or len(graph.names) < 5 or len(cluster.devices) < 3:
        return sp.Constraints()
    drawn = np.random.default_rng(seed).permutation(len(graph.names))[:5]
    a, b, c, d, e = (graph.names[v] for v in drawn)
    return sp.Constraints({a: cluster.names[0]}, [[b, c]], [[d, e]])


def _problem(family: str, number: int) -> sp.Problem:
    rng = np.random.default_rng(number)
    if family.startswith("layered"):
        operators = int(rng.integers(8, 40) if family.endswith("small") else rng.integers(100, 400))
        ratio = float(rng.choice([0.1, 0.3, 1.0, 3.0]))
        return layered_problem(operators, int(rng.integers(2, 9)), number, ratio)
    text = f"{family}:shards={rng.integers(2, 5)}" if family in SHARDED else family
    recipe = sp.Recipe(text, 1, seed=number)
    graph = recipe.graph(0)
    cluster = recipe.cluster(0) if family.startswith("giph") else None
    if cluster is None:
        cluster = _cluster(graph, rng)
    return sp.Problem(graph, cluster, objective=sp.Makespan())


SHARDED = ("chain-mm", "ffnn", "transformer-block", "transformer-layer")


def _cluster(graph: sp.StreamGraph, rng: np.random.Generator) -> sp.Cluster:
    """Return unequal devices and a bandwidth that makes communication matter for the graph."""
    speed = float(graph.instructions.mean()) / 1e6 or 1.0  # about 1 s per operator
    mips = rng.uniform(0.5, 2.0, int(rng.integers(2, 9))) * speed
    ratio = float(rng.choice([0.1, 0.3, 1.0, 3.0]))
    mbps = 8e-6 * float(graph.stream_payload_bytes.mean()) / ratio or None
    network = sp.Network("free", bandwidth_mbps=mbps, latency_s=0.01)
    return sp.Cluster([sp.Device(f"d{d}", float(m)) for d, m in enumerate(mips)], network)


def _makespan(problem: sp.Problem, name: str) -> float | None:
    placer = ready_placer(name, scoring_of(problem))
    try:
        devices = placer(problem, np.random.default_rng(0)).devices
    except PlacementError:
        return None
    return float(MakespanEvaluator(problem).makespans(devices)[0])


if __name__ == "__main__":
    main()
