"""The valid files of the folder of a study: `study dream` on one graph, finished."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from streamplace.papers.ni2020.study.study import DreamStudy
from streamplace.papers.studies.run import PLAN, RESULTS, plan_text, result_line
from streamplace.papers.studies.study import Plan, Row
from tests.corpus.document import Document
from tests.corpus.own_files import PLAIN

STUDY = DreamStudy.name


@cache
def plan() -> Plan:
    """Return the plan of the study on the line graph."""
    with TemporaryDirectory() as folder:
        graph = Path(folder) / "graph.json"
        graph.write_text(PLAIN)
        return DreamStudy(graphs=str(graph)).plan()


def plan_document() -> Document:
    """Return the file of the plan."""
    return Document(PLAN, plan_text(STUDY, plan().settings).encode())


def results_document() -> Document:
    """Return the file of the results, with the same figures for every system."""
    settings, lines = plan().settings, []
    for unit in plan().units:
        rows: list[Row] = [
            {
                "model": unit.settings["model"],
                "graph": 0,
                "system": system,
                "relative_throughput": [0.5] * len(settings["source_rates"]),
                "devices": [2.0] * len(settings["source_rates"]),
            }
            for system in settings["systems"]
        ]
        lines.append(result_line(unit.key, rows, 0.25))
    return Document(RESULTS, "".join(lines).encode())
