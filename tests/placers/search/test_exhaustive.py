"""Exhaustive search, with and without placements that differ by exchanges of equal devices."""

import numpy as np
import pytest

from benchmarks.reference.random_problems import random_problem
from streamplace import Cluster, Constraints, Device, Problem
from streamplace.placers.search.exhaustive import feasible_rows
from streamplace.problem.symmetry import interchangeable, relabel
from streamplace.util.arrays import Ints
from tests.support.graphs import chain_graph


def classes(problem: Problem, rows: Ints) -> list[tuple[int, ...]]:
    """Return one placement of the class of each row: those that exchanges of devices reach."""
    kinds = [
        (kind, device.group, device.price)
        for kind, device in zip(
            interchangeable(problem).tolist(), problem.cluster.devices, strict=True
        )
    ]
    kind = np.array([kinds.index(each) for each in kinds], dtype=np.int32)
    order = np.arange(rows.shape[1], dtype=np.int32)
    return [tuple(relabel(row, kind, order).tolist()) for row in rows]


def check(problem: Problem) -> tuple[int, int]:
    """Check that each class has one distinct row; return the numbers of all and of distinct."""
    every, distinct = feasible_rows(problem), feasible_rows(problem, distinct=True)
    assert every is not None
    assert distinct is not None
    found = classes(problem, distinct)
    assert len(set(found)) == len(found)
    assert set(found) == set(classes(problem, every))
    return len(every), len(distinct)


GRAPH = chain_graph(*6 * [1e5])


def test_equal_devices_are_tried_in_one_order() -> None:
    assert check(Problem(GRAPH, Cluster.equal(3, mips=2500))) == (729, 122)  # 1 + 31 + 90


def test_prices_and_groups_make_devices_differ() -> None:
    devices = [
        Device(f"d{i}", 2500, price=price, group=group)
        for i, (price, group) in enumerate([(1, "a"), (1, "a"), (2, "a"), (1, "b")])
    ]
    every, distinct = check(Problem(GRAPH, Cluster(devices)))
    assert every == 4**6
    assert distinct == (4**6 + 2**6) // 2  # only the first two can be exchanged


@pytest.mark.parametrize(
    "constraints",
    [
        Constraints(pins={"b": "d1"}),
        Constraints(exlocate=[("a", "d")]),
        Constraints(allowed={"c": ["d0"]}),
    ],
)
def test_constraints_hold(constraints: Constraints) -> None:
    problem = Problem(GRAPH, Cluster.equal(3, mips=2500), constraints=constraints)
    every, distinct = check(problem)
    assert distinct < every


def test_random_problems() -> None:
    for seed in range(40):
        check(random_problem(seed, "bottleneck", 3000))
