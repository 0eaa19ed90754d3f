"""The placers `greedy`, on graphs small enough to follow by hand, and `random`."""

import numpy as np
import pytest

from streamplace import Cluster, Constraints, Network, Operator, Problem, Stream, StreamGraph
from streamplace.placers.registry import make_placer
from streamplace.util.arrays import Bools, Ints
from tests.support.graphs import chain_graph, lettered_graph
from tests.support.placers import seeded_rng


def test_greedy_puts_each_operator_where_the_bottleneck_stays_lowest() -> None:
    # at 1,000 tuples/s on 1,000 MIPS a takes .6, b .5 and c .3 of a device; streams weigh little
    problem = Problem(chain_graph(6e5, 5e5, 3e5), Cluster.equal(2, mips=1000.0))
    assert make_placer("greedy")(problem, seeded_rng()).devices.tolist() == [0, 1, 1]


@pytest.mark.parametrize("kind", ["pair", "nic"])
def test_greedy_accounts_for_links(kind: str) -> None:
    # apart, the stream loads the link to 4; together, the operators load the device to 1.2
    network = Network(kind=kind, bandwidth_mbps=1.0)  # type: ignore[arg-type]
    graph = StreamGraph(
        [Operator("a", 6e5, 500.0), Operator("b", 6e5, 0.0)], [Stream("a", "b")], source_rate=1e3
    )
    problem = Problem(graph, Cluster.equal(2, mips=1000.0, network=network))
    assert make_placer("greedy")(problem, seeded_rng()).devices.tolist() == [0, 0]


def test_a_join_can_be_placed_before_its_branches() -> None:
    """Sources first, a and b balance their devices; sinks first, they follow the heavy streams."""
    graph = lettered_graph(
        "ac bc", {"a": 3e5, "b": 3e5, "c": 2e5}, {"a": 500.0, "b": 500.0, "c": 0.0}
    )
    network = Network(bandwidth_mbps=4.0)
    problem = Problem(graph, Cluster.equal(2, mips=1000.0, network=network), source_rate=2e3)
    forward, backward = (
        make_placer(f"greedy:order={order}")(problem, seeded_rng()).devices.tolist()
        for order in ("topo-level", "reversed-topo-level")
    )
    assert forward == [0, 1, 0]
    assert backward == [0, 0, 0]


def test_random_orders_are_drawn_from_the_generator() -> None:
    problem = Problem(chain_graph(*range(100_000, 1_300_000, 100_000)), Cluster.equal(4))
    placer, rng = make_placer("greedy:order=random"), seeded_rng()
    drawn = [placer(problem, rng).devices.tolist() for _ in range(5)]
    assert drawn[0] == placer(problem, seeded_rng()).devices.tolist()
    assert any(one != drawn[0] for one in drawn)


def test_round_robin_counts_operators_in_the_order() -> None:
    graph = lettered_graph("ab bc cd", names="dacb")
    problem = Problem(graph, Cluster.equal(2), source_rate=1.0)
    assert make_placer("round-robin")(problem, seeded_rng()).devices.tolist() == [0, 1, 0, 1]
    forward = make_placer("round-robin:order=topo-level")(problem, seeded_rng()).devices
    assert dict(zip(graph.names, forward.tolist(), strict=True)) == {"a": 0, "b": 1, "c": 0, "d": 1}


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
