"""Profiles of Ray actors, from readings with known costs."""

import re

import numpy as np
import pytest

from streamplace.errors import UsageError
from streamplace.integrations.profiling.counters import Counters, Reading
from streamplace.integrations.ray.dashboard import Actor
from streamplace.integrations.ray.profile import Watched, actors_of, fit
from streamplace.problem.graph import Operator, Stream, StreamGraph

GRAPH = StreamGraph(
    [Operator(name, 5.0, 100.0, memory_bytes=64.0) for name in ("a", "b", "c")],
    [Stream("a", "b", 0.1), Stream("a", "c", 0.3), Stream("b", "c", 0.7)],
)
MIPS = 2000.0


def actor(name: str, namespace: str = "pipe") -> Actor:
    return Actor(f"id of {name}", name, namespace, "node")


def readings(count: int = 40, **seconds: float) -> list[Reading]:
    """Return readings of 50 calls of a, 25 of b and 60 of c a second, at CPU seconds per call."""
    calls = {"a": 50.0, "b": 25.0, "c": 60.0}
    return [
        Reading(
            float(t),
            {
                name: Counters(records_in=t * each, busy_ms=1e3 * t * each * seconds[name])
                for name, each in calls.items()
            },
        )
        for t in range(count)
    ]


def watched(rows: list[Reading], instances: int = 1) -> Watched:
    actors = {name: [actor(name)] for name in "ac"}
    return Watched({**actors, "b": [actor(f"b[{i}]") for i in range(instances)]}, rows)


def test_costs_of_calls() -> None:
    found = fit(GRAPH, watched(readings(a=1e-3, b=2e-3, c=4e-3), instances=2), MIPS)
    graph = found.logical.graph
    np.testing.assert_allclose(graph.instructions, [2e6, 4e6, 8e6])
    assert found.source_rate.value == pytest.approx(50.0)
    assert graph.source_rate == pytest.approx(50.0)
    assert found.logical.parallelism == {"b": 2}


def test_what_ray_does_not_count_is_kept() -> None:
    found = fit(GRAPH, watched(readings(a=1e-3, b=2e-3, c=4e-3)), MIPS)
    graph = found.logical.graph
    assert graph.selectivity.tolist() == pytest.approx([0.5, 0.3, 0.7])
    assert graph.payload_bytes.tolist() == [100.0] * 3
    assert graph.memory_bytes.tolist() == [64.0] * 3
    assert "several streams" in found.streams[1].selectivity.why


def test_nothing_is_measured_where_nothing_changes() -> None:
    found = fit(GRAPH, watched(readings(1, a=1e-3, b=1e-3, c=1e-3)), MIPS)
    assert found.intervals == 0
    assert found.source_rate.how == "missing"
    assert found.logical.graph.instructions.tolist() == [5.0] * 3


def test_actors_have_the_names_of_instances() -> None:
    running = [actor(name) for name in ("a", "c", "b[0]", "b[1]", "other")]
    found = actors_of(GRAPH, running, None)
    assert {name: [each.name for each in row] for name, row in found.items()} == {
        "a": ["a"],
        "b": ["b[0]", "b[1]"],
        "c": ["c"],
    }


@pytest.mark.parametrize(
    ("running", "namespace", "fault"),
    [
        ([], None, "no actor runs for 'a', 'b', 'c': name each actor after its operator"),
        ([actor("a"), actor("c")], None, "instances b[0], b[1], …"),
        ([actor(each) for each in "abc"], "other", "in 'other'; namespaces: 'pipe'"),
        ([actor(each) for each in ("a", "b[0]", "b[2]", "c")], None, "actor b[2] runs, but not"),
        ([actor("a", "one"), actor("b", "two")], None, "'one', 'two': choose one"),
    ],
)
def test_actors_that_are_missing(running: list[Actor], namespace: str | None, fault: str) -> None:
    with pytest.raises(UsageError, match=re.escape(fault)):
        actors_of(GRAPH, running, namespace)
