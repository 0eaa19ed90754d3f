"""Items and their order, in particular for graphs of training."""

from itertools import pairwise

import numpy as np

from streamplace import Constraints, Operator, Problem, Stream, StreamGraph
from streamplace.placers.contiguous.precedence import (
    Precedence,
    all_closed_sets,
    orders,
    precedence,
)
from streamplace.scoring.flow import flow
from streamplace.sim.orders import forward_part

PATH = ["a", "b", "c", "loss", "c'", "b'", "a'"]
ORPHAN = ("c'", "scale"), ("scale", "b'")  # an operator of the backward pass alone


def training_problem(*extra: tuple[str, str]) -> Problem:
    """Return a forward pass a, b, c and a backward pass that reads its results."""
    pairs = [*pairwise(PATH), ("a", "a'"), ("b", "b'"), ("c", "c'"), *extra]
    names = list(dict.fromkeys([*PATH, *(end for pair in extra for end in pair)]))
    graph = StreamGraph(
        [Operator(name, 1.0, 1.0) for name in names],
        [Stream(a, b) for a, b in pairs],
        firing="all",
        constraints=Constraints(colocate=[["a", "a'"], ["b", "b'"], ["c", "c'"]]),
    )
    return Problem(graph, "2x1", source_rate=1.0)


def precedence_of(problem: Problem) -> tuple[Precedence, dict[str, int]]:
    made = precedence(flow(problem), problem.feasibility.unit_of)
    return made, dict(zip(problem.graph.names, made.item_of.tolist(), strict=True))


def test_the_forward_part_ends_where_streams_lead_back() -> None:
    problem = training_problem()
    forward = forward_part(flow(problem), problem.feasibility.unit_of)
    ahead = {name for name, one in zip(problem.graph.names, forward, strict=True) if one}
    assert ahead == {"a", "b", "c", "loss"}


def test_units_of_training_follow_the_forward_pass() -> None:
    made, item = precedence_of(training_problem())
    assert len(made) == 4
    assert item["a"] == item["a'"] < item["b"] < item["c"] < item["loss"]
    assert orders(made) == [[item[name] for name in ("a", "b", "c", "loss")]]


def test_operators_of_the_backward_pass_alone_follow_it_in_reverse() -> None:
    _, item = precedence_of(training_problem(*ORPHAN))
    assert item["b"] < item["scale"] < item["c"]


def test_units_that_precede_one_another_are_one_item() -> None:
    graph = StreamGraph(
        [Operator(name, 1.0, 1.0) for name in "abcde"],
        [Stream("a", "b"), Stream("b", "c"), Stream("c", "d"), Stream("a", "e")],
        constraints=Constraints(colocate=[["a", "c"], ["b", "d"]]),
    )
    problem = Problem(graph, "2x1", source_rate=1.0)
    made, item = precedence_of(problem)
    assert sorted(set(made.item_of.tolist())) == list(range(len(made)))
    for before, after in enumerate(made.after):
        assert all(before < one for one in after)
    assert item["a"] == item["c"]
    assert item["b"] == item["d"]


def test_closed_sets_are_those_of_brute_force() -> None:
    """A diamond with a tail: subsets that have all predecessors of their members."""
    before = [[], [0], [0], [1, 2], [], [4]]
    after = [[1, 2], [3], [3], [], [5], []]
    items = Precedence(np.arange(6, dtype=np.int32), before, after)
    expected = sum(
        all(bits >> a & 1 for v in range(6) if bits >> v & 1 for a in before[v])
        for bits in range(2**6)
    )
    lattice = all_closed_sets(items, expected)
    assert lattice is not None
    assert len(lattice.first) - 1 == expected == 18
    assert all_closed_sets(items, expected - 1) is None
    source = np.repeat(np.arange(expected), np.diff(lattice.first))
    assert np.all(source < lattice.to)
    for order in orders(items):
        place = np.argsort(order)
        assert all(place[a] < place[b] for b in range(6) for a in before[b])
