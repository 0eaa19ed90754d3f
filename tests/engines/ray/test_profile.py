"""Profiles of Ray actors, from readings with known costs."""

import json
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from streamplace.engines.ray.dashboard import Actor, Dashboard
from streamplace.engines.ray.profile import Watched, actors_of, fit, watch
from streamplace.errors import UsageError
from streamplace.formats.profiling.counters import Counters, Reading
from streamplace.formats.profiling.rest import Server
from streamplace.problem.expansion import to_instances
from streamplace.problem.graph import Operator, Stream, StreamGraph
from tests.corpus.engine_documents.ray import DETAIL
from tests.support.flink_api import serving
from tests.support.guards import hang_guard
from tests.support.http_server import Answer

GRAPH = StreamGraph(
    [Operator(name, 5.0, 100.0, memory_bytes=64.0) for name in ("a", "b", "c")],
    [Stream("a", "b", 0.1), Stream("a", "c", 0.3), Stream("b", "c", 0.7)],
)
MIPS = 2000.0


def actor(name: str, namespace: str = "pipe") -> Actor:
    return Actor(name, name, namespace, "node")


def readings(count: int = 40, **seconds: float) -> list[Reading]:
    """Return readings of 50 calls of a, 25 of b and 60 of c a second, at CPU seconds per call."""
    calls = {"a": 50.0, "b[0]": 5.0, "b[1]": 20.0, "c": 60.0}
    return [
        Reading(
            float(t),
            {
                name: Counters(records_in=t * each, cpu_ms=1e3 * t * each * seconds[name[0]])
                for name, each in calls.items()
            },
        )
        for t in range(count)
    ]


def watched(rows: list[Reading]) -> Watched:
    actors = {"a": [actor("a")], "b": [actor("b[0]"), actor("b[1]")], "c": [actor("c")]}
    return Watched(actors, readings=rows)


def test_costs_of_calls() -> None:
    found = fit(GRAPH, watched(readings(a=1e-3, b=2e-3, c=4e-3)), MIPS)
    graph = found.logical.graph
    np.testing.assert_allclose(graph.instructions, [2e6, 4e6, 8e6])
    assert found.source_rate.value == pytest.approx(50.0)
    assert graph.source_rate == pytest.approx(50.0)
    assert found.logical.parallelism == {"b": 2}


def test_uneven_actors_keep_their_shares() -> None:
    """b[0] executes 5 of 25 calls a second; the actors of an even operator have no shares."""
    found = fit(GRAPH, watched(readings(a=1e-3, b=2e-3, c=4e-3)), MIPS).logical
    assert found.measured_shares == {"b": pytest.approx((0.2, 0.8))}
    graph = to_instances(found)
    into = [each.selectivity for each in graph.streams if each.target.startswith("b[")]
    assert into == pytest.approx([0.5 * 0.2, 0.5 * 0.8])


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


@pytest.mark.parametrize("first", ["records_in", "cpu_ms"])
def test_readings_before_an_actor_restarted_are_left_out(first: str) -> None:
    """Also where the dashboard hears of one counter later, and where the others hide the fall."""
    rows = readings(a=1e-3, b=2e-3, c=4e-3)
    for t, row in enumerate(rows):
        counted = row.vertices["b[0]"]
        fresh = {name: value - 15.0 for name, value in vars(counted).items() if value is not None}
        kept = {first: fresh[first]} if t == 20 else fresh
        changed = {"b[0]": replace(counted, **kept)} if t >= 20 else {}
        rows[t] = replace(row, vertices={**row.vertices, **changed})
    found = fit(GRAPH, watched(rows), MIPS)
    np.testing.assert_allclose(found.logical.graph.instructions, [2e6, 4e6, 8e6])
    assert found.intervals < 20


def test_what_is_not_read_in_time_is_left_out() -> None:
    """The dashboard answers twice about each actor, and then never."""
    asked = Counter[str]()

    def answer(path: str, query: str) -> Answer | None:
        asked[path] += 1
        return None if asked[path] > 2 else (200, json.dumps(DETAIL).encode())

    actors = {name: [actor(name)] for name in "abc"}
    with serving(answer) as url, hang_guard():
        silent = watch(Dashboard(Server(url), 600.0), actors, 1.0, every_s=0.01)
    assert (silent.fault, len(silent.readings)) == ("", 2)
    with serving(lambda path, query: None) as url, hang_guard():
        silent = watch(Dashboard(Server(url), 600.0), actors, 0.1)
    assert "no answer to /logical/actors/a within" in silent.fault


def test_a_time_that_ends_before_all_actors_were_read_is_no_fault_of_the_dashboard() -> None:
    """It answers about each actor at once, but about the last one later than the time."""

    def answer(path: str, query: str) -> Answer | None:
        return None if path.endswith("/c") else (200, json.dumps(DETAIL).encode())

    actors = {name: [actor(name)] for name in "abc"}
    with serving(answer) as url, hang_guard():
        found = watch(Dashboard(Server(url), 600.0), actors, 0.5)
        silent = watch(Dashboard(Server(url), 0.1), actors, 600.0)
    over = "the time was over when 2 of 3 actors had been read; increase --seconds"
    assert (found.fault, found.readings) == (f"{url}: {over}", [])
    assert "no answer to /logical/actors/c within 0.1 s" in silent.fault


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
