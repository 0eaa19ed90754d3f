"""The option `place --job-file`: results, files, and refusals in one line."""

import json
import resource
import signal
from pathlib import Path
from typing import Any

import pytest
import yaml

from streamplace import Job, Jobs, place_jobs, read_jobs, read_placement, write_jobs
from streamplace.files import write_dataset
from streamplace.files.graphs import graph_to
from tests.support.cli import Capture, json_of, place_by_cli, printed, refused, succeeds
from tests.support.graphs import chain_graph
from tests.support.input_files import chain
from tests.support.jobs import competing_jobs

OPTIONS = ("--devices", "1x2500", "--placer", "search:evaluations=1000")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of two jobs that load one device by 0.6 and 0.8."""
    path = tmp_path / "jobs.json"
    write_jobs(path, competing_jobs())
    return path


def test_json(file: Path, capsys: Capture) -> None:
    found = json_of(capsys, "place", "--job-file", file, *OPTIONS)
    orders, clicks = found["jobs"]
    assert orders["name"] == "orders"
    assert (orders["priority"], orders["throughput"], orders["lost"]) == (1, 1000.0, 0.0)
    assert orders["limited_by"] is None
    assert clicks["relative_throughput"] == pytest.approx(0.5)
    assert clicks["lost"] == pytest.approx(500.0)
    assert clicks["lost_to"] == pytest.approx({"orders": 500.0})
    assert clicks["limited_by"]["name"] == "d0"
    assert found["assignment"]["orders"] == {"a": "d0", "b": "d0"}
    assert found["devices"][0]["jobs"] == pytest.approx({"orders": 0.6, "clicks": 0.4})
    assert found["placer"] == "search:evaluations=1000"


def names_in(capsys: Capture, placement: Path, kind: str) -> set[str]:
    """Return the names of groups, or of Deployments, in an export."""
    text = succeeds(capsys, "export", placement, "--to", kind)
    if kind == "flink":
        return {line.split("=")[1] for line in text.splitlines() if line[0] not in "#@"}
    return {document["metadata"]["name"] for document in yaml.safe_load_all(text)}


@pytest.mark.parametrize("kind", ["flink", "kubernetes"])
def test_exports_of_two_jobs_share_no_names(
    kind: str, file: Path, tmp_path: Path, capsys: Capture
) -> None:
    succeeds(capsys, "place", "--job-file", file, *OPTIONS, "-o", tmp_path / "out")
    placed = [tmp_path / "out" / f"{job.name}.placement.json" for job in read_jobs(file)]
    orders, clicks = (names_in(capsys, one, kind) for one in placed)
    assert orders == {"orders-pe0"}
    assert clicks == {"clicks-pe0"}
    again, graph = tmp_path / "again.json", tmp_path / "graph.json"
    write_dataset(graph, [read_placement(placed[1]).problem.graph])
    succeeds(capsys, "place", graph, "--start", placed[1], "--max-moves", 0, "-o", again)
    assert names_in(capsys, again, kind) == clicks


def test_a_single_job_has_the_names_of_a_placement_without_jobs(
    tmp_path: Path, capsys: Capture
) -> None:
    write_jobs(tmp_path / "one.json", Jobs([Job("only", chain_graph(6e5, 9e5))]))
    succeeds(capsys, "place", "--job-file", tmp_path / "one.json", *OPTIONS, "-o", tmp_path / "out")
    assert names_in(capsys, tmp_path / "out" / "only.placement.json", "flink") == {"pe0"}


def test_table(file: Path, capsys: Capture) -> None:
    out = succeeds(capsys, "place", "--job-file", file, *OPTIONS)
    assert "50.0%" in out
    assert "device d0" in out
    assert "orders 60.0%, clicks 40.0%" in out


def test_a_folder_has_the_placement_of_each_job_and_of_all(
    file: Path, tmp_path: Path, capsys: Capture
) -> None:
    folder = tmp_path / "out"
    succeeds(capsys, "place", "--job-file", file, *OPTIONS, "-o", folder)
    result = json.loads((folder / "result.json").read_text())
    for job in read_jobs(file):
        placement = read_placement(folder / f"{job.name}.placement.json")
        assert placement.assignment == result["assignment"][job.name]
        assert placement.problem.graph.sha256 == job.graph.sha256
        succeeds(capsys, "explain", folder / f"{job.name}.placement.json")
    score = json_of(capsys, "explain", folder / "together.json")
    assert score["relative_throughput"] == pytest.approx(1.0)
    assert score["bottleneck"]["utilisation"] == pytest.approx(1.0)
    page = tmp_path / "report.html"
    succeeds(capsys, "report", folder / "together.json", "-o", page)
    assert "orders/a" in page.read_text()
    jobs = json.dumps(result["jobs"], separators=(",", ":"))
    assert f'"jobs":{jobs}' in page.read_text()
    objective = ("--objective", "makespan", "--batch", "100")
    succeeds(capsys, "report", folder / "together.json", *objective, "-o", page)
    assert '"jobs":[{"name":"orders"' not in page.read_text()
    succeeds(capsys, "place", "--job-file", file, *OPTIONS, "-o", folder)  # again


@pytest.mark.parametrize("command", ["explain", "report", "export", "place", "diff"])
def test_a_result_names_the_placements_beside_it(
    command: str, file: Path, tmp_path: Path, capsys: Capture
) -> None:
    folder, alone = tmp_path / "out", tmp_path / "alone.json"
    succeeds(capsys, "place", "--job-file", file, *OPTIONS, "-o", folder)
    succeeds(capsys, "place", "--job-file", file, *OPTIONS, "-o", alone)
    graph = tmp_path / "orders.json"
    graph.write_text(json.dumps({"operators": [{"name": "a", "instructions": 1}]}))
    words: dict[str, tuple[object, ...]] = {
        "export": ("--to", "csv"),
        "place": ("--start",),
        "report": ("-o", tmp_path / "report.html"),
        "diff": (folder / "together.json",),
    }
    before = (graph,) if command == "place" else ()
    line = refused(capsys, command, *before, *words.get(command, ()), folder / "result.json")
    assert "result.json: is the result of place --job-file, without the graphs; read a" in line
    assert line.endswith(
        f": {folder / 'together.json'} has all jobs, {folder / 'orders.placement.json'} has one job"
    )
    line = refused(capsys, command, *before, *words.get(command, ()), alone)
    assert line.endswith("without the graphs; place --job-file -o FOLDER writes placements")


def test_a_full_disk_leaves_no_part(file: Path, tmp_path: Path, capsys: Capture) -> None:
    """A limit on the size of files, just below the largest one, stands for the disk."""
    whole, part = tmp_path / "whole", tmp_path / "part"
    words = ("place", "--job-file", file, *OPTIONS, "-o")
    succeeds(capsys, *words, whole)
    largest = max(found.stat().st_size for found in whole.iterdir())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    (whole / "orders.placement.json").write_text("old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest - 1, before[1]))
    try:
        lines = [refused(capsys, *words, folder) for folder in (part, whole)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    for line, folder in zip(lines, (part, whole), strict=True):
        assert line.strip() == f"streamplace: {folder}: cannot write: File too large"
    assert not part.exists()
    assert (whole / "orders.placement.json").read_text() == "old"
    assert not [found for found in whole.iterdir() if found.name.startswith(".")]


def test_a_file_has_the_result_alone(file: Path, tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "result.json"
    found = json_of(capsys, "place", "--job-file", file, *OPTIONS, "-o", target)
    written = json.loads(target.read_text())
    assert written["jobs"] == found["jobs"]
    out = succeeds(capsys, "place", "--job-file", file, *OPTIONS, "-o", "-")
    assert json.loads(out)["assignment"] == found["assignment"]


def test_the_command_and_the_function_agree(file: Path, capsys: Capture) -> None:
    placer = "search:evaluations=1000"
    options = ("--devices", "3x500", "--placer", placer, "--target-utilisation", "0.8")
    found = json_of(capsys, "place", "--job-file", file, *options, "--seed", 2)
    again = place_jobs(read_jobs(file), "3x500", placer=placer, seed=2, target_utilisation=0.8)
    assert found["assignment"] == again.to_dict()["assignment"]
    assert max(device["utilisation"] for device in found["devices"]) <= 0.8 + 1e-9


def test_one_job_is_placed_as_a_graph(tmp_path: Path, capsys: Capture) -> None:
    graph = tmp_path / "graph.json"
    graph.write_text(json.dumps(graph_to(chain_graph(6e5, 9e5, 7e5))))
    jobs = tmp_path / "jobs.json"
    jobs.write_text(json.dumps({"jobs": [{"name": "only", "graph": "graph.json"}]}))
    options = ("--devices", "3x900", "--placer", "search:evaluations=2000", "--seed", "4")
    found = json_of(capsys, "place", "--job-file", jobs, *options)
    alone = json_of(capsys, "place", graph, *options)
    assert found["assignment"]["only"] == alone["assignment"]
    assert found["jobs"][0]["throughput"] == pytest.approx(alone["throughput"])


def test_lost_devices(file: Path, capsys: Capture) -> None:
    found = json_of(capsys, "place", "--job-file", file, "--devices", "2x2500", "--without", "d0")
    assert [device["name"] for device in found["devices"]] == ["d1"]
    slow = json_of(capsys, "place", "--job-file", file, *OPTIONS, "--slow", "d0=0.6")
    assert slow["jobs"][1]["throughput"] == pytest.approx(0.0)


def test_the_time_limit_is_for_all_runs(file: Path, capsys: Capture) -> None:
    options = ("--devices", "2x1000", "--placer", "search", "--time-limit", "0.5")
    found = json_of(capsys, "place", "--job-file", file, *options)
    assert found["placer"].startswith("search:seconds=0.08")


def test_constraints_of_all_jobs_replace_their_own(
    file: Path, tmp_path: Path, capsys: Capture
) -> None:
    rules = tmp_path / "rules.json"
    pins = {"orders/a": "d1", "clicks/a": "d0"}
    rules.write_text(json.dumps({"pins": pins, "exlocate": [["clicks/a", "clicks/b"]]}))
    words = ("place", "--job-file", file, "--devices", "2x2500", "--constraints", rules)
    found = json_of(capsys, *words, "--placer", "search:evaluations=1000")["assignment"]
    assert found["orders"]["a"] == "d1"
    assert found["clicks"] == {"a": "d0", "b": "d1"}
    line = refused(capsys, *words, "--without", "d1")
    assert "job 'orders': constraints.pins: 'a' is pinned to 'd1', which is lost" in line


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            {"pins": {"a": "d0"}},
            "constraints.pins: 'a' does not begin with the name of a job and /",
        ),
        ({"pins": {"order/a": "d0"}}, "the name of a job and /; did you mean 'orders'?"),
        (
            {"allowed": {"orders/x": ["d0"]}},
            "constraints.allowed: job 'orders' has no operator 'x'",
        ),
        (
            {"colocate": [["orders/a", "clicks/a"]]},
            "constraints.colocate[0]: has operators of several jobs; use one per job",
        ),
    ],
)
def test_wrong_constraints_of_all_jobs(
    value: object, message: str, file: Path, tmp_path: Path, capsys: Capture
) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps(value))
    line = refused(capsys, "place", "--job-file", file, *OPTIONS, "--constraints", rules)
    assert message in line.partition("rules.json: ")[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("graph.json",), "cannot combine --job-file with GRAPH"),
        (("--prefer", "balance"), "cannot combine --job-file with --prefer"),
        (("--start", "x.json"), "cannot combine --job-file with --start"),
        (("--source-rate", "5"), "cannot combine --job-file with --source-rate"),
        (("--objective", "makespan"), "cannot combine --job-file with --objective"),
        (("--confidence", "0.9"), "cannot combine --job-file with --confidence"),
        (("--model", "engine"), "several jobs require --model bottleneck"),
        (("--placer", "metis", "--time-limit", "1"), "does not accept a time limit"),
        (("--without", "x"), "--without: unknown device or group 'x'"),
        (("--cluster", "none.json"), "none.json: "),
    ],
)
def test_other_options_are_refused(
    options: tuple[str, ...], message: str, file: Path, capsys: Capture
) -> None:
    assert message in refused(capsys, "place", "--job-file", file, *options)


@pytest.mark.parametrize("target", ["jobs.json", "graphs"])
def test_inputs_are_not_overwritten(target: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "graphs").mkdir()
    graph = tmp_path / "graphs" / "result.json"
    graph.write_text(json.dumps(graph_to(chain_graph(1e5))))
    file = tmp_path / "jobs.json"
    row: dict[str, Any] = {"name": "a", "graph": "graphs/result.json"}
    file.write_text(json.dumps({"jobs": [row]}))
    line = refused(capsys, "place", "--job-file", file, "-o", tmp_path / target)
    assert "would overwrite the input" in line


def test_a_minimum_that_cannot_hold(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "jobs.json"
    write_jobs(file, competing_jobs(priority=0, min_throughput=900.0))
    found = json_of(capsys, "place", "--job-file", file, *OPTIONS)
    assert found["jobs"][1]["throughput"] == pytest.approx(900.0)
    line = refused(capsys, "place", "--job-file", file, "--devices", "1x1500")
    assert line.startswith(f"streamplace: {file}: jobs[1] ('clicks'): min_throughput 900 cannot")


def test_an_operator_that_fills_a_core_is_noted(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "jobs.json"
    write_jobs(file, Jobs([Job("one", chain_graph(5e6))]))
    options = ("--devices", "1x2500x4", "--placer", "single")
    out, err = printed(capsys, "place", "--job-file", file, *options)
    assert "operator a" in out
    assert err.startswith("one: operator 'a' can use one core of its device, since its 'cores'")
    assert err.rstrip().endswith("or find more instances with streamplace size")


def test_info_names_the_kind(file: Path, capsys: Capture) -> None:
    assert "is a file of jobs, which place --job-file reads" in refused(capsys, "info", file)


def test_info_reads_the_placement_of_all_jobs(file: Path, tmp_path: Path, capsys: Capture) -> None:
    succeeds(capsys, "place", "--job-file", file, *OPTIONS, "-o", tmp_path / "out")
    assert json_of(capsys, "info", tmp_path / "out" / "together.json")["kind"] == "placement"
    line = refused(capsys, "info", tmp_path / "out" / "result.json")
    assert "is the result of place --job-file; info reads" in line


def test_a_faulty_graph_file_is_named(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps({"jobs": [{"name": "a", "graph": "bad.json"}]}))
    (tmp_path / "bad.json").write_text("{")
    assert f"{tmp_path / 'bad.json'}: line 1" in refused(capsys, "place", "--job-file", file)


def test_placements_of_jobs_are_starts(file: Path, tmp_path: Path, capsys: Capture) -> None:
    folder, graph = tmp_path / "out", tmp_path / "graph.json"
    succeeds(capsys, "place", "--job-file", file, *OPTIONS, "-o", folder)
    graph.write_text(json.dumps(graph_to(read_jobs(file)[0].graph)))
    options = ("--start", folder / "orders.placement.json", "--max-moves", "0")
    place_by_cli(capsys, graph, tmp_path / "again.json", *options)


def test_together_has_constraints_as_they_were_stated(tmp_path: Path, capsys: Capture) -> None:
    graph = chain("ab", 1e5)
    graph["operators"][0]["parallelism"] = 2
    graph["constraints"] = {"pins": {"a": "d1"}, "exlocate": [["a", "b"]]}
    value = {"jobs": [{"name": name, "graph": graph} for name in "xy"]}
    (tmp_path / "jobs.json").write_text(json.dumps(value))
    words = ("--job-file", tmp_path / "jobs.json", "--devices", "3x1000", "-o", tmp_path / "out")
    succeeds(capsys, "place", *words)
    stored = json.loads((tmp_path / "out" / "together.json").read_text())
    assert stored["problem"]["constraints"] == {
        "pins": {"x/a": "d1", "y/a": "d1"},
        "exlocate": [["x/a", "x/b"], ["y/a", "y/b"]],
    }
    own = json.loads((tmp_path / "out" / "x.placement.json").read_text())
    assert own["problem"]["constraints"] == graph["constraints"]
