"""Tuples sent to operators, on streams that Flink's counters do and do not determine."""

from typing import Any

from streamplace.control.flink.measuring import Window
from streamplace.control.flink.sampling import Sample
from streamplace.integrations.flink.documents import Subtask
from streamplace.integrations.flink.plan import running
from streamplace.integrations.profiling.counters import Counters
from tests.support.flink_watching import running_job


def node(name: str, *inputs: str, by: str = "HASH", parallelism: int = 1) -> dict[str, Any]:
    streams = [{"id": each, "ship_strategy": by} for each in inputs]
    return {"id": name, "parallelism": parallelism, "description": name, "inputs": streams}


def found(*nodes: dict[str, Any], **sent: float | None) -> dict[str, float]:
    """Return the arrivals of a job whose vertices sent these tuples, after 50 each of before."""
    plan = running({"name": "x", "nodes": list(nodes)}, "plan")

    def sample(at_s: float, counts: dict[str, float | None]) -> Sample:
        rows = {
            vertex.id: tuple(
                Subtask("t", "RUNNING", Counters(0.0, counts.get(vertex.id, 0.0)))
                for _ in range(vertex.parallelism)
            )
            for vertex in plan.vertices
        }
        return Sample(at_s, running_job(plan), rows)

    after = {name: None if count is None else 50.0 + count for name, count in sent.items()}
    before = sample(100.0, dict.fromkeys(sent, 50.0))
    return Window(before, sample(200.0, after), {}).arrivals


def test_streams_are_added_up_over_instances() -> None:
    join = node("join", "left", "right")
    both = (join, node("left", parallelism=2), node("right"))
    assert found(*both, left=300.0, right=70.0) == {"join": 670.0}


def test_each_instance_receives_a_broadcast() -> None:
    rules = node("count", "rules", by="BROADCAST", parallelism=3)
    assert found(rules, node("rules"), rules=10.0) == {"count": 30.0}


def test_several_streams_of_one_vertex_are_unknown() -> None:
    nodes = (node("sink", "a"), node("a", "src"), node("b", "src"), node("src"))
    assert found(*nodes, src=100.0, a=40.0) == {"sink": 40.0}


def test_counters_that_are_missing_are_unknown() -> None:
    nodes = (node("join", "left", "right"), node("left"), node("right"))
    assert found(*nodes, left=None, right=70.0) == {}
