"""`explain --against`, with a server on the loopback interface that replays Flink's answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamplace import Cluster, Device, Operator, Stream, StreamGraph
from streamplace.files import write_placement
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.support.cli import Capture, one_line, refused, run
from tests.support.flink_api import JOB_ID, SampleJob, serving
from tests.support.http_server import Answer

MIPS = 1000
HOSTS = {"OP1": "10.88.0.2:42743-d7955a", "OP2": "10.88.0.5:38115-eff2c8"}
HOSTS |= {"OP3": HOSTS["OP1"], "OP4": HOSTS["OP2"]}
CHAIN = ("Source: Sequence Source", "src", "even", "odd")
FIRST = "10.88.0.1:34619-49e348"
TRUE = {"OP1": 1907 / 2267, "OP2": 1718 / 2268, "OP3": 1717 / 2267, "OP4": 1568 / 2268}
"""Busy milliseconds per tuple in the recorded documents, roughly."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path)


def written(folder: Path, **instructions: float) -> Path:
    """Write a placement of the sample job as it runs; some operators have other instructions."""
    cost = {name: ms * MIPS * 1e3 for name, ms in TRUE.items()} | instructions
    rows = [Operator(name, cost.get(name, 0.0), 100) for name in (*CHAIN, *HOSTS)]
    streams = [
        Stream(CHAIN[0], "src"),
        *(Stream("src", name) for name in ("even", "odd")),
        *(Stream("even", name, 0.5085) for name in ("OP1",)),
        *(Stream("odd", name, 0.5089) for name in ("OP2",)),
        Stream("OP1", "OP3"),
        Stream("OP2", "OP4"),
    ]
    cluster = Cluster([Device(name, MIPS) for name in (FIRST, HOSTS["OP1"], HOSTS["OP2"])])
    problem = Problem(StreamGraph(rows, streams, source_rate=1000), cluster)
    assignment = {**dict.fromkeys(CHAIN, FIRST), **HOSTS}
    path = folder / "placement.json"
    write_placement(path, Placement.of(problem, assignment))
    return path


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    job = SampleJob(speed=20)

    def answer(path: str, query: str) -> Answer | None:
        if path == "/jobs/overview":
            rows = [{"jid": JOB_ID, "name": "mixed", "state": "RUNNING"}]
            return 200, json.dumps({"jobs": rows}).encode()
        return job(path, query)

    with serving(answer) as address:
        yield address


def explained(path: Path, url: str, *more: str) -> tuple[dict[str, Any], str]:
    done = run("explain", path, "--against", url, "--seconds", "6", "--json", *more)
    assert done.returncode == 0, done.stderr
    against: dict[str, Any] = json.loads(done.stdout)["against"]
    return against, done.stderr


@pytest.mark.long
def test_the_operator_with_the_wrong_cost_is_named(tmp_path: Path, url: str) -> None:
    path = written(tmp_path, OP3=TRUE["OP3"] * MIPS * 1e3 / 2.3)
    against, stderr = explained(path, url)
    off = [each for each in against["off"] if each["kind"] == "instructions"]
    assert [each["name"] for each in off] == ["OP3"]
    assert off[0]["ratio"] == pytest.approx(2.3, rel=0.03)
    assert [each["kind"] for each in against["off"]] == ["instructions"]
    rows = {each["name"]: each for each in against["operators"]}
    assert rows["OP3"]["instructions"]["value"] == pytest.approx(TRUE["OP3"] * 1e6, rel=0.03)
    assert rows["OP3"]["standard_error"] is not None
    assert [each["name"] for each in against["devices"]] == [FIRST, HOSTS["OP1"], HOSTS["OP2"]]
    assert against["unmatched"]["job"] == ["sink", "Sink: Writer"]
    assert "the placement lacks operators of the job: 'sink', 'Sink: Writer'" in stderr
    assert "blocked" in stderr  # the chain of the source is never idle


@pytest.mark.long
def test_nothing_is_off(file: Path, url: str) -> None:
    done = run("explain", file, "--against", url, "--job", JOB_ID, "--seconds", "6")
    assert done.returncode == 0, done.stderr
    assert "no cost is off by more than the noise of the readings and 20%" in done.stdout
    assert f"{HOSTS['OP1']}" in done.stdout
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["device", "predicted", "measured", "TaskManager"] in lines
    assert any(words[:2] == ["operator", "predicted"] for words in lines)


def test_too_few_readings(file: Path, url: str, capsys: Capture) -> None:
    message = refused(capsys, "explain", file, "--against", url, "--seconds", "0", code=1)
    assert "the source rate was not measured: the server's metrics changed fewer" in message


def test_a_job_of_other_operators(tmp_path: Path, url: str, capsys: Capture) -> None:
    graph = StreamGraph([Operator("parse", 1, 1)], source_rate=1)
    path = tmp_path / "other.json"
    write_placement(path, Placement(Problem(graph, Cluster.equal(1)), [0]))
    message = refused(capsys, "explain", path, "--against", url)
    assert f"{path}: the job has none of the operators 'parse'; it has " in message


def test_options_of_watching_need_an_address(file: Path, capsys: Capture) -> None:
    for option in ("--job", "--seconds", "--timeout"):
        assert f"{option} requires --against" in refused(capsys, "explain", file, option, "1")


def test_addresses_that_cannot_be_read(file: Path, capsys: Capture) -> None:
    message = refused(capsys, "explain", file, "--against", "localhost")
    assert "is not an address" in message
    gone = ["--against", "http://127.0.0.1:9", "--timeout", "1"]
    assert "127.0.0.1:9" in refused(capsys, "explain", file, *gone, code=1)


@pytest.mark.long
def test_what_was_read_before_a_failure_is_compared(file: Path) -> None:
    job, requests = SampleJob(speed=20), [0]

    def answer(path: str, query: str) -> Answer | None:
        requests[0] += 1
        return job(path, query) if requests[0] <= 30 else (404, b"")

    options = ["--job", JOB_ID, "--seconds", "60", "--timeout", "20", "--json"]
    with serving(answer) as url:
        done = run("explain", file, "--against", url, *options)
    assert done.returncode == 1
    assert one_line(done.stderr.splitlines()[-1] + "\n").endswith("of the time before that")
    assert json.loads(done.stdout)["against"]["intervals"] >= 1
