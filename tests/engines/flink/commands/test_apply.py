"""`apply flink` against a scripted server."""

import json
import signal
import subprocess
from pathlib import Path

import pytest
import yaml

from streamplace.cli.main import main
from streamplace.files import write_placement
from streamplace.problem.cluster import Cluster, Device
from tests.support.chain_placement import chain_placement
from tests.support.cli import ENVIRONMENT, MODULE, Capture, refused
from tests.support.flink_actions import quick
from tests.support.flink_server.checkpoint_documents import SAVEPOINT
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.server import JAR, ScriptedFlink

COUNTS = {"count[0]": "count", "count[1]": "count"}
DEADLINE = "20"  # seconds, which a busy machine meets
LIMITS = ("--deadline", DEADLINE, "--start-timeout", DEADLINE)


@pytest.fixture
def placement(tmp_path: Path) -> str:
    """Return the file of a placement on the scripted cluster."""
    cluster = Cluster([Device("a", 2000), Device("b", 1000)])
    names = ["Source: src", *COUNTS, "out: Writer"]
    write_placement(tmp_path / "p.json", chain_placement(names, [0, 1, 1, 0], COUNTS, cluster))
    return str(tmp_path / "p.json")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


def arguments(
    placement: str, url: str, *more: str, jar: str = JAR, deadline: str = DEADLINE
) -> list[str]:
    where = ["--url", url, "--job", JOB, "--jar", jar]
    return ["apply", "flink", placement, *where, LIMITS[0], deadline, *LIMITS[2:], *more]


def test_a_dry_run_shows_every_request(placement: str, capsys: Capture) -> None:
    flink = ScriptedFlink()
    with flink.serving() as url:
        assert main(arguments(placement, url, "--arg", "a b", "--dry-run")) == 0
        out, err = capsys.readouterr()
        assert main(arguments(placement, url, "--dry-run", "--json")) == 0
    assert err.startswith("all checks passed but those of the jar's own plan")
    shown = out.splitlines()
    assert [line.split()[0] for line in shown] == [
        *("POST", "POST", "POST", "GET", "POST", "GET", "GET", "POST")
    ]
    assert f"POST /jobs/{JOB}/stop" in shown[2]
    assert '"programArgsList": ["a b"]' in shown[4]
    assert len(json.loads(capsys.readouterr().out)["requests"]) == len(shown)
    assert not flink.changes


def test_a_version_that_was_not_tried(placement: str, capsys: Capture) -> None:
    flink = ScriptedFlink(version="1.16.3")
    with flink.serving() as url:
        assert main(arguments(placement, url)) == 2
    fault = "cannot be restarted: Flink 1.16.3 is none of the versions that streamplace was run on"
    assert fault in capsys.readouterr().err
    assert not flink.changes


OPERATOR = {
    "$internal.flink.version": "v2_3",
    "kubernetes.cluster-id": "clicks",
    "kubernetes.namespace": "prod",
    "execution.target": "kubernetes-application",
}


def test_a_job_of_the_kubernetes_operator_gets_a_document(placement: str, capsys: Capture) -> None:
    flink = ScriptedFlink(config=OPERATOR, scheduler="Adaptive")
    with flink.serving() as url:
        command = ["apply", "flink", placement, "--url", url, "--job", JOB]  # --jar is not needed
        assert main(command) == 0
        out, err = capsys.readouterr()
        assert main([*command, "--json"]) == 0
    document = yaml.safe_load(out)
    assert json.loads(capsys.readouterr().out)["document"] == document
    assert document["metadata"] == {"name": "clicks", "namespace": "prod"}
    assert document["spec"] == {
        "flinkConfiguration": {
            "pipeline.jobvertex-parallelism-overrides": "4d6488:1,b71731:2,f362c8:1"
        }
    }
    assert "belongs to flinkdeployment clicks" in err
    assert "kubectl patch flinkdeployment clicks --namespace prod --type merge" in err
    lost = "Flink 2.3 ignores pipeline.jobvertex-parallelism-overrides at a start (FLINK-38770): "
    assert lost in err
    assert f"# Lost: {lost}" in out
    assert not flink.changes


STANDALONE = {"kubernetes.internal.cluster-mode": "APPLICATION"}


@pytest.mark.parametrize(
    ("version", "scheduler", "mode", "code"),
    [
        ("1.20.5", "Default", {}, 0),
        ("1.20.5", "Default", STANDALONE, 0),
        ("2.2.1", "Default", {}, 2),
        ("2.2.1", "Adaptive", {}, 0),
        ("2.2.1", "Adaptive", STANDALONE, 2),
    ],
)
def test_a_document_that_flink_ignores_is_refused(
    placement: str, version: str, scheduler: str, mode: dict[str, str], code: int, capsys: Capture
) -> None:
    flink = ScriptedFlink(config=OPERATOR | mode, version=version, scheduler=scheduler)
    with flink.serving() as url:
        assert main(["apply", "flink", placement, "--url", url, "--job", JOB]) == code
    out, err = capsys.readouterr()
    assert ("FLINK-38770" in err) == version.startswith("2.")
    assert bool(out) == (code == 0)
    assert not flink.changes


def test_numbers_alone_need_no_labels(placement: str, capsys: Capture) -> None:
    flink = ScriptedFlink(labels={"tm-x": {}, "tm-y": {}})
    with flink.serving() as url:
        assert main(arguments(placement, url)) == 2
        assert "needs a TaskManager with the label" in capsys.readouterr().err
        assert main(arguments(placement, url, "--labels", "--numbers-only")) == 2
        assert "cannot combine --labels with --numbers-only" in capsys.readouterr().err
        assert main(arguments(placement, url, "--numbers-only")) == 0
        assert "runs with these numbers of instances, from " in capsys.readouterr().out
    ((_, run),) = flink.running.items()
    assert run.parallelism == {"Source: src": 1, "count": 2, "out: Writer": 1}
    assert "label" not in str(run.mapping)


def test_the_adaptive_scheduler_changes_numbers_without_a_restart(
    placement: str, capsys: Capture
) -> None:
    flink = ScriptedFlink(scheduler="Adaptive")
    with flink.serving() as url:
        assert main(arguments(placement, url)) == 2
        assert "(apply --numbers-only; watch without --labels" in capsys.readouterr().err
        command = ["apply", "flink", placement, "--url", url, "--job", JOB, "--numbers-only"]
        assert main([*command, "--dry-run"]) == 0
        out, err = capsys.readouterr()
        assert f"PUT /jobs/{JOB}/resource-requirements" in out
        assert err == "all checks passed; nothing was sent\n"
        assert not flink.changes
        assert main([*command, *LIMITS, "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
    assert (answer["job"], answer["savepoint"]) == (JOB, None)
    assert len(answer["task_managers"]["count"]) == 2
    assert [change.split()[0] for change in flink.changes] == ["PUT"]


def test_other_jobs_need_a_jar(placement: str, capsys: Capture) -> None:
    with ScriptedFlink().serving() as url:
        assert main(["apply", "flink", placement, "--url", url, "--job", JOB]) == 2
    assert "missing --jar" in capsys.readouterr().err


def test_what_runs_is_printed(placement: str, capsys: Capture) -> None:
    with ScriptedFlink().serving() as url:
        assert main(arguments(placement, url)) == 0
    out, err = capsys.readouterr()
    assert "runs as placed, from " + SAVEPOINT in out
    assert "count: tm-b, tm-b" in out
    assert f"stopping job {JOB}" in err


def test_a_job_that_runs_as_placed_is_left_alone(placement: str, capsys: Capture) -> None:
    """A job that was stopped for it goes on under another id, which is found again."""
    flink = ScriptedFlink()
    with flink.serving() as url:
        assert main(arguments(placement, url)) == 0
        ((job, _),) = flink.running.items()
        known = len(flink.changes)
        again = [job if each == JOB else each for each in arguments(placement, url)]
        capsys.readouterr()
        assert main(again) == 0
        assert main([*again, "--dry-run"]) == 0
        out, err = capsys.readouterr()
        assert (out, err) == (f"job {job} already runs as placed; nothing is changed\n" * 2, "")
        assert main([*again, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["task_managers"]["count"] == ["tm-b", "tm-b"]
        assert len(flink.changes) == known
        assert main(arguments(placement, url)) == 0
    err = capsys.readouterr().err
    assert f"job {job} was started from {SAVEPOINT} before; looking how it runs" in err
    assert "starting job" not in err
    assert list(flink.running) == [job]


def test_a_job_that_runs_elsewhere_than_mapped_is_restarted(placement: str) -> None:
    flink = ScriptedFlink()
    with flink.serving() as url:
        assert main(arguments(placement, url)) == 0
        ((job, run),) = flink.running.items()
        run.move({**run.hosts, "count": ["tm-b"]}, flink.clock())
        assert main([job if each == JOB else each for each in arguments(placement, url)]) == 0
    assert job not in flink.running


def test_json(placement: str, capsys: Capture) -> None:
    flink = ScriptedFlink()
    with flink.serving() as url:
        assert main(arguments(placement, url, "--json", "-q")) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert not err
    assert found["job"] in flink.running
    assert (found["former_job"], found["savepoint"]) == (JOB, SAVEPOINT)
    assert (found["running"], found["rolled_back"], found["fault"]) == (True, False, None)
    assert found["task_managers"]["count"] == ["tm-b", "tm-b"]


def test_a_jar_is_uploaded_and_deleted(placement: str, tmp_path: Path, capsys: Capture) -> None:
    jar = tmp_path / "my job.jar"
    jar.write_bytes(b"PK\x03\x04")
    flink = ScriptedFlink()
    with flink.serving() as url:
        assert main(arguments(placement, url, jar=str(jar))) == 0
    assert flink.changes[0] == "POST /jars/upload"
    assert flink.changes[-1] == f"DELETE /jars/{JAR}"


@pytest.mark.parametrize(
    ("name", "data"),
    [("Job.java", b"class"), ("job.jar", b"class"), ("job.zip", b"PK\x03\x04"), ("e.jar", b"")],
)
def test_a_file_that_is_no_jar(
    name: str, data: bytes, placement: str, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / name).write_bytes(data)
    flink = ScriptedFlink()
    with flink.serving() as url:
        assert main(arguments(placement, url, "--dry-run", jar=str(tmp_path / name))) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"--jar: '{tmp_path / name}' is not a jar" in line
    assert not flink.changes


def test_a_missing_jar_is_refused_before_the_server_is_asked(
    placement: str, capsys: Capture
) -> None:
    words = ("apply", "flink", placement, "--url", "http://127.0.0.1:1", "--jar", "no-such.jar")
    assert "--jar: 'no-such.jar' is neither a file nor the id" in refused(capsys, *words)


def test_a_refusal_is_one_line_and_changes_nothing(placement: str, capsys: Capture) -> None:
    flink = ScriptedFlink(labels={"tm-a": {"dev_a": 1000.0}})
    with flink.serving() as url:
        assert main(arguments(placement, url)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "p.json: job 0cb345bc9d1e34abd4bdb33f1eec89cc cannot be restarted: device 'b'" in line
    assert not flink.changes


def test_a_rollback_is_an_error(placement: str, capsys: Capture) -> None:
    flink = ScriptedFlink(refuses=1)
    with flink.serving() as url:
        assert main(arguments(placement, url, "--json")) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["rolled_back"]
    assert found["running"]
    assert list(flink.running) == [found["job"]]
    assert "rolled back" in err.splitlines()[-1]


def test_without_a_running_job_the_command_that_goes_on_is_printed(
    placement: str, capsys: Capture
) -> None:
    with ScriptedFlink(refuses=2).serving() as url:
        assert main(arguments(placement, url)) == 1
    err = capsys.readouterr().err
    assert f"all state is in {SAVEPOINT}, and no job may run yet; this command goes on: " in err


@pytest.mark.parametrize(
    ("flink", "after", "advice"),
    [
        (ScriptedFlink(polls=10**6), "has not ended after", "if its savepoint (trigger "),
        (ScriptedFlink(stuck=9), "starting job", f"all state is in {SAVEPOINT}"),
    ],
)
def test_an_interrupt_says_what_runs(
    flink: ScriptedFlink, after: str, advice: str, placement: str
) -> None:
    with flink.serving() as url:
        command = [*MODULE, *arguments(placement, url, deadline="0.2")]
        with subprocess.Popen(
            command, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            for line in process.stderr:
                if after in line:
                    process.send_signal(signal.SIGINT)
                    break
            text = process.stderr.read()
    assert process.returncode == 130
    assert advice in text
    assert f"this command goes on: streamplace apply flink {placement} --url {url}" in text
    assert "Traceback" not in text
