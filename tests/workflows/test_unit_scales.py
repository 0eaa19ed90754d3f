"""Answers that do not depend on the scale of units: no tolerance and no solver's gap is absolute.

Powers of two scale floating-point numbers without rounding, so that answers must be equal, not
close. The least and the largest cost are about 1e-9 and 1e9 times the usual one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from streamplace.problem.network import NetworkKind

SCALES = (-30, -13, 29)  # exponents of 2, besides 0
Answer = tuple[Any, ...]


def graph(scale: float, seed: int, firing: Any = "each") -> sp.StreamGraph:
    """Return a small random graph whose work and payloads are multiplied by a factor."""
    rng = np.random.default_rng(seed)
    names = "abcdef"[: 4 + seed % 3]
    work = 10 ** rng.uniform(-3, 1, len(names))
    streams = [
        sp.Stream(names[rng.integers(w)], names[w], payload_bytes=scale * 1e5 * rng.uniform(0, 2))
        for w in range(1, len(names))
    ]
    operators = [
        sp.Operator(n, scale * 1e6 * c, 0.0) for n, c in zip(names, work.tolist(), strict=True)
    ]
    return sp.StreamGraph(operators, streams, firing=firing)


def cluster(seed: int) -> sp.Cluster:
    kinds: tuple[NetworkKind, ...] = ("pair", "nic", "egress", "free")
    network = sp.Network(kinds[seed % 4], bandwidth_mbps=200.0, latency_s=0.0)
    speeds = (100.0, 100.0, 150.0) if seed % 3 else (100.0, 100.0, 100.0)
    devices = [sp.Device(f"d{i}", mips, price=1.0 + i) for i, mips in enumerate(speeds)]
    return sp.Cluster(devices, network)


def rate(scale: float, seed: int) -> float:
    """Return a source rate that the cluster carries for some seeds and not for others."""
    return (5.0, 15.0, 60.0)[seed % 3] / scale


def placed(placer: str, model: Any) -> Callable[[float, int], Answer]:
    def answer(scale: float, seed: int) -> Answer:
        found = sp.place(
            graph(scale, seed),
            cluster(seed),
            source_rate=rate(scale, seed),
            model=model,
            placer=placer,
        )
        bound = None if found.bound is None else found.bound * scale
        highest = None if found.max_source_rate is None else found.max_source_rate * scale
        return (
            found.placement.assignment,
            found.score.throughput * scale,
            bound,
            highest,
            found.status,
        )

    return answer


def scheduled(placer: str) -> Callable[[float, int], Answer]:
    def answer(scale: float, seed: int) -> Answer:
        found = sp.place(
            graph(scale, seed, "all"), cluster(seed), objective=sp.Makespan(), placer=placer
        )
        assert found.score.bound_s is not None
        bound = found.score.bound_s / scale
        return found.placement.assignment, found.score.makespan_s / scale, bound, found.status

    return answer


def planned(scale: float, seed: int) -> Answer:
    found = sp.plan(
        graph(scale, seed), cluster(seed), source_rate=rate(scale, seed), evaluations=2_000
    )
    rows = [(row.devices, row.max_source_rate * scale, row.bound * scale) for row in found.rows]
    best = found.cheapest
    return rows, None if best is None else (best.devices, best.price, best.bound)


def sized(scale: float, seed: int) -> Answer:
    found = sp.size(
        graph(scale, seed),
        cluster(seed),
        source_rate=10.0 / scale,
        minimise="money",
        evaluations=2_000,
    )
    assert found.placement is not None
    limits = [(limit.operator, limit.cause) for limit in found.limits]
    return found.parallelism, found.money, found.bound, limits, found.placement.assignment


def shared(scale: float, seed: int) -> Answer:
    jobs = [
        sp.Job(name, graph(scale, seed + i), source_rate=rate(scale, seed), priority=i % 2)
        for i, name in enumerate(("x", "y"))
    ]
    found = sp.place_jobs(sp.Jobs(jobs), cluster(seed), placer="auto:evaluations=2000")
    shares = [(job.throughput * scale, job.lost * scale) for job in found.jobs]
    return shares, [p.assignment for p in found.placements.values()]


def moved(scale: float, seed: int) -> Answer:
    """Return the moves that are worth their price, where a byte is worth as much at any scale."""
    plain, share = graph(scale, seed), rate(scale, seed)
    heavy, _ = plain.with_numbers(
        memory_bytes=(scale * 2.0**33 * np.arange(1, 7))[: len(plain.names)]
    )
    problem = sp.Problem(heavy, cluster(seed), source_rate=share)
    old = dict.fromkeys(heavy.names, "d0")
    found = sp.migrate(problem, old, move_cost=2.0**-10 / scale, seconds=5)
    chosen = [(move.operator, move.source, move.target) for move in found.chosen]
    return found.result.placement.assignment, chosen


ANSWERS: dict[str, Callable[[float, int], Answer]] = {
    "auto": placed("auto:evaluations=2000", "bottleneck"),
    "auto, path-average": placed("auto:evaluations=2000", "path-average"),
    "exact": placed("exact", "bottleneck"),
    "exact, path-average": placed("exact", "path-average"),
    "contiguous": placed("contiguous", "bottleneck"),
    "greedy": placed("greedy", "bottleneck"),
    "climb": placed("climb:evaluations=500", "bottleneck"),
    "fuser": placed("fuser", "bottleneck"),
    "auto, makespan": scheduled("auto:evaluations=2000"),
    "exact, makespan": scheduled("exact"),
    "heft": scheduled("heft"),
    "cpop": scheduled("cpop"),
    "peft": scheduled("peft"),
    "critical-path": scheduled("critical-path"),
    "rebuild": scheduled("rebuild"),
    "plan": planned,
    "size": sized,
    "jobs": shared,
    "moves": moved,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_do_not_depend_on_units(name: str) -> None:
    for seed in range(6):
        expected = ANSWERS[name](1.0, seed)
        for exponent in SCALES:
            assert ANSWERS[name](2.0**exponent, seed) == expected, (seed, exponent)
