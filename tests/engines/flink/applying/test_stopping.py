"""Stops of a job whose savepoint hangs, fails or is lost."""

import time
from dataclasses import replace

import pytest

from streamplace.engines.flink.applying import asking
from streamplace.engines.flink.applying.asking import (
    Asking,
    EndedByOthersError,
    FailedError,
    Limits,
    Progress,
)
from streamplace.engines.flink.applying.stopping import Stopping, cancel_refusal
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.documents import Checkpoint, Job
from streamplace.engines.flink.plan import running
from streamplace.formats.profiling.rest import Server
from tests.support.flink_actions import quick
from tests.support.flink_server.checkpoint_documents import CHECKPOINT, SAVEPOINT
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.faults import Effect, Fault
from tests.support.flink_server.job_documents import plan
from tests.support.flink_server.server import ScriptedFlink

HANGS = 10**6
LATE = 3  # requests for a savepoint


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


def stopped(
    flink: ScriptedFlink, cancel_age_s: float | None = None, **limits: float
) -> tuple[str, Progress, str]:
    """Stop the job; return its state, the progress, and what was reported."""
    lines: list[str] = []
    progress = Progress(JOB)
    with flink.serving() as url:
        asking = Asking(
            Client(Server(url), 20.0), replace(Limits(20.0, 0.1, 20.0, cancel_age_s), **limits)
        )
        stop = Stopping(asking, "file:/s", progress, lines.append, lambda: None)
        return stop.stop(JOB, 0.1), progress, "; ".join(lines)


def test_a_hanging_savepoint_is_abandoned_for_a_young_checkpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "GRACE_S", 20.0)
    flink = ScriptedFlink(polls=HANGS, checkpoint_age_s=3)
    path, progress, lines = stopped(flink, cancel_age_s=10)
    assert path == CHECKPOINT
    assert (progress.savepoint, progress.running, progress.cancelling) == (CHECKPOINT, False, True)
    assert "cancelled; its state is in" in lines
    assert flink.jobs[JOB].state == "CANCELED"


@pytest.mark.parametrize(
    ("fields", "age_s", "why"),
    [
        ({}, None, "only watch with --allow-cancel cancels it"),
        ({"checkpoint_age_s": 50.0}, 10.0, "checkpoint is 50 s old, more than 10 s"),
        ({"keeps_checkpoints": False}, 10.0, "are deleted when it is cancelled"),
    ],
)
def test_otherwise_the_job_goes_on(fields: dict[str, float], age_s: float | None, why: str) -> None:
    flink = ScriptedFlink(polls=HANGS, **fields)  # type: ignore[arg-type]
    with pytest.raises(FailedError, match="still runs"):
        stopped(flink, age_s)
    assert flink.jobs[JOB].state == "RUNNING"
    assert not any(change.startswith("PATCH") for change in flink.changes)


def test_reasons_against_cancelling() -> None:
    nodes = running(plan("x", {"a": "1"}, {"a": 1}), "plan")
    job = Job(
        id="x",
        name="x",
        state="RUNNING",
        scheduler="Default",
        plan=nodes,
        vertices={},
        keeps_checkpoints=True,
    )
    assert cancel_refusal(job, None) == "only watch with --allow-cancel cancels it"
    assert cancel_refusal(job, 10) == "it has no checkpoint"
    for age_s, expected in ((9.0, ""), (11.0, "its latest checkpoint is 11 s old, more than 10 s")):
        kept = replace(job, checkpoint=Checkpoint("file:/c", 1.0, age_s))
        assert cancel_refusal(kept, 10) == expected


def test_a_savepoint_that_ends_while_the_job_is_cancelled_has_the_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "GRACE_S", 20.0)
    flink = ScriptedFlink(polls=HANGS)

    def finish() -> float:
        job = flink.jobs[JOB]
        if any(method == "PATCH" for method, _, _ in flink.requests) and not job.stopped_at:
            job.state, job.stopped_at = "FINISHED", SAVEPOINT
        return time.time()

    flink.clock = finish
    assert stopped(flink, cancel_age_s=10)[0] == SAVEPOINT


def test_a_refused_cancel_leaves_the_job_running() -> None:
    flink = ScriptedFlink(polls=HANGS, faults=[Fault(Effect.ERROR, "PATCH .*")])
    with pytest.raises(FailedError, match="still runs"):
        stopped(flink, cancel_age_s=10)
    assert flink.jobs[JOB].state == "RUNNING"


@pytest.mark.parametrize("effect", [Effect.LOST, Effect.GARBLED])
def test_a_stop_whose_answer_is_lost_goes_on(effect: Effect) -> None:
    flink = ScriptedFlink(faults=[Fault(effect, "POST .*/stop")])
    assert stopped(flink, answer_s=0.5, savepoint_s=20.0)[0] == SAVEPOINT


def test_a_refused_stop_leaves_the_job_running() -> None:
    flink = ScriptedFlink(faults=[Fault(Effect.ERROR, "POST .*/stop")])
    with pytest.raises(FailedError, match=r"refuses to stop job .*, which still runs"):
        stopped(flink)
    assert flink.jobs[JOB].state == "RUNNING"


def test_a_stop_that_did_not_reach_flink_leaves_the_job_running() -> None:
    flink = ScriptedFlink(faults=[Fault(Effect.SLOW, "POST .*/stop")])
    with pytest.raises(FailedError, match="still runs"):
        stopped(flink, answer_s=0.5)
    assert flink.jobs[JOB].state == "RUNNING"


@pytest.mark.parametrize("state", ["CANCELED", "FINISHED"])
def test_a_job_that_others_end_meanwhile_is_not_started_again(state: str) -> None:
    flink = ScriptedFlink(savepoint_fails=1, state_after_failure=state)
    with pytest.raises(EndedByOthersError, match="so nothing is started"):
        stopped(flink)
    assert flink.jobs[JOB].state == state


def test_a_job_that_is_still_being_cancelled_has_not_ended() -> None:
    flink = ScriptedFlink(savepoint_fails=1, state_after_failure="CANCELLING")
    with pytest.raises(FailedError, match="is CANCELLING"):
        stopped(flink, start_s=0.5)


def test_a_stop_that_reaches_flink_late_is_awaited() -> None:
    flink = ScriptedFlink(faults=[Fault(Effect.SLOW, "POST .*/stop")])

    def arrive() -> float:
        """Let the stop arrive once the client has asked for its savepoint a few times."""
        stops = [body for _, path, body in flink.requests if path.endswith("/stop")]
        if stops and sum("/savepoints/" in path for _, path, _ in flink.requests) > LATE:
            flink.triggers[stops[0]["triggerId"]] = JOB
        return time.time()

    flink.clock = arrive
    assert stopped(flink, answer_s=0.5, savepoint_s=20.0)[0] == SAVEPOINT
