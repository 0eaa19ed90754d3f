"""Measured shares of instances, of any engine; those of Flink are in engines/flink/test_uneven."""

import pytest

from streamplace import StreamGraph
from streamplace.formats.profiling.shares import divided, shares_of
from streamplace.problem.logical import BY_KEY, Distribution, LogicalGraph, MeasuredDistribution

GRAPH = StreamGraph([("a", 1, 1), ("b", 1, 1)], [("a", "b")])


@pytest.mark.parametrize(
    ("tuples", "shares"),
    [([100, 300], (0.25, 0.75)), ([1000, 1090], ()), ([3, 9], ()), ([0, 0], ()), ([], ())],
)
def test_shares_of_instances_that_differ_by_more_than_chance(
    tuples: list[float], shares: tuple[float, ...]
) -> None:
    assert shares_of(tuples) == shares


def test_streams_are_divided_by_measured_shares() -> None:
    parts = {"a": (0.9, 0.1), "b": (0.25, 0.75)}
    job = LogicalGraph(GRAPH, {"a": 2, "b": 2}, {("a", "b"): [BY_KEY]})
    found = divided(job, parts)
    assert found.source_parts == {"a": (0.9, 0.1)}
    assert found.distributions["a", "b"] == [MeasuredDistribution((0.25, 0.75), BY_KEY)]
    assert divided(job, parts, ["b"]).distributions["a", "b"] == [BY_KEY]
    copied = LogicalGraph(GRAPH, {"a": 2, "b": 2}, {("a", "b"): [Distribution.BROADCAST]})
    assert divided(copied, parts).distributions == copied.distributions


def test_shares_of_another_number_of_instances_do_not_count() -> None:
    job = LogicalGraph(GRAPH, {"b": 3})
    assert divided(job, {"a": (0.9, 0.1), "b": (0.25, 0.75)}) is job
