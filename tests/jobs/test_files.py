"""Job files: graphs by path and in the file, writing, and faults with their places."""

import json
from pathlib import Path
from typing import Any

import pytest

import streamplace as sp
from streamplace.cli.schema import schema_of
from streamplace.errors import FormatError
from streamplace.files.graphs import graph_to
from streamplace.jobs.files import outcomes_in
from tests.support.graphs import chain_graph
from tests.support.jobs import competing_jobs

GRAPH = graph_to(chain_graph(1e5, 2e5))


def written(folder: Path, *jobs: dict[str, Any], **more: object) -> Path:
    file = folder / "jobs.json"
    file.write_text(json.dumps({"jobs": jobs, **more}))
    return file


def test_graphs_by_path_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "a.json").write_text(json.dumps(GRAPH))
    rows = [
        {"name": "a", "graph": "graphs/a.json", "priority": 3},
        {"name": "b", "graph": GRAPH, "source_rate": 5, "weight": 2, "min_throughput": 1},
        {"name": "c", "graph": "dataset:real/riotbench-etl.json", "source_rate": 10},
    ]
    jobs = sp.read_jobs(written(tmp_path, *rows))
    graph = sp.read_graph(tmp_path / "graphs" / "a.json")
    assert jobs[0] == sp.Job("a", graph, priority=3)
    assert jobs[1].graph.sha256 == graph.sha256
    assert jobs[1] == sp.Job("b", jobs[1].graph, 5, 0, 2, 1)
    assert jobs[2].offered == 10


def test_written_jobs_are_read_back(tmp_path: Path) -> None:
    rules = sp.Constraints(pins={"a": "d0"})
    jobs = sp.Jobs(
        [
            sp.Job("a", chain_graph(1e5, 2e5), 5.0, 2, 3.0, 1.0),
            sp.Job("b", chain_graph(1e5), constraints=rules),
        ]
    )
    sp.write_jobs(tmp_path / "jobs.json", jobs)
    assert json.loads((tmp_path / "jobs.json").read_text())["jobs"][0]["priority"] == 2
    again = sp.read_jobs(tmp_path / "jobs.json")
    assert again[0].graph.sha256 == jobs[0].graph.sha256
    assert again[1].graph.constraints == rules
    sp.write_jobs(tmp_path / "again.json", again)
    assert sp.read_jobs(tmp_path / "again.json") == again


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"graph": "none.json"}, "none.json: "),
        ({"graph": 3}, "jobs.json: jobs[0] ('a'): graph: must be the path of a file, or a graph"),
        ({"graph": "-"}, "jobs.json: jobs[0] ('a'): graph: must be the path of a file, or a graph"),
        (
            {"graph": {"operators": []}},
            "('a'): graph: operators: needs at least one operator",
        ),
        ({"weight": 0}, "jobs.json: jobs[0].weight: must be greater than 0 (got 0)"),
        ({"weight": 1e9}, "jobs.json: jobs[0] ('a'): weight: must be 1e-06 to 1e+06"),
        ({"prioritiy": 1}, "jobs.json: jobs[0]: unknown field 'prioritiy'; did you mean"),
        ({"min_throughput": 1e6}, "jobs.json: jobs[0] ('a'): min_throughput: must be 0 to"),
        ({"name": ""}, "jobs.json: jobs[0].name: must not be empty"),
        ({"name": "x" * 101}, "jobs.json: jobs[0].name: must have at most 100 characters"),
        ({"name": "../x"}, "jobs.json: jobs[0] ('../x'): name: must be printable"),
        ({"source_rate": None, "graph": {**GRAPH, "source_rate": None}}, "jobs[0] ('a'): source_"),
    ],
)
def test_faults(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    file = written(tmp_path, {"name": "a", "graph": GRAPH, **row})
    with pytest.raises(FormatError) as caught:
        sp.read_jobs(file)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"format": "streamplace-graph"}, "is a graph; expected a file of jobs"),
        ({"version": 2}, "version: is newer than this streamplace"),
        ({"jobs": []}, "jobs: needs at least one job"),
    ],
)
def test_faults_of_the_file(more: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        sp.read_jobs(written(tmp_path, {"name": "a", "graph": GRAPH}, **more))
    assert message in str(caught.value)


def test_two_jobs_of_one_name(tmp_path: Path) -> None:
    row = {"name": "a", "graph": GRAPH}
    with pytest.raises(FormatError, match=r"jobs.json: jobs\[1\]\.name: duplicate name 'a'"):
        sp.read_jobs(written(tmp_path, row, row))


def test_the_schema_takes_paths_and_graphs() -> None:
    job = schema_of("jobs")["$defs"]["JobForm"]
    assert job["properties"]["graph"]["anyOf"] == [{"type": "string"}, {"type": "object"}]
    assert job["required"] == ["name", "graph"]


def result_rows() -> list[dict[str, Any]]:
    """Return what two jobs get of a device that is too small for both."""
    found = sp.place_jobs(competing_jobs(), "1x2500", placer="search:evaluations=100")
    rows: list[dict[str, Any]] = json.loads(json.dumps(found.to_dict()))["jobs"]
    return rows


def test_outcomes_in_a_placement_file() -> None:
    rows = result_rows()
    assert rows[1]["limited_by"]["kind"] == "device"
    assert rows[0]["limited_by"] is None
    assert outcomes_in({"jobs": rows}, "together.json") == rows
    assert outcomes_in({}, "placement.json") == outcomes_in({"jobs": None}, "placement.json") == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lost": "500"}, "together.json: jobs[1].lost: must be a number"),
        ({"lost": -1}, "together.json: jobs[1].lost: must be at least 0"),
        ({"lost_to": {"orders": None}}, "together.json: jobs[1].lost_to.orders: must be a number"),
        ({"limited_by": {"kind": "device"}}, "jobs[1].limited_by: missing field 'name'"),
        ({"lsot": 1}, "together.json: jobs[1]: unknown field 'lsot'; did you mean"),
    ],
)
def test_faults_of_outcomes(change: dict[str, Any], message: str) -> None:
    first, second = result_rows()
    with pytest.raises(FormatError) as caught:
        outcomes_in({"jobs": [first, second | change]}, "together.json")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
