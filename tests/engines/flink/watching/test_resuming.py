"""Restarts and cancels that a killed controller left behind."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from streamplace.engines.flink.applying.asking import Limits
from streamplace.formats.profiling.rest import Server
from tests.support.flink_actions import (
    AFTER,
    HANGS,
    HASTY,
    PATIENT,
    START,
    Log,
    gone_on,
    restarts,
    stopping,
)
from tests.support.flink_server.checkpoint_documents import CHECKPOINT, SAVEPOINT
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.faults import Effect, Fault
from tests.support.flink_server.server import ScriptedFlink
from tests.support.share import Share


def restart(flink: ScriptedFlink) -> None:
    with flink.serving() as url:
        restarts(url, HASTY).act(JOB, AFTER, Log())


@pytest.mark.long
@pytest.mark.parametrize("fault", [None, "misplaces", "refuses", "savepoint_fails"])
def test_a_restart_goes_on_after_an_interruption_at_every_step(fault: str | None) -> None:
    for until in itertools.count(len(START)):
        flink = ScriptedFlink(**({fault: 1} if fault else {}))  # type: ignore[arg-type]
        log = Log(until)
        with flink.serving() as url:
            try:
                restarts(url, HASTY).act(JOB, AFTER, log)
            except KeyboardInterrupt:
                pass
            else:
                break
        done = gone_on(flink, Log(before=log.entries), HASTY)
        assert len(flink.running) == 1, until
        if done is not None:
            assert list(flink.running) == [done.job], done
            assert done.succeeded or done.reason
    assert until > len(START)


class Killed(Server):
    """A server whose client is killed at a certain request, before or after it takes effect."""

    def __init__(self, url: str, requests: int, is_after: bool) -> None:
        super().__init__(url)
        self.left, self.is_after = requests, is_after

    def _answer(self, *arguments: Any) -> Any:
        self.left -= 1
        if self.left < 0 and not self.is_after:
            raise KeyboardInterrupt
        found = super()._answer(*arguments)
        if self.left < 0:
            raise KeyboardInterrupt
        return found


def killed(fault: str | None, requests: int, is_after: bool) -> bool:
    """Kill a restart at a request and go on; return whether there are so many requests."""
    flink = ScriptedFlink(**({fault: 1} if fault else {}))  # type: ignore[arg-type]
    log = Log()
    with flink.serving() as url:
        realiser = restarts(url, HASTY if fault == "stuck" else PATIENT)
        realiser.client.server = Killed(url, requests, is_after)
        try:
            realiser.act(JOB, AFTER, log)
        except KeyboardInterrupt:
            pass
        else:
            return False
    done = gone_on(flink, log, HASTY if fault == "stuck" else PATIENT)
    assert len(flink.running) == 1, (requests, done)
    assert done is None or list(flink.running) == [done.job], (requests, done)
    return True


@pytest.mark.parametrize("requests", [13, 17, 19])
def test_a_killed_restart_goes_on(requests: int) -> None:
    assert killed(None, requests, is_after=True)


@pytest.mark.long
@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("fault", [None, "misplaces", "refuses", "stuck", "savepoint_fails"])
def test_a_restart_killed_at_every_request_goes_on(
    fault: str | None, is_after: bool, share: Share
) -> None:
    flink = ScriptedFlink(**({fault: 1} if fault else {}))  # type: ignore[arg-type]
    restart(flink)
    for requests in share.of(range(len(flink.requests))):
        killed(fault, requests, is_after)


@pytest.mark.parametrize("effect", [Effect.HIDDEN, Effect.ERROR])
def test_a_job_whose_scheduler_is_unknown_is_not_lost(effect: Effect) -> None:
    """Before Flink 2.3, only the configuration names the scheduler, and a proxy may hide it."""
    flink, log = ScriptedFlink(version="2.2.0"), Log()
    with flink.serving() as url:
        realiser = restarts(url, HASTY)
        realiser.client.server = Killed(url, 17, is_after=True)
        with pytest.raises(KeyboardInterrupt):
            realiser.act(JOB, AFTER, log)
        flink.faults = [Fault(effect, "GET /jobmanager/config")]
        done = restarts(url, HASTY).resume(JOB, AFTER, log.entries, log)
    assert done is not None
    assert "/jobmanager/config, so the scheduler of job " in done.reason
    assert done.pending
    assert not done.lost
    done = gone_on(flink, log, HASTY)
    assert done is None or list(flink.running) == [done.job], done


def test_an_interrupted_start_is_taken_up_once() -> None:
    flink = ScriptedFlink()
    log = Log()
    with flink.serving() as url:
        first = restarts(url).act(JOB, AFTER, log)
        again = restarts(url).resume(JOB, AFTER, log.entries, Log())
    assert again is not None
    assert (again.job, again.succeeded) == (first.job, True)
    assert sum("/run" in change for change in flink.changes) == 1


def test_a_job_that_somebody_else_stopped_is_left_alone() -> None:
    flink = ScriptedFlink()
    log = Log()
    with flink.serving() as url:
        first = restarts(url).act(JOB, AFTER, log)
        flink.replace_job(first.job, "other")
        flink.jobs[first.job].stopped_at = "file:/other"
        done = restarts(url).resume(JOB, AFTER, log.entries, Log())
    assert done is not None
    assert done.lost
    assert list(flink.running) == ["other"]


@pytest.mark.parametrize("reached", [False, True])
def test_a_savepoint_that_fails_meanwhile_is_reported(reached: bool) -> None:
    flink = ScriptedFlink(savepoint_fails=1, polls=0)
    if reached:
        flink.triggers["x"] = JOB
    done = gone_on(flink, stopping())
    assert (done is not None) is reached
    if done is not None:
        assert (done.succeeded, done.changed, done.pending) == (False, False, False)
        assert f"the savepoint failed, and job {JOB} still runs" in done.reason
    assert list(flink.running) == [JOB]


def test_a_job_that_takes_long_to_end_after_its_savepoint_is_awaited() -> None:
    flink, log = ScriptedFlink(), stopping(savepoint=SAVEPOINT, trigger="")
    with flink.serving() as url:
        done = restarts(url, HASTY).resume(JOB, AFTER, log.entries, log)
        assert done is not None
        assert done.pending
        flink.jobs[JOB].state, flink.jobs[JOB].stopped_at = "FINISHED", SAVEPOINT
        done = restarts(url).resume(JOB, AFTER, log.entries, log)
    assert done is not None
    assert list(flink.running) == [done.job]


@pytest.mark.parametrize("savepoint", ["", SAVEPOINT])
def test_a_job_that_flink_has_forgotten(savepoint: str) -> None:
    flink = ScriptedFlink()
    del flink.jobs[JOB]
    done = gone_on(flink, stopping(savepoint=savepoint, trigger="" if savepoint else "x"))
    assert done is not None
    assert (done.lost, done.runs, done.savepoint) == (True, False, savepoint)
    assert f"Flink does not know job {JOB} any more" in done.reason
    assert savepoint in done.reason


def test_a_stopped_job_that_flink_has_forgotten_is_not_tried_for_ever() -> None:
    flink = ScriptedFlink()
    del flink.jobs[JOB]
    done = gone_on(flink, stopping(savepoint=SAVEPOINT, trigger="", job="a" * 32))
    assert done is not None
    assert done.lost
    assert SAVEPOINT in done.reason


def test_a_device_that_is_lost_during_a_restart_brings_the_former_mapping_back() -> None:
    flink = ScriptedFlink()
    flink.jobs[JOB].state, flink.jobs[JOB].stopped_at = "FINISHED", SAVEPOINT
    del flink.labels["tm-a"]
    done = gone_on(flink, stopping())
    assert done is not None
    assert "needs a TaskManager with the label 'dev_a'" in done.reason
    assert "rolled back: job" in done.reason
    assert list(flink.running) == [done.job]


EFFECTS = [Effect.ERROR, Effect.REFUSED, Effect.LOST, Effect.GARBLED]


@pytest.mark.long
@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("times", [1, 3, 10**9])
def test_every_fault_leaves_one_job_or_a_known_state(
    effect: Effect, times: int, share: Share
) -> None:
    restart(flink := ScriptedFlink())
    for after in share.of(range(len(flink.requests))):
        check(effect, times, after)


@pytest.mark.parametrize(("effect", "after"), list(zip(EFFECTS, (4, 21, 17, 23), strict=True)))
def test_faults_leave_one_job_or_a_known_state(effect: Effect, after: int) -> None:
    check(effect, 2, after)


def check(effect: Effect, times: int, after: int) -> None:
    """Restart with a fault from a certain request on; then go on without it."""
    flink = ScriptedFlink(faults=[Fault(effect, after=after, times=times)])
    log = Log()
    with flink.serving() as url:
        done = restarts(url, Limits(0.1, 0.3, 0.4)).act(JOB, AFTER, log)
    case = f"{effect} {times} times after {after}: {done}"
    assert len(flink.running) <= 1, case
    assert done.succeeded or done.reason, case
    assert "\n" not in done.reason, case
    if done.pending:
        done = gone_on(flink, log, HASTY) or done
    assert len(flink.running) == 1, f"{case}; then {done}"
    assert list(flink.running) == [done.job], f"{case}; then {done}"


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
