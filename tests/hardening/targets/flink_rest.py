"""The reader of Flink's REST API, with all responses taken from one file."""

import json
from typing import Any

from streamplace.engines.flink.documents import TASK
from streamplace.engines.flink.fit import fit
from streamplace.engines.flink.poll import Watch
from streamplace.files.reading import read_bytes
from streamplace.formats.profiling.rest import Server, parse_answer
from streamplace.problem.logical import LogicalGraph
from tests.corpus.engine_documents.flink import FLINK_RUNNING

WHERE = "http://localhost:8081"
COUNTERS = {key: 1000 + i for i, key in enumerate(TASK.values())}
COMPLETE = {f"{key}-complete": True for key in TASK.values()}
ANSWERS: dict[str, Any] = {
    "plan": FLINK_RUNNING,
    "taskmanagers": {"taskmanagers": [{"id": "tm-1", "slotsNumber": 2}]},
    "job": {
        "jid": "j",
        "name": "a job",
        "state": "RUNNING",
        "now": 1_000_000,
        "plan": FLINK_RUNNING["plan"],
        "vertices": [
            {
                "id": v,
                "name": v,
                "status": "RUNNING",
                "parallelism": 1,
                "metrics": {**COUNTERS, **COMPLETE},
            }
            for v in ("a1", "b2", "c3")
        ],
    },
    "vertex": {
        "subtasks": [{"subtask": i, "taskmanager-id": "tm-1", "host": "h"} for i in range(3)]
    },
    "metrics": [{"id": f"{i}.Sink_ log.numRecordsIn", "value": "10.5"} for i in range(3)],
}
TEXT = json.dumps(ANSWERS)


class Answers(Server):
    """A server whose responses come from a file; its counters grow from one second to the next."""

    def __init__(self, file: str) -> None:
        super().__init__(WHERE)
        self._content = parse_answer(read_bytes(file), WHERE)
        self._calls = 0

    def get(self, path: str, within_s: float) -> Any:
        """Return the response for a path."""
        answers = self._content if isinstance(self._content, dict) else {}
        if path.endswith("/plan"):
            return answers.get("plan")
        if "/metrics" in path:
            return answers.get("metrics")
        if "/vertices/" in path:
            return answers.get("vertex")
        if path == "/taskmanagers":
            return answers.get("taskmanagers")
        self._calls += 1
        return _later(answers.get("job"), self._calls)


def read(file: str) -> LogicalGraph:
    """Poll a job for three readings, and return the graph fitted to them."""
    watched = Watch(Answers(file), "job", timeout_s=0.0, every_s=0.0).run(1e-3)
    return fit(watched.plan, watched.readings[:3], 2500.0).logical


def _later(job: Any, calls: int) -> Any:
    """Return a job's response with larger counters and a later time."""
    try:
        vertices = [
            {
                **v,
                "metrics": {k: x * calls if type(x) is int else x for k, x in v["metrics"].items()},
            }
            for v in job["vertices"]
        ]
        return {**job, "now": job["now"] + 1000 * calls, "vertices": vertices}
    except (TypeError, KeyError, AttributeError):
        return job
