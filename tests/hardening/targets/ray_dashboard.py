"""The reader of Ray's dashboard, with all answers taken from one file."""

import json
from typing import Any

from streamplace.engines.ray.dashboard import LISTED, Dashboard
from streamplace.engines.ray.profile import Watched, actors_of, fit
from streamplace.files.reading import read_bytes
from streamplace.formats.profiling.counters import Reading
from streamplace.formats.profiling.rest import Server, parse_answer
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.logical import LogicalGraph
from tests.corpus.engine_documents.ray import ACTORS, DETAIL

WHERE = "http://localhost:8265"
GRAPH = StreamGraph(
    [Operator("lines", 1.0, 100.0), Operator("count", 1.0, 100.0)], [Stream("lines", "count")]
)


def _later(step: int) -> dict[str, Any]:
    """Return what the dashboard answers about an actor at a step."""
    detail = DETAIL["data"]["detail"]
    return {
        **DETAIL,
        "data": {
            "detail": {
                **detail,
                "numExecutedTasks": detail["numExecutedTasks"] + 100 * step,
                "processStats": {"cpuTimes": {"user": 7.0 + step, "system": 10.93}},
            }
        },
    }


TEXT = json.dumps({"actors": ACTORS, "details": [_later(step) for step in range(4)]})


class Answers(Server):
    """A server whose answers come from a file: actors, and one about each actor per reading."""

    def __init__(self, file: str) -> None:
        super().__init__(WHERE)
        content = parse_answer(read_bytes(file), WHERE)
        found = content if isinstance(content, dict) else {}
        details = found.get("details")
        self._actors = found.get("actors")
        self.details = details if isinstance(details, list) else []
        self.step = 0

    def get(self, path: str, within_s: float) -> Any:
        """Return the answer at a path."""
        return self._actors if path.startswith(LISTED) else self.details[self.step]


def read(file: str) -> LogicalGraph:
    """Return the graph fitted to the readings."""
    server = Answers(file)
    dashboard = Dashboard(server, 0.0)
    watched = Watched(actors_of(GRAPH, dashboard.actors(), None))
    for step in range(len(server.details)):
        server.step = step
        everyone = [each for row in watched.actors.values() for each in row]
        found = {each.id: dashboard.counters(each) for each in everyone}
        watched.readings.append(Reading(float(step), found))
    return fit(GRAPH, watched, 2500.0).logical
