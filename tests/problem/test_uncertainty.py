"""Uncertain numbers of graphs, and the distribution of their draws."""

import numpy as np
import pytest

from streamplace import Operator, Stream, StreamGraph
from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.operators import UNKNOWN
from streamplace.problem.uncertainty import UncertainNumber, Uncertainty
from tests.support.placers import seeded_rng

GRAPH = StreamGraph(
    [
        Operator("a", 100.0, 10.0, instructions_se=30.0, payload_bytes_se=4.0),
        Operator("b", 50.0, 0.0),
        Operator("c", 80.0, 0.0, instructions_se=8.0),
    ],
    [Stream("a", "b", 2.0, selectivity_se=0.5), Stream("b", "c")],
)
DRAWS = 200_000


def test_the_uncertain_numbers_are_those_with_errors() -> None:
    assert Uncertainty.of(GRAPH).numbers == (
        UncertainNumber("instructions", "a"),
        UncertainNumber("instructions", "c"),
        UncertainNumber("payload_bytes", "a"),
        UncertainNumber("selectivity", "a->b"),
    )


def test_draws_have_the_stated_mean_and_standard_error() -> None:
    found = Uncertainty.of(GRAPH)
    factors = found.factors(found.normals(seeded_rng(), DRAWS))
    for values, errors, drawn in (
        (GRAPH.instructions, GRAPH.instructions_se, factors.instructions),
        (GRAPH.payload_bytes, GRAPH.payload_bytes_se, factors.payload_bytes),
        (GRAPH.selectivity, GRAPH.selectivity_se, factors.selectivity),
    ):
        assert (drawn > 0).all()
        costs = drawn * values
        assert costs.mean(axis=0) == pytest.approx(values, rel=0.005)
        assert costs.std(axis=0) == pytest.approx(errors, rel=0.02)
        assert (drawn[:, errors == 0] == 1.0).all()


def test_different_numbers_are_independent() -> None:
    found = Uncertainty.of(GRAPH)
    correlation = np.corrcoef(found.normals(seeded_rng(), DRAWS).T)
    assert np.abs(correlation - np.eye(4)).max() < 0.01


def test_instances_and_the_streams_between_them_share_their_draws() -> None:
    expanded = to_instances(LogicalGraph(GRAPH, {"a": 2, "b": 3}))
    found = Uncertainty.of(expanded)
    assert found.numbers == Uncertainty.of(GRAPH).numbers
    factors = found.factors(found.normals(seeded_rng(), 50))
    of_a = [expanded.index["a[0]"], expanded.index["a[1]"]]
    assert (np.ptp(factors.instructions[:, of_a], axis=1) == 0).all()
    assert factors.instructions[:, of_a[0]].std() > 0.1
    from_a = np.flatnonzero(np.isin(expanded.stream_source, of_a))
    assert len(from_a) == 6
    assert np.ptp(factors.selectivity[:, from_a], axis=1).max() < 1e-12
    assert factors.selectivity[:, from_a[0]].std() > 0.1


def test_parallel_streams_are_separate_numbers() -> None:
    streams = [Stream("a", "b", 1.0, selectivity_se=0.1), Stream("a", "b", 2.0, selectivity_se=0.4)]
    graph = StreamGraph([("a", 1, 1), ("b", 1, 1)], streams)
    assert [number.name for number in Uncertainty.of(graph)] == ["a->b", "a->b"]
    expanded = to_instances(LogicalGraph(graph, {"b": 2}))
    assert len(Uncertainty.of(expanded)) == 2


def test_errors_of_numbers_that_are_zero_or_unknown_do_not_count() -> None:
    rows = [
        Operator("a", 0.0, UNKNOWN, instructions_se=1.0, payload_bytes_se=1.0),
        Operator("b", UNKNOWN, 0.0, instructions_se=1.0),
    ]
    graph = StreamGraph(rows, [Stream("a", "b", 0.0, selectivity_se=1.0)])
    found = Uncertainty.of(graph)
    assert len(found) == 0
    factors = found.factors(found.normals(seeded_rng(), 3))
    assert all((factor == 1.0).all() for factor in factors)
