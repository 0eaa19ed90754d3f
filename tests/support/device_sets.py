"""Random problems of choosing devices by price, and their solution by brute force."""

from itertools import combinations

import numpy as np

from streamplace import (
    Cluster,
    Constraints,
    Device,
    LinkOverride,
    Network,
    Operator,
    Problem,
    Stream,
    StreamGraph,
)
from streamplace.placers.search.balance import CARRIED
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.problem.cluster import Uplink
from streamplace.scoring.throughput import throughput_where_scored
from streamplace.util.arrays import Floats
from tests.support.graphs import chain_graph

GRAPH = chain_graph(4e5, 5e5, 7e5, 8e5, 1e5, payload_bytes=2e4)  # 2,500 MIPS at 1,000 tuples/s
DEVICES = (
    Device("a1", 2000.0, group="a", price=5.0),
    Device("a2", 1500.0, group="a", price=2.0),
    Device("b1", 1500.0, group="b", price=3.0),
    Device("b2", 1000.0, group="b", price=1.0),
)
RACKS = Cluster(DEVICES, Network("nic", 1000.0))


def random_priced_problem(seed: int) -> Problem:
    """Return a small problem with prices, and often with racks, memory or constraints.

    Raises
    ------
    InfeasibleError
        If its constraints allow no placement.
    """
    rng = np.random.default_rng(seed)
    count, devices = int(rng.integers(2, 7)), int(rng.integers(2, 6))
    names, hosts = [f"o{v}" for v in range(count)], [f"d{d}" for d in range(devices)]
    graph = _graph(rng, names)
    racks = rng.random() < 0.5
    kinds = rng.integers(0, 3, devices)  # few kinds, so that some devices are interchangeable
    speeds, prices = rng.choice([1000.0, 1500.0, 2000.0, 4000.0], 3), _prices(rng)
    cluster = Cluster(
        [
            Device(
                name,
                float(speeds[kind]),
                cores=1 + int(kind == 2),
                memory_bytes=float(rng.integers(10, 40)) if rng.random() < 0.3 else None,
                labels=("gpu",) if kind > 0 else (),
                group=f"rack{d % 2}" if racks else None,
                price=float(prices[kind]),
            )
            for d, (name, kind) in enumerate(zip(hosts, kinds, strict=True))
        ],
        _network(rng, hosts, racks=racks),
    )
    rules = Constraints(
        pins={names[0]: str(rng.choice(hosts))} if rng.random() < 0.2 else {},
        allowed={names[-1]: rng.choice(hosts, 2).tolist()} if rng.random() < 0.3 else {},
        colocate=[names[:2]] if rng.random() < 0.2 else [],
        exlocate=[names[-2:]] if rng.random() < 0.3 else [],
        apart_groups=[names[:1] + names[-1:]] if racks and rng.random() < 0.2 else [],
    )
    return Problem(
        graph,
        cluster,
        source_rate=float(rng.choice([500.0, 1000.0, 2000.0, 3000.0])),
        constraints=rules,
        model="path-average" if rng.random() < 0.3 else "bottleneck",
        target_utilisation=float(rng.choice([0.7, 1.0])),
    )


def cheapest_prices(problem: Problem, most_lost: int) -> list[float | None]:
    """Return the price of the cheapest set that keeps up after 0, 1, … losses; None: no set does.

    All placements are scored, and all sets of devices are tried. Devices with pins are not lost.
    """
    devices = problem.cluster.devices
    kept = frozenset(problem.cluster.index[d] for d in problem.constraints.pins.values())
    rows = feasible_rows(problem, most=10**6)
    assert rows is not None
    carrying = rows[throughput_where_scored(problem, rows) >= CARRIED * problem.source_rate]
    enough = {frozenset(row.tolist()) for row in carrying}
    sets = [
        frozenset(s) for n in range(len(devices) + 1) for s in combinations(range(len(devices)), n)
    ]
    carries = {one: any(used <= one for used in enough) for one in sets}
    found: list[float | None] = []
    for lost in range(most_lost + 1):
        survivors = [
            one
            for one in sets
            if all(
                carries[one - {*gone}]
                for gone in combinations(one - kept, min(lost, len(one - kept)))
            )
        ]
        prices = [sum(devices[d].price or 0.0 for d in one) for one in survivors]
        found.append(min(prices, default=None))
    return found


def _graph(rng: np.random.Generator, names: list[str]) -> StreamGraph:
    operators = [
        Operator(
            name,
            float(rng.integers(1, 10)) * 1e5,
            float(rng.choice([10.0, 1e3, 5e3])),
            float(rng.integers(0, 12)),
            requires=("gpu",) if rng.random() < 0.1 else (),
            cores=int(rng.integers(1, 3)),
        )
        for name in names
    ]
    streams = [
        Stream(names[int(rng.integers(0, v))], names[v], float(rng.choice([0.5, 1.0])))
        for v in range(1, len(names))
    ]
    return StreamGraph(operators, streams)


def _prices(rng: np.random.Generator) -> Floats:
    if rng.random() < 0.3:
        return np.ones(3)
    return rng.choice([0.0, 0.1, 0.7, 1.0, 2.0, 2.5, 4.0, 1e-3], 3)


def _network(rng: np.random.Generator, hosts: list[str], *, racks: bool) -> Network:
    slow = float(rng.choice([5.0, 20.0]))
    if rng.random() < 0.5:
        override = [LinkOverride(hosts[0], None, slow)] if rng.random() < 0.4 else []
        uplinks = [Uplink("rack0", float(rng.choice([5.0, 30.0])))] if racks else []
        return Network("nic", 50.0, gap_s=1e-5, overrides=tuple(override), uplinks=tuple(uplinks))
    override = [LinkOverride(hosts[0], hosts[1], slow)] if rng.random() < 0.4 else []
    uplinks = [Uplink("rack1", 20.0, 10.0)] if racks else []
    overhead = float(rng.choice([0.0, 1e-4]))
    return Network(
        "pair", 50.0, overhead_s=overhead, overrides=tuple(override), uplinks=tuple(uplinks)
    )
