"""The reader of Flink's metrics in a Prometheus, with all responses taken from one file."""

import json
from typing import Any

from streamplace.engines.flink.fit import fit_growth
from streamplace.engines.flink.growth import Growth
from streamplace.engines.flink.plan import running
from streamplace.engines.flink.prometheus import COUNTERS, OPERATOR, QUERY, TASK, Prometheus
from streamplace.files.reading import read_bytes
from streamplace.formats.profiling.rest import Server, parse_answer
from streamplace.problem.logical import LogicalGraph
from tests.corpus.engine_documents.flink import FLINK_RUNNING

WHERE = "http://localhost:9090"
INSTANCES = {"a1": 1, "b2": 2, "c3": 1}


def _found(metric: str, **labels: str) -> list[dict[str, Any]]:
    return [
        {
            "metric": {
                "job_id": "j",
                "task_id": task,
                "subtask_index": str(i),
                "tm_id": "t",
                **labels,
            },
            "values": [[1000.0 + 15 * n, str(100 * n + i + len(metric))] for n in range(3)],
        }
        for task, count in INSTANCES.items()
        for i in range(count)
    ]


ANSWERS: dict[str, Any] = {
    "jobs": [{"metric": {"job_id": "j", "job_name": "a job"}, "value": [1060.0, "5"]}],
    **{f"{TASK}{name}": _found(name) for name in COUNTERS.values()},
    f"{OPERATOR}numRecordsIn": _found("in", operator_name="count"),
    f"{OPERATOR}numRecordsOut": _found("out", operator_name="Source:_lines"),
}
TEXT = json.dumps(ANSWERS)


class Answers(Server):
    """A server whose responses come from a file: metric -> what a query for it finds."""

    def __init__(self, file: str) -> None:
        super().__init__(WHERE)
        self._content = parse_answer(read_bytes(file), WHERE + QUERY)

    def get(self, path: str, within_s: float) -> Any:
        """Return the response to a query."""
        answers = self._content if isinstance(self._content, dict) else {}
        name = path.partition("query=")[2].partition("%7B")[0]
        found = answers.get("jobs" if name.startswith("count") else name, [])
        return {"status": "success", "data": {"resultType": "matrix", "result": found}}


def read(file: str) -> LogicalGraph:
    """Return the graph fitted to the samples of the only job."""
    source = Prometheus(Answers(file), 0.0)
    plan = running(FLINK_RUNNING["plan"], WHERE)
    watched, _ = source.watched(source.job(None), plan, 60.0)
    return fit_growth(Growth(plan, watched.readings), 2500.0).logical
