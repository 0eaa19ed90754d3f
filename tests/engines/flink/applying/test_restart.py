"""Restarts against a scripted server: success, failures, rollback, and repeated commands."""

from dataclasses import replace

import pytest

from streamplace.engines.flink.applying import asking, requests
from streamplace.engines.flink.applying.apply import (
    Options,
    check_jar,
    prepare,
    prepare_groups,
    restart_of,
)
from streamplace.engines.flink.applying.asking import FailedError, Limits, Progress
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.groups import groups_anywhere
from streamplace.errors import BackendError, ProblemError, UsageError
from streamplace.formats.profiling.rest import Server
from streamplace.problem.cluster import Cluster
from streamplace.problem.placement import Placement
from tests.support.chain_placement import chain_placement
from tests.support.flink_actions import quick
from tests.support.flink_server.checkpoint_documents import CHECKPOINT, SAVEPOINT
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.runs import Run
from tests.support.flink_server.server import JAR, ScriptedFlink
from tests.support.long import long_after

COUNTS = {"count[0]": "count", "count[1]": "count"}
LIMITS = Limits(answer_s=20.0, savepoint_s=20.0, start_s=20.0)
STARTS = replace(LIMITS, start_s=2.0)  # of a job that never starts
ENDS = replace(LIMITS, savepoint_s=0.3)
NEW, BACK = (requests.successor(JOB, SAVEPOINT, 0, rollback) for rollback in (False, True))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch, GRACE_S=0.5)


def placement() -> Placement:
    devices = Cluster.parse("1x2000,1x1000")
    cluster = Cluster([type(d)(n, d.mips) for n, d in zip("ab", devices.devices, strict=True)])
    return chain_placement(["Source: src", *COUNTS, "out: Writer"], [0, 1, 1, 0], COUNTS, cluster)


def applied(flink: ScriptedFlink, limits: Limits = LIMITS, **more: bool) -> Progress:
    with flink.serving() as url:
        client, how = Client(Server(url), 5), Options(JOB, JAR, limits=limits, **more)  # type: ignore[arg-type]
        prepared = prepare(placement(), client, how)
        check_jar(prepared, client.server, how, JAR)
        made = restart_of(prepared, client, how, JAR, lambda line: None)
        try:
            return made.run(prepared.groups, prepared.savepoint)
        except FailedError as error:
            error.args = (f"{error} | {made.what_runs()}",)
            raise


def test_a_job_is_stopped_started_and_verified() -> None:
    flink = ScriptedFlink()
    done = applied(flink)
    assert (done.job, done.savepoint, done.running, done.rolled_back) == (
        NEW,
        SAVEPOINT,
        True,
        False,
    )
    assert done.hosts == {
        "Source: src": ["tm-a"],
        "count": ["tm-b", "tm-b"],
        "out: Writer": ["tm-a"],
    }
    assert list(flink.running) == [NEW]
    plan, run = f"POST /jars/{JAR}/plan", f"POST /jars/{JAR}/run"
    assert flink.changes == [plan, plan, f"POST /jobs/{JOB}/stop", run]


@pytest.mark.parametrize(("instances", "fits"), [(1, False), (2, True)])
def test_state_must_fit_into_each_instance(instances: int, fits: bool) -> None:
    """A TaskManager has 96 MB of heap; slots in which only the source runs have no state."""
    groups = groups_anywhere({"Source: src": 4, "count": instances, "out: Writer": 1})
    with ScriptedFlink(state_bytes=150 * 2**20).serving() as url:
        client, how = Client(Server(url), 5), Options(JOB, JAR, limits=LIMITS)
        if fits:
            assert prepare_groups(groups, client, how).groups.slots == 4
            return
        with pytest.raises(ProblemError, match="the state of count, 150 MB in the latest"):
            prepare_groups(groups, client, how)


def test_checkpoints_set_on_the_command_line_are_kept() -> None:
    """The job has them from `flink run -D…`, after a rollback too."""
    flink = ScriptedFlink(refuses=1)
    with pytest.raises(FailedError, match="rolled back: job"):
        applied(flink)
    bodies = [body for _, path, body in flink.requests if path == f"/jars/{JAR}/run"]
    wanted = {"execution.checkpointing.interval": "2000 ms"}
    assert len(bodies) == 2
    assert all(wanted.items() <= body["flinkConfiguration"].items() for body in bodies)


def test_a_failed_savepoint_leaves_the_job_running() -> None:
    flink = ScriptedFlink(savepoint_fails=1)
    with pytest.raises(FailedError, match=rf"job {JOB} still runs: IOException: no space"):
        applied(flink)
    assert list(flink.running) == [JOB]
    assert not any("/run" in change for change in flink.changes)


def test_a_job_that_ends_with_its_savepoint_is_started_from_a_checkpoint() -> None:
    flink = ScriptedFlink(savepoint_fails=1, state_after_failure="FAILED")
    with pytest.raises(FailedError, match=r"the savepoint failed: .*; rolled back: job"):
        applied(flink)
    (run,) = flink.running.values()
    assert (run.restored, run.mapping) == (CHECKPOINT, None)


def test_a_savepoint_that_hangs_leaves_the_job_running() -> None:
    flink = ScriptedFlink(polls=10**6)
    with pytest.raises(
        FailedError, match=r"has not ended after \d+ s; job .* still runs"
    ) as caught:
        applied(flink, ENDS)
    assert "if its savepoint" in str(caught.value)
    assert list(flink.running) == [JOB]


def test_a_savepoint_that_ends_late_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "GRACE_S", 20.0)
    flink = ScriptedFlink(polls=25)
    assert applied(flink, ENDS).job == NEW


@pytest.mark.parametrize("fault", long_after(2, ["refuses", "misplaces", "stuck"]))
def test_a_start_that_fails_is_rolled_back(fault: str) -> None:
    flink = ScriptedFlink(**{fault: 1})  # type: ignore[arg-type]
    with pytest.raises(FailedError, match="rolled back: job"):
        applied(flink, STARTS if fault == "stuck" else LIMITS)
    (run,) = flink.running.values()
    assert run.mapping is None
    assert run.hosts["count"] == ["tm-b"]
    assert run.restored == SAVEPOINT
    assert not any(change.startswith("DELETE") for change in flink.changes)


def test_a_rollback_uses_the_former_mapping() -> None:
    flink = ScriptedFlink(stuck=1)
    flink.jobs[
        JOB
    ].mapping = "@pe0=label dev_b\nSource\\:\\ src=pe0\ncount=pe0\nout\\:\\ Writer=pe0"
    with pytest.raises(FailedError, match="rolled back"):
        applied(flink, STARTS)
    (run,) = flink.running.values()
    assert run.mapping == flink.jobs[JOB].mapping


def test_a_misplaced_job_is_stopped_with_a_savepoint_of_its_own() -> None:
    flink = ScriptedFlink(misplaces=1)
    with pytest.raises(FailedError, match=r"'count' runs on tm-a \(2\) instead of tm-b \(2\)"):
        applied(flink)
    assert f"POST /jobs/{NEW}/stop" in flink.changes
    assert not any(change.startswith("PATCH") for change in flink.changes)


def test_a_rollback_that_fails_says_where_the_state_is() -> None:
    with pytest.raises(FailedError, match=f"the rollback failed too: .*{SAVEPOINT}"):
        applied(ScriptedFlink(refuses=2))


@pytest.mark.long
def test_a_start_whose_answer_is_lost_is_found() -> None:
    flink = ScriptedFlink(lost_answers=1)
    assert applied(flink, replace(LIMITS, start_s=3.0)).job == NEW
    assert sum("/run" in change for change in flink.changes) == 1


def stopped() -> ScriptedFlink:
    """Return a cluster on which the job was stopped, as after a killed command."""
    flink = ScriptedFlink()
    flink.jobs[JOB].state, flink.jobs[JOB].stopped_at = "FINISHED", SAVEPOINT
    return flink


def test_a_repeated_command_goes_on_after_the_stop() -> None:
    flink = stopped()
    assert applied(flink).job == NEW
    assert not any("/stop" in change for change in flink.changes)


def test_a_repeated_command_takes_up_the_started_job() -> None:
    flink = stopped()
    hosts = {"Source: src": ["tm-a"], "count": ["tm-b", "tm-b"], "out: Writer": ["tm-a"]}
    flink.jobs[NEW] = Run(hosts=hosts, restored=SAVEPOINT)
    assert applied(flink).job == NEW
    assert not any("/run" in change for change in flink.changes)


def test_a_repeated_command_does_not_start_a_second_job_after_a_rollback() -> None:
    flink = stopped()
    flink.jobs[BACK] = Run(hosts=flink.jobs[JOB].hosts, restored=SAVEPOINT)
    with pytest.raises(FailedError, match=f"use --job {BACK}"):
        applied(flink)
    assert list(flink.running) == [BACK]


def test_a_failed_start_does_not_block_the_next_one() -> None:
    flink = stopped()
    flink.jobs[NEW] = Run(state="FAILED", hosts=flink.jobs[JOB].hosts, restored=SAVEPOINT)
    assert applied(flink).job == requests.successor(JOB, SAVEPOINT, 1)


def test_the_jar_must_call_the_helper() -> None:
    flink = ScriptedFlink(helper=False)
    with pytest.raises(ProblemError, match="does not call StreamplaceMapping"):
        applied(flink)
    assert list(flink.running) == [JOB]


def test_uids_are_required() -> None:
    with pytest.raises(ProblemError, match="without uid, so their state may be lost: parse"):
        applied(ScriptedFlink(without_uid="parse"))
    assert applied(ScriptedFlink(without_uid="parse"), without_uids=True).job == NEW


def test_all_faults_are_in_one_message() -> None:
    flink = ScriptedFlink(labels={"tm-a": {"dev_a": 1000}}, config={}, interval=2**63 - 1)
    with pytest.raises(ProblemError, match=r"no checkpoints.*no folder.*label 'dev_b'; none has"):
        applied(flink)
    assert not flink.changes


def test_unknown_jobs_and_jars() -> None:
    with ScriptedFlink().serving() as url:
        with pytest.raises(UsageError, match="no job 'x'; running: "):
            prepare(placement(), Client(Server(url), 5), Options("x", JAR))
        with pytest.raises(UsageError, match="neither a file nor the id"):
            prepare(placement(), Client(Server(url), 5), Options(JOB, "x.jar"))
    with pytest.raises(BackendError):
        prepare(placement(), Client(Server(url), 5), Options(JOB, JAR, limits=LIMITS))


def test_the_requests_are_known_before() -> None:
    with ScriptedFlink().serving() as url:
        how = Options(JOB, JAR)
        planned = prepare(placement(), Client(Server(url), 5), how).requests(how)
    assert [request.method for request in planned] == [
        *("POST", "POST", "POST", "GET", "POST", "GET", "GET", "POST")
    ]
    assert planned[2].body == {
        "targetDirectory": "file:///flink/savepoints",
        "drain": False,
        "formatType": "NATIVE",
        "triggerId": "TRIGGER",
    }
    assert planned[4].body["savepointPath"] == "SAVEPOINT"
    assert (
        "count=pe1, parallelism 2" in planned[4].body["flinkConfiguration"]["streamplace.mapping"]
    )
    kept = planned[7].body["flinkConfiguration"]
    assert "streamplace.mapping" not in kept  # the job had none
    assert kept.items() < planned[4].body["flinkConfiguration"].items()  # of its checkpoints
