"""Numbers of instances and of key groups, from the document of a job."""

from typing import Any

import pytest

from streamplace.engines.flink.key_groups import as_running, counts_in, stated_most, with_limits
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.logical import KeyedDistribution, LogicalGraph
from streamplace.problem.parallelism import FLINK

GRAPH = StreamGraph(
    [Operator("read", 1, 1), Operator("map", 1, 1), Operator("count", 1, 1, partitions=FLINK)],
    [Stream("read", "map"), Stream("map", "count", partitioning="hash")],
)


@pytest.mark.parametrize(
    ("details", "most"),
    [
        ({}, {}),
        ({"vertices": None}, {}),
        ({"vertices": [{"id": "a", "maxParallelism": -1}, 3, {"maxParallelism": 4}]}, {}),
        ({"vertices": [{"id": "a", "maxParallelism": 85}]}, {"a": 85}),
        ({"vertices": [{"id": "a", "maxParallelism": -1}], "maxParallelism": 7}, {"a": 7}),
        ({"vertices": [{"id": "a", "maxParallelism": 8}], "maxParallelism": 7}, {"a": 8}),
        ({"vertices": [{"id": "a", "maxParallelism": True}], "maxParallelism": "7"}, {}),
    ],
)
def test_maximum_parallelisms_in_the_document_of_a_job(
    details: dict[str, Any], most: dict[str, int]
) -> None:
    assert stated_most(details) == most


def test_numbers_of_instances_in_the_document_of_a_job() -> None:
    rows = [{"id": "a", "parallelism": 3}, {"id": "b", "parallelism": -1}, {"id": "c"}]
    assert counts_in({"vertices": rows, "parallelism": 9}) == {"a": 3}


def test_stated_numbers_replace_the_default_only() -> None:
    by_default, stated = KeyedDistribution(FLINK), KeyedDistribution(64)
    logical = LogicalGraph(
        StreamGraph([Operator("a", 1, 1), Operator("b", 1, 1)], [Stream("a", "b")] * 2),
        {"b": 3},
        {("a", "b"): [by_default, stated]},
    )
    found = with_limits(logical, {"b": 128, "a": 7})
    assert found.distributions["a", "b"] == [KeyedDistribution(128), stated]
    assert found.max_parallelism == {"a": 7, "b": 128}
    again = with_limits(found, {"b": 256})
    assert again.max_parallelism["b"] == 128


def test_a_running_job_keeps_its_key_groups() -> None:
    """They belong to its state, whatever the graph says or the default would be."""
    found = as_running(GRAPH, {"map": 90, "count": 128, "other": 5})
    assert (found.partitions, found.max_parallelism) == ({2: 128}, {1: 90})
    less = as_running(GRAPH.with_numbers(max_parallelism={1: 4})[0], {"map": 90})
    assert (less.partitions, less.max_parallelism) == ({2: FLINK}, {1: 4})
