"""Jobs: their fields, and refusals that name what is wrong."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamplace import Cluster, Constraints, Job, Jobs, read_jobs, write_jobs
from streamplace.errors import ProblemError
from tests.support.graphs import chain_graph, two_operator_graph

GRAPH = chain_graph(1e5, 2e5)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "name: must have 1 to 100 characters (got 0)"),
        ({"name": "a/b"}, "name: must be printable, without slashes"),
        ({"name": ".hidden"}, "name: must be printable, without slashes or a leading dot"),
        ({"name": 3}, "name: must be a string (got 3)"),
        ({"graph": "graph.json"}, "graph: must be StreamGraph, not str"),
        ({"source_rate": 0.0}, "rate"),
        ({"source_rate": math.nan}, "rate"),
        ({"priority": math.inf}, "priority: must be finite (got inf)"),
        ({"priority": "high"}, "priority: must be a number (got 'high')"),
        ({"weight": 0.0}, "weight: must be 1e-06 to 1e+06 (got 0)"),
        ({"weight": math.nan}, "weight: must be 1e-06 to 1e+06 (got nan)"),
        ({"min_throughput": -1.0}, "min_throughput: must be 0 to the source rate 1000 (got -1)"),
        ({"min_throughput": 2000.0}, "must be 0 to the source rate 1000 (got 2000)"),
        (
            {"graph": two_operator_graph(None)},
            "neither the job nor its graph has one; set it in one of them",
        ),
    ],
)
def test_bad_fields_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ProblemError) as caught:
        Job(**{"name": "a", "graph": GRAPH, **fields})  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_the_source_rate_is_the_jobs_or_else_the_graphs() -> None:
    assert Job("a", GRAPH).offered == 1000.0
    assert Job("a", GRAPH, 50.0).offered == 50.0


def test_priorities_are_in_decreasing_order() -> None:
    jobs = Jobs([Job("a", GRAPH, priority=-1), Job("b", GRAPH, priority=2), Job("c", GRAPH, 5.0)])
    assert jobs.by_priority == [[1], [2], [0]]
    assert jobs.names == ("a", "b", "c")
    assert jobs == Jobs(list(jobs))


def test_names_are_distinct_and_one_job_is_needed() -> None:
    with pytest.raises(ProblemError, match=r"jobs\[1\]\.name: duplicate name 'a', see jobs\[0\]"):
        Jobs([Job("a", GRAPH), Job("a", GRAPH)])
    with pytest.raises(ProblemError, match="jobs: must be 1 to 100"):
        Jobs([])


def test_a_fault_of_a_problem_names_the_job() -> None:
    pinned = Job("b", GRAPH, constraints=Constraints(pins={"a": "nowhere"}))
    with pytest.raises(ProblemError, match=r"^jobs\[1\] \('b'\): .*'nowhere'"):
        Jobs([Job("a", GRAPH), pinned]).problems(Cluster.equal(2))


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.array])
def test_numbers_of_numpy_become_numbers_of_python(kind: Any, tmp_path: Path) -> None:
    number = np.float32 if kind is np.array else kind
    numbers: Any = kind(8), number(2), number(3), number(4)
    write_jobs(tmp_path / "jobs.json", Jobs([Job("a", GRAPH, *numbers)]))
    (job,) = read_jobs(tmp_path / "jobs.json")
    assert (job.source_rate, job.priority, job.weight, job.min_throughput) == (8, 2, 3, 4)
