"""The reader of a running job for `explain --against`, with Flink's responses from one file."""

import json
from typing import Any

from streamplace.engines.flink.against.compare import compare
from streamplace.engines.flink.plan import running
from streamplace.engines.flink.poll import Watch
from streamplace.engines.flink.use import labelled_hosts, use_of
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.expansion import to_operators
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.corpus.engine_documents.flink import FLINK_RUNNING
from tests.hardening.targets.flink_apply import ROOM
from tests.hardening.targets.flink_rest import ANSWERS as WATCHED
from tests.hardening.targets.flink_rest import COMPLETE, COUNTERS, WHERE, Answers

PLAN: dict[str, Any] = json.loads(json.dumps(FLINK_RUNNING))
PLAN["plan"]["nodes"][-1]["description"] = "Source: lines<br/>"  # alone, so that it is counted
MANAGER = {"id": "tm-1", "slotsNumber": 2, "freeSlots": 0, "totalResource": ROOM}
SUBTASKS = [
    {"subtask": i, "taskmanager-id": f"tm-{i % 2}", "metrics": {**COUNTERS, **COMPLETE}}
    for i in range(3)
]
ANSWERS: dict[str, Any] = {
    **WATCHED,
    "plan": PLAN,
    "taskmanagers": {"taskmanagers": [{**MANAGER, "freeResource": ROOM}]},
    "vertex": {"subtasks": SUBTASKS},
}
TEXT = json.dumps(ANSWERS)
LEAST = 3  # readings


def placement() -> Placement:
    """Return a placement of the job that the file describes."""
    graph = to_operators(running(PLAN["plan"], WHERE).logical)
    count, streams = len(graph.names), len(graph.selectivity)
    known, _ = graph.with_numbers(
        instructions=[1e6] * count,
        payload_bytes=[100.0] * count,
        selectivity=[1.0] * streams,
        stream_payload_bytes=[100.0] * streams,
        source_rate=10.0,
    )
    cluster = Cluster([Device("d0", 2500), Device("d1", 2000)])
    return Placement(Problem(known, cluster), [v % 2 for v in range(count)])


def read(file: str) -> dict[str, Any]:
    """Watch a job for three readings, and compare it with its placement."""
    placed, server = placement(), Answers(file)
    watched = Watch(server, "job", timeout_s=0.0, every_s=0.0).run(0.1)
    if len(watched.readings) < LEAST:  # they follow each other at once, but the machine is busy
        watched = Watch(server, "job", timeout_s=0.0, every_s=0.0).run(2.0)
    watched.readings = watched.readings[:LEAST]
    return compare(placed, use_of(watched, labelled_hosts(placed, server, 0.0))).to_dict()
