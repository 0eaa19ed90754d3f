"""Minimum cuts on two devices: Stone's example, and brute force over random passes."""

from collections import Counter

import numpy as np
import pytest

import streamplace as sp
from streamplace.makespan.total_cost import TotalCost
from streamplace.makespan.two_devices import cheapest_of_two
from streamplace.scoring.registry import evaluator
from tests.support.makespan_problems import (
    constrained_makespan_problem,
    feasible_rows,
    makespan_problem,
    of_total_cost,
)
from tests.support.share import Share


def stones_example() -> sp.Problem:
    """Return the six modules on two processors of Stone (IEEE TSE 1977, figures 1 to 4)."""
    seconds = {"A": (5, 10), "B": (2, None), "C": (4, 4), "D": (6, 3), "E": (5, 2), "F": (None, 4)}
    streams = "AB:6 AC:4 AF:12 BC:8 BD:12 BE:3 CE:11 DE:5"
    graph = sp.StreamGraph(
        [
            sp.Operator(name, 0.0, 0.0, seconds_on={"p1": first, "p2": second})
            for name, (first, second) in seconds.items()
        ],
        [
            sp.Stream(ends[0], ends[1], payload_bytes=float(size))
            for ends, size in (stream.split(":") for stream in streams.split())
        ],
        firing="all",
    )
    network = sp.Network("free", bandwidth_mbps=8e-6, latency_s=0.0)
    devices = [sp.Device("P1", 1, kind="p1"), sp.Device("P2", 1, kind="p2")]
    return sp.Problem(graph, sp.Cluster(devices, network), objective=TotalCost())


def test_stones_example_costs_38() -> None:
    cut = cheapest_of_two(stones_example())
    assert cut is not None
    assert cut.cost_s == pytest.approx(38.0, rel=1e-12)
    assert cut.devices.tolist() == [0, 0, 0, 0, 0, 1]


def check_cuts(seeds: range | list[int]) -> Counter[str]:
    """Compare cuts with brute force; return the numbers of problems with each kind of multicast."""
    compared = Counter[str]()
    for seed in seeds:
        problem = constrained_makespan_problem(seed) if seed % 2 else makespan_problem(seed)
        if problem is None or len(problem.cluster.devices) != 2:
            continue
        problem = of_total_cost(problem, noise=0.0, repeats=1)
        rows = feasible_rows(problem, 20_000)
        if rows is None or not len(rows):
            continue
        cut, costs = cheapest_of_two(problem), evaluator(problem).loss(rows)
        assert cut is not None
        assert cut.cost_s <= costs.min() * (1 + 1e-12), seed
        if problem.feasibility.violation(cut.devices) is None:
            compared[problem.graph.multicast] += 1
            assert cut.cost_s == pytest.approx(costs.min(), rel=1e-12), seed
            assert evaluator(problem).loss(cut.devices)[0] == pytest.approx(costs.min()), seed
    return compared


def test_cuts_are_the_least_costs() -> None:
    compared = check_cuts(range(150))
    assert min(compared[kind] for kind in ("none", "device", "all")) >= 2


@pytest.mark.long
def test_cuts_of_many_problems_are_the_least_costs(share: Share) -> None:
    compared = check_cuts(share.of(range(150, 3000)))
    assert compared.total() > share.least(300)


def test_other_numbers_of_devices_have_no_cut() -> None:
    problem = stones_example()
    third = sp.Cluster([*problem.cluster.devices, sp.Device("P3", 1, kind="p1")])
    assert cheapest_of_two(sp.Problem(problem.graph, third, objective=TotalCost())) is None


def test_it_bounds_every_score() -> None:
    """The execution times alone add up to less, since modules that talk would be apart."""
    problem = stones_example()
    score = evaluator(problem).score(np.array([1, 0, 0, 0, 0, 1]))
    assert score.to_dict()["bound_s"] == pytest.approx(38.0)
