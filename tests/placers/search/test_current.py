"""The current devices of operators, and what it costs to leave them."""

from typing import get_args

import numpy as np
import pytest

from streamplace import Cluster, Device, Network, Operator, Placement, Problem, Stream, StreamGraph
from streamplace.placers.search.current import moving_seconds
from streamplace.placers.search.migrate import Migrate
from streamplace.problem.makespan import Makespan
from streamplace.problem.network import NetworkKind
from streamplace.problem.objective import Throughput
from tests.support.placers import seeded_rng

MEMORY_BYTES = 1e6, 3e6
KINDS = get_args(NetworkKind)


def two_operators(kind: NetworkKind, objective: Throughput | Makespan) -> Problem:
    """Return two operators with state, of which one device carries 5/6, and a link of 8 Mbit/s."""
    operators = [
        Operator(name, 6e5, 1.0, memory_bytes=size)
        for name, size in zip("ab", MEMORY_BYTES, strict=True)
    ]
    cluster = Cluster([Device("x", 1000.0), Device("y", 1000.0)], Network(kind, 8.0))
    return Problem(StreamGraph(operators, [Stream("a", "b")]), cluster, objective=objective)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "objective",
    [Makespan(), Throughput.of(1000.0), Throughput.of(1000.0, target_utilisation=0.5)],
    ids=["makespan", "throughput", "headroom"],
)
def test_a_mean_link_carries_the_memory(
    kind: NetworkKind, objective: Throughput | Makespan
) -> None:
    """8 Mbit/s are 1e6 bytes/s, whatever streams load and whatever share of it they may use."""
    assert moving_seconds(two_operators(kind, objective)).tolist() == [1.0, 3.0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("price", "moves"), [(0.1, 1), (0.2, 0)])
def test_a_move_is_made_only_if_its_gain_pays_for_its_seconds(
    kind: NetworkKind, price: float, moves: int
) -> None:
    """Apart, the operators carry a sixth more, and to send the smaller memory takes a second."""
    problem = two_operators(kind, Throughput.of(1000.0))
    old = Placement(problem, [0, 0])
    new = Migrate(old, move_cost=price, evaluations=1000)(problem, seeded_rng())
    assert np.flatnonzero(new.devices != old.devices).tolist() == [0] * moves
