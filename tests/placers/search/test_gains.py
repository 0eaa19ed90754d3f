"""Which of two placements is better, by the objective and by what is preferred."""

import numpy as np
import pytest

import streamplace as sp
from streamplace.placers.search.balance import Prefer
from streamplace.placers.search.gains import better_by
from streamplace.util.arrays import Ints


def problem(rate: float = 100.0) -> sp.Problem:
    """Return four equal operators in a chain on three devices, which each can run all of them."""
    operators = [sp.Operator(f"o{i}", 1e6, 100.0) for i in range(4)]
    streams = [(f"o{i}", f"o{i + 1}") for i in range(3)]
    return sp.Problem(sp.StreamGraph(operators, streams), "3x400", source_rate=rate)


def row(*devices: int) -> Ints:
    return np.array(devices, np.int32)


ONE, TWO, CROSSED, THREE = row(0, 0, 0, 0), row(0, 0, 1, 1), row(0, 1, 0, 1), row(0, 0, 1, 2)


@pytest.mark.parametrize(
    ("prefer", "ranked"),
    [
        (None, [[ONE, TWO, CROSSED, THREE]]),
        ("fewest", [[ONE], [TWO], [CROSSED], [THREE]]),
        ("balance", [[THREE], [TWO], [CROSSED], [ONE]]),
    ],
)
def test_a_preference_decides_where_everything_is_carried(
    prefer: Prefer | None, ranked: list[list[Ints]]
) -> None:
    better = better_by(problem(), prefer)
    rank = [(i, each) for i, several in enumerate(ranked) for each in several]
    for i, first in rank:
        for j, second in rank:
            assert better(first, second) == (i < j), (first, second)


@pytest.mark.parametrize("prefer", [None, "fewest", "balance"])
def test_more_throughput_is_better_than_fewer_devices(prefer: Prefer | None) -> None:
    better = better_by(problem(rate=150.0), prefer)
    assert better(TWO, ONE)
    assert not better(ONE, TWO)


@pytest.mark.parametrize(("share", "is_better"), [(1e-9, False), (1e-3, True)])
def test_a_millionth_of_a_makespan_counts_as_nothing(share: float, is_better: bool) -> None:
    graph = sp.StreamGraph([sp.Operator("a", 1e6, 1.0), sp.Operator("b", 1e6, 1.0)], [("a", "b")])
    devices = [sp.Device("d0", 1000.0), sp.Device("d1", 1000.0 * (1 + share))]
    passes = sp.Problem(graph, sp.Cluster(devices), objective=sp.Makespan())
    better = better_by(passes, None)
    assert better(row(1, 1), row(0, 0)) == is_better
    assert not better(row(0, 0), row(1, 1))
