"""The command `profile`, with a server on the loopback interface."""

import json
from pathlib import Path
from typing import Any

import pytest

from streamplace.files import read_cluster
from tests.corpus.engine_documents.storm import METRICS, TOPOLOGY
from tests.support.cli import Capture, one_line, refused, run, succeeds
from tests.support.flink_api import JOB_ID, SampleJob, serving
from tests.support.http_server import Answer
from tests.support.prometheus import PLAN, recorded

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
    assert written["even"]["instructions"] == 0  # that of its chain
    placed = json.loads(now.read_text())
    assert placed["assignment"]["OP1"] == "10.88.0.2:42743-d7955a"
    assert len(placed["problem"]["cluster"]["devices"]) == 5
    succeeds(capsys, "place", graph, "--start", now, "--max-moves", 1)


def test_tables_of_a_profile(tmp_path: Path, capsys: Capture) -> None:
    with serving(SampleJob(speed=20)) as url:
        options = ["--job", JOB_ID, "--mips", 1000, "--seconds", 3.2]
        done = run("profile", "flink", url, *options, "-o", tmp_path / "graph.json")
    out = done.stdout
    assert "OP1 -> OP3" in out
    assert "±" in out
    assert "2 chains measured as a whole ('sink -> Sink: Writer', " in done.stderr
    written = json.loads((tmp_path / "graph.json").read_text())
    assert ["sink", "Sink: Writer"] in written["constraints"]["colocate"]
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


def test_the_current_placement_without_a_source_rate(tmp_path: Path) -> None:
    costs = tmp_path / "costs.toml"
    costs.write_text("[default]\ninstructions = 1000\npayload_bytes = 10\nselectivity = 1\n")
    options = ["--job", JOB_ID, "--mips", 1000, "--seconds", 0, "--costs", costs]
    files = ["-o", tmp_path / "graph.json", "--placement", tmp_path / "now.json"]
    with serving(SampleJob()) as url:
        done = run("profile", "flink", url, *options, *files)
    assert done.returncode == 1
    assert (
        "source_rate: the graph has no source rate; state what is missing in --costs;"
        in one_line(done.stderr)
    )


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
    line = one_line(done.stderr.splitlines(keepends=True)[-1])  # after the note on its chains
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


def overview(*states: str) -> dict[str, Any]:
    rows = [{"jid": f"{JOB_ID[:-1]}{i}", "name": "n", "state": s} for i, s in enumerate(states)]
    return {"jobs": [{"jid": JOB_ID, "name": "mixed", "state": "RUNNING"}, *rows]}


def test_the_only_job_that_runs_needs_no_id(tmp_path: Path, capsys: Capture) -> None:
    job, listed = SampleJob(), overview("FINISHED")

    def answer(path: str, query: str) -> Answer | None:
        return (200, json.dumps(listed).encode()) if path == "/jobs/overview" else job(path, query)

    options = ["--mips", 1000, "--seconds", 0, "-o", tmp_path / "graph.json"]
    with serving(answer) as url:
        succeeds(capsys, "profile", "flink", url, *options)
        listed = overview("RUNNING")
        message = refused(capsys, "profile", "flink", url, *options)
    second = f"{JOB_ID[:-1]}0 (n)"
    assert message.endswith(f"several jobs run: {JOB_ID} (mixed), {second}; set --job ID")


def test_the_cluster_of_a_job(tmp_path: Path, capsys: Capture) -> None:
    cluster = tmp_path / "cluster.json"
    options = ["--mips", 1500, "--seconds", 0, "-o", tmp_path / "graph.json", "--cluster-out"]
    with serving(SampleJob()) as url:
        done = run("profile", "flink", url, *options, cluster)
        assert "only one of" in refused(capsys, "profile", "flink", url, *options, "-", "--json")
    assert done.stderr == (
        "cluster: 5 TaskManagers; assumed: a core of 1500 MIPS for each slot, links of 1000 Mbit/s "
        "and 0.001 s, no limits on memory\n"
    )
    devices = read_cluster(cluster).devices
    assert "10.88.0.2:42743-d7955a" in {device.name for device in devices}
    assert {(device.mips, device.cores) for device in devices} == {(1500.0, 1)}


def test_a_plan_is_read_before_prometheus_is_asked(tmp_path: Path, capsys: Capture) -> None:
    words = ("--plan", tmp_path / "nowhere.json", "--mips", 1, "-o", tmp_path / "graph.json")
    line = refused(capsys, "profile", "prometheus", "http://127.0.0.1:9", *words)
    assert "nowhere.json: no such file" in line


def test_metrics_that_a_prometheus_has(tmp_path: Path) -> None:
    plan, graph, cluster = (tmp_path / name for name in ("plan.json", "g.json", "c.json"))
    now = tmp_path / "now.json"
    plan.write_text(json.dumps(PLAN))
    words = ["--plan", plan, "--mips", 1000, "-o", graph, "--cluster-out", cluster]
    with serving(recorded()) as url:
        done = run("profile", "prometheus", url, *words, "--placement", now)
        wrong = run("profile", "prometheus", url, "--plan", now, *words[2:])
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith("not in Prometheus: streams, chains and numbers of instances, which")
    assert str(plan) in lines[0]
    assert lines[1].startswith("4 chains measured as a whole")
    assert lines[2].startswith("cluster: 2 TaskManagers; assumed: ")
    assert "Source: events -> parse" in done.stdout
    assert json.loads(now.read_text())["assignment"]["render[0]"] == "tm1"
    assert read_cluster(cluster).names == ("tm0", "tm1")
    assert wrong.returncode == 2
    assert f"{now}: not the plan of a running job" in one_line(wrong.stderr)


def test_a_prometheus_without_samples(tmp_path: Path) -> None:
    plan, graph = tmp_path / "plan.json", tmp_path / "g.json"
    plan.write_text(json.dumps(PLAN))

    def first(metric: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, "values": row["values"][:1]} for row in rows]

    with serving(recorded(first)) as url:
        done = run("profile", "prometheus", url, "--plan", plan, "--mips", 1000, "-o", graph)
    assert done.returncode == 1
    assert f"{url}: nothing was scraped in the last 600 s: " in done.stderr.splitlines()[-1]
    assert len(json.loads(graph.read_text())["operators"]) == 20


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
    for option in ("--topology", "--window", "--timeout"):
        line = refused(capsys, "profile", "storm", saved, "--mips", 1000, option, 600)
        assert f"{option} requires the URL of Storm's UI" in line
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
