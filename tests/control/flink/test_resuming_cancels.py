"""Restarts of a scripted job whose job is cancelled, and that go on."""

from dataclasses import replace
from typing import Any

import pytest

from streamplace.integrations.profiling.rest import Server
from tests.support.flink_actions import (
    AFTER,
    HANGS,
    HASTY,
    PATIENT,
    Log,
    gone_on,
    quick,
    restarts,
    stopping,
)
from tests.support.flink_server.checkpoint_documents import CHECKPOINT
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.server import ScriptedFlink


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


@pytest.mark.parametrize(
    ("state", "how"), [("CANCELED", "was cancelled by somebody else"), ("FINISHED", "has finished")]
)
def test_a_job_that_somebody_cancelled_or_that_finished_is_not_started(
    state: str, how: str
) -> None:
    flink = ScriptedFlink()
    flink.jobs[JOB].state = state
    done = gone_on(flink, stopping())
    assert done is not None
    assert (done.lost, done.runs) == (True, False)
    assert f"job {JOB} {how}, so nothing is started" in done.reason
    assert flink.running == {}
    assert flink.changes == []


def test_a_new_job_that_somebody_cancelled_is_not_started_again() -> None:
    flink, log = ScriptedFlink(), Log()
    with flink.serving() as url:
        first = restarts(url).act(JOB, AFTER, log)
        flink.jobs[first.job].state = "CANCELED"
        done = restarts(url).resume(JOB, AFTER, log.entries, Log())
    assert done is not None
    assert done.lost
    assert flink.running == {}


@pytest.mark.parametrize("is_known", [False, True])
def test_a_job_that_takes_long_to_be_cancelled_is_awaited(is_known: bool) -> None:
    flink, log = ScriptedFlink(savepoint_fails=1), stopping(cancelling=True)
    if is_known:
        flink.triggers["x"] = JOB
    flink.jobs[JOB].state = "CANCELLING"
    with flink.serving() as url:
        done = restarts(url, HASTY).resume(JOB, AFTER, log.entries, log)
        assert done is not None
        assert (done.pending, done.lost) == (True, False)
        assert f"job {JOB} is CANCELLING" in done.reason
        flink.jobs[JOB].state = "CANCELED"
        done = restarts(url).resume(JOB, AFTER, log.entries, log)
    assert done is not None
    assert done.succeeded, done.reason
    assert flink.running[done.job].restored == CHECKPOINT


class Cancelling(Server):
    """A server whose client is killed once it has cancelled a job."""

    def send(self, method: str, *arguments: Any) -> Any:
        found = super().send(method, *arguments)
        if method == "PATCH":
            raise KeyboardInterrupt
        return found


CANCELS = replace(PATIENT, savepoint_s=0.1, cancel_age_s=60.0)


def test_a_job_that_was_cancelled_while_its_stop_was_gone_on_with_is_started() -> None:
    flink, log = ScriptedFlink(waiting=HANGS, triggers={"x": JOB}, timeout_ms=20_000), stopping()
    with flink.serving() as url:
        realiser = restarts(url, CANCELS)
        realiser.client.server = Cancelling(url)
        with pytest.raises(KeyboardInterrupt):
            realiser.resume(JOB, AFTER, log.entries, log)
    assert flink.running == {}
    done = gone_on(flink, log)
    assert done is not None
    assert done.succeeded, done.reason
    assert flink.running[done.job].restored == CHECKPOINT


def test_a_job_whose_stop_is_gone_on_with_may_be_cancelled_and_is_started() -> None:
    flink, log = ScriptedFlink(waiting=HANGS, triggers={"x": JOB}, timeout_ms=20_000), stopping()
    with flink.serving() as url:
        done = restarts(url, CANCELS).resume(JOB, AFTER, log.entries, log)
    assert done is not None
    assert done.succeeded, done.reason
    assert flink.running[done.job].restored == CHECKPOINT


class HangingLater(Log):
    """A journal of a restart whose second savepoint hangs; it ends once that job is cancelled."""

    def __init__(self, flink: ScriptedFlink) -> None:
        super().__init__()
        self.flink = flink

    def __call__(self, step: str, details: dict[str, Any]) -> None:
        super().__call__(step, details)
        if details["trigger"] and details["job"] != JOB:
            self.flink.polls = HANGS
        if details["savepoint"] == CHECKPOINT:
            raise KeyboardInterrupt


def test_a_misplaced_job_that_was_cancelled_to_roll_back_is_gone_on_with() -> None:
    flink = ScriptedFlink(misplaces=1, polls=0, timeout_ms=20_000)
    log = HangingLater(flink)
    with flink.serving() as url, pytest.raises(KeyboardInterrupt):
        restarts(url, CANCELS).act(JOB, AFTER, log)
    assert flink.running == {}
    done = gone_on(flink, Log(before=log.entries))
    assert done is not None
    assert list(flink.running) == [done.job], done
    assert flink.running[done.job].restored == CHECKPOINT
