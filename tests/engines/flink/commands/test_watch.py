"""`watch flink` against a scripted server."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
import yaml

import streamplace as sp
from streamplace.cli.main import main
from streamplace.control import page
from streamplace.control.journal import BEGAN, ENDED, OPENED, Journal, read_entries
from streamplace.control.lock import Lock
from streamplace.engines.flink.client import Client, Listed
from streamplace.engines.flink.commands import watch
from streamplace.engines.flink.watching.restarting import PROGRESS
from streamplace.errors import BackendError, FormatError
from streamplace.files import write_dataset
from streamplace.files.writing import make_folder
from tests.support.cli import ENVIRONMENT, MODULE, Capture, refused
from tests.support.flink_actions import quick
from tests.support.flink_server.checkpoint_documents import SAVEPOINT
from tests.support.flink_server.clock import NOON, ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.faults import Effect, Fault
from tests.support.flink_server.load import Load
from tests.support.flink_server.server import JAR, ScriptedFlink

DEVICES = "2x2000"
PLAN = dict.fromkeys(("rate_s", "carries_s", "now_carries_s", "price_s", "now_price_s"), 1.0)
ATTEMPT = {"served": 1.0, "is_rollback": False, "begun": NOON, "ended": None, "worse": 0}
LIMITS = ("--timeout", "20", "--deadline", "20", "--start-timeout", "20")


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> ManualClock:
    """Let windows take no time, and keep locks in a folder of the test's own."""
    quick(monkeypatch)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("locks")))
    made = ManualClock()
    monkeypatch.setattr(watch, "SystemClock", lambda: made)
    return made


@pytest.fixture
def graph(tmp_path: Path) -> tuple[str, str]:
    """Return the option for the file of the graph of the scripted job."""
    names = ["Source: src", "count", "out: Writer"]
    operators = [sp.Operator(name, 1e5, 100.0, parallelism=1, max_parallelism=8) for name in names]
    streams = [sp.Stream(a, b, partitioning="rebalance") for a, b in zip(names, names[1:])]  # noqa: B905, RUF007 - pairs
    write_dataset(tmp_path / "graph.json", [sp.StreamGraph(operators, streams, source_rate=100.0)])
    return "--graph", str(tmp_path / "graph.json")


@pytest.fixture
def cluster(tmp_path: Path) -> tuple[str, str]:
    """Return the option for the file of the scripted cluster's devices."""
    devices = [{"name": name, "mips": 2000, "cores": 4, "slots": 8} for name in "ab"]
    text = json.dumps({"devices": devices, "network": {"bandwidth_mbps": 1000}})
    (tmp_path / "cluster.json").write_text(text)
    return "--cluster", str(tmp_path / "cluster.json")


@pytest.fixture
def files(graph: tuple[str, str], cluster: tuple[str, str]) -> tuple[str, ...]:
    """Return the options for both files."""
    return *cluster, *graph


def watched(url: str, *options: str, job: str = JOB) -> int:
    """Run the command with limits that a busy machine meets; return the exit code."""
    return main(["watch", "flink", url, "--job", job, *options, *LIMITS])


def applying(folder: Path) -> tuple[str, ...]:
    """Return the options that let the command restart the job, with a journal in a folder."""
    return "--mode", "apply", "--jar", JAR, "--journal", str(folder / "journal")


def overloaded(clock: ManualClock, **more: object) -> ScriptedFlink:
    load = Load(200.0, {"count": 0.009})
    return ScriptedFlink(load=load, reports_waiting=True, clock=clock, **more)  # type: ignore[arg-type]


def test_advice(
    clock: ManualClock, files: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    flink = overloaded(clock)
    shown = tmp_path / "now.html"
    with flink.serving() as url:
        assert watched(url, *files, "--windows", "3", "--page", str(shown)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "  overloaded  advise: " in lines[-1]
    assert "count" in lines[-1]
    assert {method for method, _, _ in flink.requests} == {"GET"}
    assert "The job is no longer watched." in shown.read_text()


def test_decisions_as_json(clock: ManualClock, files: tuple[str, ...], capsys: Capture) -> None:
    with overloaded(clock).serving() as url:
        assert watched(url, *files, "--windows", "3", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["decision"] for row in rows][-1] == "advise"
    assert rows[-1].keys() == {
        *("at", "state", "plan", "gain", "price", "unit", "decision", "reason")
    }
    assert rows[-1]["plan"]["parallelism"]["count"] > 1


@pytest.mark.parametrize(
    ("scheduler", "more", "note"),
    [
        ("Default", ("--jar", JAR), ""),
        ("Adaptive", ("--restart-by", "adaptive"), ""),
        ("Adaptive", (), ""),
        ("Adaptive", ("--jar", JAR), "change while it runs, without --jar"),
    ],
)
def test_changes(
    scheduler: str,
    more: tuple[str, ...],
    note: str,
    clock: ManualClock,
    files: tuple[str, ...],
    tmp_path: Path,
    capsys: Capture,
) -> None:
    flink = overloaded(clock, scheduler=scheduler)
    journal = tmp_path / "journal"
    with flink.serving() as url:
        options = ("--windows", "4", "--mode", "apply", "--journal", str(journal))
        assert watched(url, *files, *options, *more) == 0
    captured = capsys.readouterr()
    assert "act: " in captured.out
    assert ("without --jar" in captured.err) is bool(note)
    assert note in captured.err
    ((job, run),) = flink.running.items()
    assert run.parallelism["count"] > 1
    assert (job == JOB) is (scheduler == "Adaptive")
    steps = [entry.step for entry in read_entries(journal / "journal.jsonl")[0]]
    assert {BEGAN, ENDED} <= set(steps)


def test_a_closed_terminal_does_not_leave_the_job_stopped(
    clock: ManualClock, files: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(text: str) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(watch, "print_note", closed)
    flink = overloaded(clock)
    with flink.serving() as url:
        assert watched(url, *files, "--windows", "4", *applying(tmp_path)) == 0
    ((_, run),) = flink.running.items()
    assert run.parallelism["count"] > 1


def test_the_page_names_the_job_and_may_fail_later(
    clock: ManualClock,
    files: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    titles: list[str] = []

    def write(path: Path, title: str, *rest: object, ended: bool) -> None:
        titles.append(title)
        if len(titles) > 1:
            raise FormatError(f"{path}: cannot write: No space left on device")

    monkeypatch.setattr(page, "write_page", write)
    flink = overloaded(clock)
    with flink.serving() as url:
        options = ("--windows", "5", "--page", "now.html")
        assert watched(url, *files, *options, *applying(tmp_path)) == 0
    assert set(titles) == {"pinned"}  # the name of the job, also of the one that took its place
    assert "now.html: cannot write" in capsys.readouterr().err


def test_the_page_asks_for_the_name_of_the_job_until_it_is_known(
    clock: ManualClock, files: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    titles: list[str] = []
    asked: list[str] = []
    listed = Client.listed

    def silent_once(client: Client) -> list[Listed]:
        asked.append("jobs")
        if len(asked) == 2:  # the first one finds the job
            raise BackendError("no answer")
        return listed(client)

    monkeypatch.setattr(Client, "listed", silent_once)
    monkeypatch.setattr(page, "write_page", lambda path, title, *rest, ended: titles.append(title))
    with overloaded(clock).serving() as url:
        assert watched(url, *files, "--windows", "3", "--page", "now.html") == 0
    assert titles == [f"job {JOB}", "pinned", "pinned", "pinned"]  # the last one when it ends
    assert len(asked) == 3


@pytest.mark.long
def test_a_graph_is_measured_unless_it_is_named(
    cluster: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.undo()  # measuring takes real time
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(watch, "SystemClock", ManualClock)
    flink = ScriptedFlink(reports_waiting=True)
    with flink.serving() as url:
        options = (*cluster, "--windows", "1", "--window", "3", "--timeout", "2")
        assert main(["watch", "flink", url, "--job", JOB, *options]) == 0
    captured = capsys.readouterr()
    assert "measuring the job for 3 s, as no --graph is named" in captured.err
    assert len(captured.out.splitlines()) == 1


@pytest.mark.long
def test_the_same_command_goes_on_with_the_graph_that_was_measured(
    cluster: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.undo()  # measuring takes real time
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    quick(monkeypatch)
    monkeypatch.setattr(watch, "SystemClock", ManualClock)
    flink = ScriptedFlink(reports_waiting=True)
    folder = tmp_path / "journal"
    with flink.serving() as url:
        options = (*cluster, "--windows", "1", "--window", "3", "--mode", "apply")
        more = ("--jar", JAR, "--journal", str(folder), "--timeout", "20", "--start-timeout", "20")
        command = ["watch", "flink", url, "--job", JOB, *options, *more]
        assert main(command) == 0
        deployment = {"hosts": {name: ["a"] for name in flink.ids}}
        trigger = {"trigger": "t", "savepoint": "", "rolling_back": False, "cancelling": False}
        with Journal(folder / "journal.jsonl") as journal:
            state = journal.latest("state")
            attempt = {"before": deployment, "plan": PLAN | {"deployment": deployment}, **ATTEMPT}
            state["attempt"] = attempt
            journal.write(NOON, BEGAN, job=JOB, deployment=deployment, state=state)
            journal.write(NOON, PROGRESS, job=JOB, **trigger)
        run = flink.jobs[JOB]
        run.state, run.stopped_at = "FINISHED", SAVEPOINT
        assert main(command) == 0
    assert "the graph is that of" in capsys.readouterr().err
    assert len(flink.running) == 1
    assert JOB not in flink.running


@pytest.mark.parametrize("way", [(), ("--restart-by", "adaptive")])
def test_an_interrupted_restart_goes_on_only_with_its_jar(
    way: tuple[str, ...],
    clock: ManualClock,
    files: tuple[str, ...],
    tmp_path: Path,
    capsys: Capture,
) -> None:
    """It was killed when its journal named the next job and Flink had not started it."""
    flink = overloaded(clock)
    folder = tmp_path / "journal"
    folder.mkdir()
    with Journal(folder / "journal.jsonl") as journal:
        deployment = {"hosts": {name: ["a"] for name in flink.ids}}
        journal.write(NOON, BEGAN, job=JOB, deployment=deployment)
        done = {"trigger": "", "savepoint": SAVEPOINT, "rolling_back": False, "cancelling": False}
        journal.write(NOON, PROGRESS, job="f" * 32, **done)
    before = (folder / "journal.jsonl").read_text()
    flink.jobs[JOB].state, flink.jobs[JOB].stopped_at = "FINISHED", SAVEPOINT
    with flink.serving() as url:
        command = ("watch", "flink", url, "--job", JOB, *files, "--mode", "apply", *way)
        message = refused(capsys, *command, "--journal", str(folder), "--windows", "1")
    assert f"missing --jar: {folder / 'journal.jsonl'} has a restart of job {JOB} that" in message
    assert "; name the jar as before" in message
    assert (folder / "journal.jsonl").read_text() == before
    assert flink.requests == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "missing --cluster or --devices"),
        (("--devices", DEVICES, "--jar", "a.jar"), "--jar needs --mode apply"),
        (("--devices", DEVICES, "--restart-by", "restart"), "--restart-by needs --mode apply"),
        (
            ("--devices", DEVICES, "--mode", "apply", "--labels"),
            "missing --jar, which --labels needs: a restart",
        ),
        (
            ("--devices", DEVICES, "--mode", "apply", "--restart-by", "restart"),
            "missing --jar, which --restart-by restart needs: a restart",
        ),
        (("--devices", DEVICES, "--mode", "apply", "--jar", JAR), "missing --journal"),
        (("--devices", DEVICES, "--mode", "apply", "--jar", "a.jar"), "'a.jar' is neither a file"),
        (
            ("--devices", DEVICES, "--mode", "apply", "--restart-by", "adaptive", "--labels"),
            "cannot combine --labels with --restart-by adaptive",
        ),
        (
            ("--devices", DEVICES, "--mode", "apply", "--jar", "a.jar", "--allow-cancel"),
            "--allow-cancel and --max-age need each other",
        ),
        (("--devices", DEVICES, "--low", "0.9"), "--low, --target-utilisation, --high: must be"),
        (("--devices", DEVICES, "--agreeing", "0"), "--agreeing"),
        (("--devices", DEVICES, "--window", "nan"), "--window"),
    ],
)
def test_bad_usage(options: tuple[str, ...], message: str, capsys: Capture) -> None:
    words = ("watch", "flink", "http://localhost:1", "--job", JOB)
    assert message in refused(capsys, *words, *options)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_says_that_the_job_goes_on(number: signal.Signals) -> None:
    with ScriptedFlink().serving() as url:
        words = [*MODULE, "watch", "flink", url, "--job", JOB, "--devices", DEVICES]
        with subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("measuring the job for 300 s")
            process.send_signal(number)
            last = process.stderr.read().splitlines()[-1]
    assert last.endswith(f"ed; no incomplete file was left; job {JOB} goes on")


def test_a_journal_that_is_in_use_names_the_process(
    clock: ManualClock, files: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    flink, folder = overloaded(clock), tmp_path / "journal"
    with flink.serving() as url, Journal(make_folder(folder) / "journal.jsonl") as journal:
        journal.write(NOON, OPENED, pid=os.getpid())
        assert watched(url, *files, "--journal", str(folder)) == 2
    fault = f"another controller (process {os.getpid()}) is writing into this journal"
    assert fault in capsys.readouterr().err
    with flink.serving() as url:
        assert watched(url, *files, "--journal", str(folder), "--windows", "1") == 0
    steps = [entry.step for entry in read_entries(folder / "journal.jsonl")[0]]
    assert steps == [OPENED, "window"]


def test_a_job_under_the_default_scheduler_needs_a_jar(
    clock: ManualClock, files: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    flink = overloaded(clock)
    with flink.serving() as url:
        words = ("watch", "flink", url, "--job", JOB, *files, "--mode", "apply")
        message = refused(capsys, *words, "--journal", str(tmp_path / "journal"))
    assert f"missing --jar: job {JOB} does not run under the adaptive scheduler" in message
    assert flink.changes == []


@pytest.mark.parametrize(
    ("version", "scheduler"), [("1.20.5", "Default"), ("1.20.5", "Adaptive"), ("2.3.0", "Adaptive")]
)
@pytest.mark.parametrize("jar", [("--jar", JAR), ()])
def test_a_job_of_the_kubernetes_operator_gets_a_document(
    version: str,
    scheduler: str,
    jar: tuple[str, ...],
    clock: ManualClock,
    files: tuple[str, ...],
    tmp_path: Path,
    capsys: Capture,
) -> None:
    flink = overloaded(clock, scheduler=scheduler, version=version)
    flink.config |= {"$internal.flink.version": "any", "kubernetes.cluster-id": "clicks"}
    with flink.serving() as url:
        acts = ("--mode", "apply", *jar, "--journal", str(tmp_path / "journal"))
        assert watched(url, *files, "--windows", "4", *acts) == 0
    document = tmp_path / "journal" / "flinkdeployment.yaml"
    patch = f"kubectl patch flinkdeployment clicks --type merge --patch-file {document}"
    captured = capsys.readouterr()
    assert patch in captured.out
    assert "while it runs" not in captured.err
    read = yaml.safe_load(document.read_text())
    overrides = read["spec"]["flinkConfiguration"]["pipeline.jobvertex-parallelism-overrides"]
    assert sum(int(each.partition(":")[2]) for each in overrides.split(",")) > 3
    assert ("FLINK-38770" in captured.out) == version.startswith("2.")
    assert not flink.changes


def test_no_document_is_written_that_flink_ignores(
    clock: ManualClock, files: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    flink = overloaded(clock)
    flink.config |= {"$internal.flink.version": "v2_3", "kubernetes.cluster-id": "clicks"}
    with flink.serving() as url:
        acts = ("--mode", "apply", "--journal", str(tmp_path / "journal"))
        assert watched(url, *files, "--windows", "4", *acts) == 0
    out = capsys.readouterr().out
    assert "nothing is changed: Flink 2.3 ignores pipeline.jobvertex-parallelism-overrides" in out
    assert not (tmp_path / "journal" / "flinkdeployment.yaml").exists()
    assert not flink.changes


def test_a_job_that_has_ended(clock: ManualClock, files: tuple[str, ...], capsys: Capture) -> None:
    flink = overloaded(clock)
    with flink.serving() as url:
        flink.jobs[JOB].state = "FINISHED"
        assert watched(url, *files) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_second_controller_is_refused(
    clock: ManualClock, files: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    """One that only advises is not."""
    flink = overloaded(clock)
    with flink.serving() as url, Lock(url, JOB):
        assert watched(url, *files, "--windows", "1", *applying(tmp_path)) == 2
        assert flink.requests == []
        assert "another controller on this machine controls it" in capsys.readouterr().err
        assert watched(url, *files, "--windows", "1") == 0


def test_a_journal_of_another_job_is_refused(
    clock: ManualClock, files: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    flink = overloaded(clock)
    with flink.serving() as url:
        options = (*files, "--journal", str(tmp_path / "journal"), "--windows", "1")
        assert watched(url, *options) == 0
        before = (tmp_path / "journal" / "journal.jsonl").read_text()
        assert watched(url, *options, job="f" * 32) == 2
        assert (tmp_path / "journal" / "journal.jsonl").read_text() == before
    assert f"the journal is that of job {JOB}, not of job ffff" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--page", "missing/now.html"), "missing/now.html: cannot write: no such folder"),
        (("--mode", "apply", "--jar", "a.jar", "--journal", "j"), "--jar: 'a.jar' is neither a"),
    ],
)
def test_what_later_windows_would_miss_is_refused_at_once(
    options: tuple[str, ...],
    message: str,
    files: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("watch", "flink", "http://127.0.0.1:1", *files, "--windows", "1", *LIMITS)
    assert message in refused(capsys, *words, *options)  # not that this server does not answer
    assert not (tmp_path / "j").exists()


def test_a_jar_is_not_asked_for_where_the_server_does_not_answer(
    clock: ManualClock, files: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    assert watched("http://127.0.0.1:1", *files, "--windows", "1", *applying(tmp_path)) == 0
    assert "  blind  nothing: " in capsys.readouterr().out


@pytest.mark.parametrize("known", [False, True])
def test_a_job_that_does_not_exist(
    known: bool, files: tuple[str, ...], cluster: tuple[str, str], capsys: Capture
) -> None:
    with ScriptedFlink().serving() as url:
        assert watched(url, *(files if known else cluster), job="f" * 32) == 2
    fault = f"{url}: no job '{'f' * 32}'; running: {JOB} (pinned)"
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(fault)


@pytest.mark.parametrize("resumed", [False, True])
def test_a_version_is_refused_once_the_server_answers(
    resumed: bool, clock: ManualClock, files: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    """Also where the server does not answer at the start, and after an upgrade of Flink."""
    flink, folder = overloaded(clock, version="2.4.0"), tmp_path / "journal"
    if resumed:
        with Journal(make_folder(str(folder)) / "journal.jsonl") as journal:
            journal.write(NOON, "window", job=JOB)
    flink.faults = [Fault(Effect.ERROR, ".*/config", times=3), Fault(Effect.ERROR, times=2)]
    with flink.serving() as url:
        assert watched(url, *files, "--windows", "3", "--journal", str(folder)) == 2
    assert "Flink 2.4.0 is none of the versions that streamplace" in capsys.readouterr().err


def test_a_job_is_not_measured_where_the_server_does_not_answer(
    cluster: tuple[str, str], capsys: Capture
) -> None:
    assert watched("http://127.0.0.1:1", *cluster) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "Connection refused" in line
