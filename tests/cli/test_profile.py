"""The command `profile`, with a server on the loopback interface."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.hardening.corpus.engine_documents.storm import METRICS, TOPOLOGY
from tests.support.cli import Capture, one_line, refused, run, succeeds
from tests.support.flink_api import JOB_ID, SampleJob, serving
from tests.support.http_server import Answer

COSTS = """
source_rate = 100
[default]
instructions = 1e6
payload_bytes = 100
[streams]
"sink->Sink: Writer" = 1  # the sample's sink is a map that emits nothing
"""


@pytest.fixture
def costs(tmp_path: Path) -> Path:
    path = tmp_path / "costs.toml"
    path.write_text(COSTS)
    return path


@pytest.mark.long
def test_a_graph_and_the_current_placement(tmp_path: Path, costs: Path, capsys: Capture) -> None:
    graph, now = tmp_path / "graph.json", tmp_path / "now.json"
    options = ["--job", JOB_ID, "--mips", 1000, "--seconds", 3.2, "--costs", costs]
    with serving(SampleJob(speed=20)) as url:
        out = succeeds(
            capsys, "profile", "flink", url, *options, "-o", graph, "--placement", now, "--json"
        )
    printed: dict[str, Any] = json.loads(out)
    assert printed["fault"] is None
    assert printed["unknown"] == {}
    assert printed["guessed"] == [["even", "OP1"], ["odd", "OP2"]]
    written = {each["name"]: each for each in json.loads(graph.read_text())["operators"]}
    assert written["OP1"]["instructions"] == pytest.approx(1907 / 2267 * 1e6, rel=0.02)
    assert written["even"]["instructions"] == 1e6  # from --costs
    placed = json.loads(now.read_text())
    assert placed["assignment"]["OP1"] == "10.88.0.2:42743-d7955a"
    assert len(placed["problem"]["cluster"]["devices"]) == 5
    succeeds(capsys, "place", graph, "--start", now, "--max-moves", 1)


def test_tables_of_a_profile(tmp_path: Path, capsys: Capture) -> None:
    with serving(SampleJob(speed=20)) as url:
        options = ["--job", JOB_ID, "--mips", 1000, "--seconds", 3.2]
        out = succeeds(capsys, "profile", "flink", url, *options, "-o", tmp_path / "graph.json")
    assert "OP1 -> OP3" in out
    assert "±" in out
    assert "profile with chaining off" in out
    assert "guessed stream: even -> OP1" in out


def test_the_current_placement_without_numbers(tmp_path: Path, capsys: Capture) -> None:
    graph, now = tmp_path / "graph.json", tmp_path / "now.csv"
    options = ["--job", JOB_ID, "--mips", 1000, "--seconds", 0, "-o", graph, "--placement"]
    with serving(SampleJob()) as url:
        succeeds(capsys, "profile", "flink", url, *options, now)
        done = run("profile", "flink", url, *options, tmp_path / "now.json")
    assert "OP1,10.88.0.2:42743-d7955a" in now.read_text().splitlines()
    assert done.returncode == 1
    assert "a .csv file can be written without costs" in one_line(done.stderr)
    assert not (tmp_path / "now.json").exists()


def test_costs_of_unknown_operators(tmp_path: Path, capsys: Capture) -> None:
    costs, graph = tmp_path / "costs.toml", tmp_path / "graph.json"
    costs.write_text("[operators.nosuch]\ninstructions = 1")
    options = ["--job", JOB_ID, "--mips", 1000, "--seconds", 100, "--costs", costs, "-o", graph]
    with serving(SampleJob()) as url:
        assert "'nosuch'" in refused(capsys, "profile", "flink", url, *options)


def test_a_command_for_thread_dumps_that_fails(tmp_path: Path, capsys: Capture) -> None:
    graph = tmp_path / "graph.json"
    options = ["--job", JOB_ID, "--mips", 1000, "--seconds", 100, "-o", graph, "--thread-dumps"]
    with serving(SampleJob()) as url:
        line = refused(capsys, "profile", "flink", url, *options, "false {}")
        assert "thread dumps: false 10.88.0." in line
        assert "failed with 1" in line
        assert "is not a command" in refused(capsys, "profile", "flink", url, *options, "'")
    assert not graph.exists()


@pytest.mark.long
def test_thread_dumps_without_the_threads_of_the_job(tmp_path: Path, capsys: Capture) -> None:
    dump = '"main" #1 [7] prio=5 os_prio=0 cpu=1.00ms elapsed=2.00s tid=0x1 nid=7 runnable'
    options = ["--job", JOB_ID, "--mips", 1000, "--seconds", 3.2, "-o", tmp_path / "graph.json"]
    with serving(SampleJob(speed=20)) as url:
        command = f"echo '{dump}'"
        out = succeeds(capsys, "profile", "flink", url, *options, "--thread-dumps", command)
    assert "has no thread 'OP1 (1/" in out


@pytest.mark.long
@pytest.mark.parametrize(
    ("bad_answer", "expected"),
    [
        ((500, b""), "HTTP 500"),
        ((404, b""), "HTTP 404"),
        ((200, b"<"), "not JSON"),
        (None, "no answer"),
    ],
)
def test_measurements_are_kept_when_the_server_fails(
    bad_answer: Answer | None, expected: str, tmp_path: Path, capsys: Capture
) -> None:
    job, requests = SampleJob(speed=20), [0]

    def answer(path: str, query: str) -> Answer | None:
        requests[0] += 1
        return job(path, query) if requests[0] <= 18 else bad_answer

    graph, now = tmp_path / "graph.json", tmp_path / "now.json"
    options = ["--job", JOB_ID, "--mips", 1000, "--seconds", 60, "--timeout", 0.6]
    with serving(answer) as url:
        done = run("profile", "flink", url, *options, "-o", graph, "--placement", now)
    assert done.returncode == 1
    line = one_line(done.stderr)
    assert expected in line
    assert f"the measurements made before that are in {graph}" in line
    assert len(json.loads(graph.read_text())["operators"]) == 10
    assert not now.exists()


def test_a_measurement_that_is_too_short(tmp_path: Path) -> None:
    graph, now = tmp_path / "graph.json", tmp_path / "now.csv"
    options = ["--job", JOB_ID, "--mips", 1000, "--seconds", 0.1, "-o", graph]
    with serving(SampleJob()) as url:
        done = run("profile", "flink", url, *options, "--placement", now)
    assert done.returncode == 1
    line = one_line(done.stderr)
    assert f"{url}: nothing was measured within 0.1 s: " in line
    assert line.endswith("; increase --seconds")
    assert "OP1,10.88.0.2:42743-d7955a" in now.read_text().splitlines()
    assert json.loads(graph.read_text())["operators"]


def test_an_unknown_job(tmp_path: Path, capsys: Capture) -> None:
    graph = tmp_path / "graph.json"
    with serving(SampleJob()) as url:
        options = ["--job", "nonsense", "--mips", 1000]
        message = refused(capsys, "profile", "flink", url, *options, "-o", graph)
    assert message.endswith(f"{url}: no job 'nonsense'; running: {JOB_ID} (mixed)")
    assert not graph.exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--mips", "0"],
        ["--mips", "nan"],
        ["--mips", "1", "--timeout", "nan"],
        ["--mips", "1", "--timeout", "1e18"],
        ["--mips", "1", "--seconds", "1e300"],
        ["--mips", "1", "--seconds", "-1"],
        ["--mips", "1", "--json"],
        ["--mips", "1", "--fold", "--placement", "x"],
        ["--mips", "1", "-o", "x", "--placement", "x"],
        [],
    ],
)
def test_bad_usage(options: list[str], capsys: Capture) -> None:
    refused(capsys, "profile", "flink", "http://127.0.0.1:9", "--job", "x", *options)


def test_a_topology_of_storm(tmp_path: Path, capsys: Capture) -> None:
    saved, graph = tmp_path / "metrics.json", tmp_path / "graph.json"
    saved.write_text(json.dumps(METRICS))
    printed = succeeds(capsys, "profile", "storm", saved, "--mips", 1000, "-o", graph)
    assert "Storm does not count bytes" in printed
    assert "unknown: payload_bytes" in printed
    assert len(json.loads(graph.read_text())["operators"]) == 3
    assert "0 ± 0" not in printed  # the bytes of the sink
    costs = tmp_path / "costs.toml"
    costs.write_text("source_rate = 1\n[default]\ninstructions = 1e6\npayload_bytes = 100\n")
    words = ("--mips", 1000, "--costs", costs, "-o", graph)
    assert "--costs" not in succeeds(capsys, "profile", "storm", saved, *words)
    refused(capsys, "profile", "storm", saved, "--mips", 1000, "--topology", "x")
    saved.write_text("{}")
    assert "not a Storm document" in refused(capsys, "profile", "storm", saved, "--mips", 1000)


def test_a_ui_of_storm_that_fails(tmp_path: Path, capsys: Capture) -> None:
    graph = tmp_path / "graph.json"

    def answer(path: str, query: str) -> Answer:
        if path.endswith("visualization"):
            return 500, b""
        return 200, json.dumps(METRICS if path.endswith("metrics") else TOPOLOGY).encode()

    with serving(answer) as url:
        options = ["--topology", "words-1-1", "--mips", 1000, "-o", graph]
        done = run("profile", "storm", url, *options, "--fold")
    assert done.returncode == 1
    assert "HTTP 500" in one_line(done.stderr)
    assert len(json.loads(graph.read_text())["operators"]) == 3
