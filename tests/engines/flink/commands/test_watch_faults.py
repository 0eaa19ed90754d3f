"""`watch flink` with durations, graphs and files with which it cannot work."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import streamplace as sp
from streamplace.control.journal import read_entries
from streamplace.engines.flink.commands import watch
from streamplace.files import write_dataset
from tests.support.cli import Capture, one_line, refused, run, succeeds
from tests.support.flink_actions import quick
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.server import JAR, ScriptedFlink

NAMES = ("Source: src", "count", "out: Writer")
LIMITS = ("--windows", "1", "--timeout", "20", "--deadline", "20", "--start-timeout", "20")
AT_MOST = "must be above 0 and at most 100,000,000 s (got"
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def clock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> ManualClock:
    """Let windows take no time, and run in a folder of the test with the devices a and b.

    Locks are in a folder of the test's own.
    """
    quick(monkeypatch)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("locks")))
    monkeypatch.chdir(tmp_path)
    made = ManualClock()
    monkeypatch.setattr(watch, "SystemClock", lambda: made)
    devices = [{"name": name, "mips": 2000, "cores": 4, "slots": 8} for name in "ab"]
    Path("cluster.json").write_text(json.dumps({"devices": devices}))
    write_graph()
    return made


def write_graph(names: tuple[str, ...] = NAMES, **more: Any) -> None:
    operators = [sp.Operator(name, 1e5, 100.0, max_parallelism=8) for name in names]
    streams = [sp.Stream(a, b) for a, b in zip(names, names[1:])]  # noqa: B905, RUF007 - pairs
    write_dataset("graph.json", [sp.StreamGraph(operators, streams, **more)])


def command(url: str, *options: str) -> tuple[str, ...]:
    files = ("--cluster", "cluster.json", "--graph", "graph.json")
    return ("watch", "flink", url, "--job", JOB, *files, *LIMITS, *options)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (("--stabilisation", "3e11"), f"--stabilisation: {AT_MOST} 3e+11)"),
        (("--window", "1e300"), f"--window: {AT_MOST} 1e+300)"),
        (("--block", "inf"), f"--block: {AT_MOST} inf)"),
        (("--cool-down", "-1"), f"--cool-down: {AT_MOST} -1)"),
        (("--scale", "1e9"), f"--window times --scale: {AT_MOST} 3e+11)"),
        (("--scale", "1200"), f"--block times --scale: {AT_MOST} 1.0368e+08)"),
        (("--machine-price", "1e300"), "--machine-price: must be 0 to 1e+15 (got 1e+300)"),
        (("--delayed-tuple-price", "nan"), "--delayed-tuple-price: must be 0 to 1e+15 (got nan)"),
        (
            ("--mode", "apply", "--jar", JAR, "--allow-cancel", "--max-age", "1e9"),
            f"--max-age: {AT_MOST} 1e+09)",
        ),
    ],
)
def test_numbers_out_of_range(options: tuple[str, ...], fault: str, capsys: Capture) -> None:
    assert fault in refused(capsys, *command(NOWHERE, *options))


def test_the_longest_durations_are_words_and_dates(clock: ManualClock, capsys: Capture) -> None:
    longest = [f"--{name}={10**8}" for name in ("stabilisation", "cool-down", "block")]
    with ScriptedFlink(reports_waiting=True, clock=clock).serving() as url:
        shown = succeeds(capsys, *command(url, *longest))
    assert "2.78e+04 h after the last start of the job" in shown


def test_a_version_that_was_not_tried(capsys: Capture) -> None:
    write_graph()
    flink = ScriptedFlink(version="1.16.3")
    with flink.serving() as url:
        assert f"{url}: Flink 1.16.3 is none of the versions" in refused(capsys, *command(url))
    assert {path for _, path, _ in flink.requests} == {"/config"}


@pytest.mark.parametrize(
    ("graph", "fault"),
    [
        ({"firing": "all"}, 'firing: watch does not support "all"'),
        (
            {"constraints": sp.Constraints({"count": "c"})},
            "constraints.pins['count']: unknown device 'c'; known: 'a', 'b'",
        ),
        (
            {"constraints": sp.Constraints(allowed={"count": ["a"], "cuont": ["b"]})},
            "constraints.allowed: unknown operator 'cuont'; did you mean 'count'?",
        ),
    ],
)
def test_a_graph_without_any_plan_is_refused_before_the_job_is_measured(
    graph: dict[str, Any], fault: str, capsys: Capture
) -> None:
    write_graph(**graph)
    flink = ScriptedFlink(reports_waiting=True)
    with flink.serving() as url:
        assert f"graph.json: {fault}" in refused(capsys, *command(url, "--journal", "q"))
    assert {path for _, path, _ in flink.requests} == {"/config", "/jobs/overview"}
    assert read_entries("q/journal.jsonl")[0] == []


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (("src", *NAMES[1:]), "the graph has operators that the running job lacks: 'src'; name"),
        (NAMES[:2], "the graph lacks operators that the running job has: 'out: Writer'; name"),
    ],
)
def test_a_graph_of_another_job_is_refused_when_the_job_is_read(
    names: tuple[str, ...], fault: str, clock: ManualClock, capsys: Capture
) -> None:
    write_graph(names)
    began_s = clock()
    with ScriptedFlink(reports_waiting=True).serving() as url:
        assert f"graph.json: {fault}" in refused(capsys, *command(url))
    assert clock() - began_s < 20.0, "before the window of 300 s"


def test_the_job_is_compared_once_the_server_answers(capsys: Capture) -> None:
    write_graph(("src", *NAMES[1:]))
    assert "  blind  nothing: " in succeeds(capsys, *command(NOWHERE))


@pytest.mark.parametrize("page", ["-", "link"])
def test_a_page_on_stdout_is_refused(page: str) -> None:
    os.symlink("/dev/stdout", "link")
    ran = run(*command(NOWHERE, "--page", page))
    assert ran.returncode == 2
    assert not ran.stdout
    fault = f"--page {page}: is stdout, where decisions are printed; name a file for the page"
    assert fault in one_line(ran.stderr)


@pytest.mark.parametrize("name", ["journal.jsonl", "graph.json"])
@pytest.mark.parametrize("exists", [False, True])
def test_a_page_does_not_overwrite_the_journal(name: str, exists: bool, capsys: Capture) -> None:
    page = f"q/../q/{name}"
    if exists:
        Path("q").mkdir()
        Path("q", name).write_text("kept")
        os.link(f"q/{name}", "now.html")
        page = "now.html"
    line = refused(capsys, *command(NOWHERE, "--journal", "q", "--page", page))
    assert f"--page {page}: would overwrite the " in line
    assert "; name another file for the page" in line
    assert Path("q").exists() is exists
    assert not exists or Path("q", name).read_text() == "kept"


def test_a_page_beside_the_journal_is_written(capsys: Capture) -> None:
    with ScriptedFlink(reports_waiting=True).serving() as url:
        options = ("--journal", "q", "--page", "q/now.html")
        shown = succeeds(capsys, *command(url, *options))
    assert Path("q/now.html").read_text().startswith("<!doctype html>")
    assert Path("q/journal.jsonl").exists()
    assert len(shown.splitlines()) == 1
