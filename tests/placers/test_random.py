"""The placer `random`: the distribution of its placements."""

import numpy as np
import pytest

from streamplace import Cluster, Constraints, Problem
from streamplace.placers.registry import make_placer
from streamplace.util.arrays import Bools, Ints
from tests.support.graphs import chain_graph

DRAWS = 4000
ERRORS = 4.5  # standard errors
CLUSTER = Cluster.equal(5)
ALLOWED = {"a": ["d1", "d3", "d4"], "b": ["d1", "d3", "d4"], "c": ["d0", "d2"]}


def drawn(constraints: Constraints) -> Ints:
    """Return many random placements of operators a, b, c and d, (4000, 4)."""
    graph = chain_graph(1e5, 2e5, 3e5, 4e5)
    problem = Problem(graph, CLUSTER, source_rate=1000.0, constraints=constraints)
    placer, rng = make_placer("random"), np.random.default_rng(5)
    return np.array([placer(problem, rng).devices for _ in range(DRAWS)])


def check_share(found: Bools, expected: float) -> None:
    error = np.sqrt(expected * (1 - expected) / DRAWS)
    assert np.mean(found) == pytest.approx(expected, abs=ERRORS * error)


@pytest.mark.parametrize("allowed", [{}, ALLOWED], ids=["free", "labels"])
def test_operators_are_drawn_independently_from_their_devices(
    allowed: dict[str, list[str]],
) -> None:
    """Operators were once put on the least loaded device if they could not run where drawn."""
    found = drawn(Constraints(allowed=allowed))
    choices = [3, 3, 2, 5] if allowed else [5] * 4
    for v, count in enumerate(choices):
        for device in np.unique(found[:, v]):
            check_share(found[:, v] == device, 1 / count)
        assert len(np.unique(found[:, v])) == count
    check_share(found[:, 0] == found[:, 1], 1 / choices[0])


def test_colocated_operators_are_drawn_together() -> None:
    found = drawn(Constraints(colocate=[["a", "c"]]))
    assert (found[:, 0] == found[:, 2]).all()
    for device in range(5):
        check_share(found[:, 0] == device, 1 / 5)


def test_operators_that_must_be_apart_are_drawn_among_the_other_devices() -> None:
    found = drawn(Constraints(exlocate=[["a", "b"]]))
    assert (found[:, 0] != found[:, 1]).all()
    for v in (0, 1):
        for device in range(5):
            check_share(found[:, v] == device, 1 / 5)
