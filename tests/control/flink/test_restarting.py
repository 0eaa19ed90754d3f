"""Restarts of a scripted job: success, refusals, faults of the server, interruptions."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from streamplace.control.entries import BEGAN, Entry
from streamplace.control.flink.acting import Acted
from streamplace.control.flink.resuming import PROGRESS
from streamplace.control.plans import Deployment
from streamplace.integrations.flink.applying.progress import Limits
from streamplace.integrations.profiling.rest import Server
from tests.support.flink_actions import AFTER, BEFORE, HOSTS, quick, restarts
from tests.support.flink_server.checkpoint_documents import CHECKPOINT, SAVEPOINT
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.faults import Effect, Fault
from tests.support.flink_server.server import ScriptedFlink
from tests.support.share import Share

HANGS = 10**6
START = [Entry(0.0, BEGAN, {"job": JOB, "deployment": AFTER.to_dict()})]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


class Log:
    """A journal in memory, which may interrupt the action."""

    def __init__(self, until: int = HANGS, before: Sequence[Entry] = START) -> None:
        self.entries, self.until = list(before), until

    def __call__(self, step: str, details: dict[str, Any]) -> None:
        self.entries.append(Entry(0.0, step, details))
        if len(self.entries) > self.until:
            raise KeyboardInterrupt


def acted(flink: ScriptedFlink, deployment: Deployment = AFTER, **more: Any) -> Acted:
    with flink.serving() as url:
        return restarts(url, **more).act(JOB, deployment, Log())


def unharmed(flink: ScriptedFlink, done: Acted) -> None:
    """Check that one job runs, or none and its state is known."""
    assert len(flink.running) <= 1
    assert not any(change.startswith("DELETE /jobs") for change in flink.changes)
    if done.runs:
        assert list(flink.running) == [done.job]
    else:
        assert not flink.running
        assert done.savepoint
        assert done.savepoint in done.reason


def test_a_restart_with_labels() -> None:
    flink = ScriptedFlink()
    done = acted(flink)
    assert (done.succeeded, done.changed, done.reason) == (True, True, "")
    assert flink.running[done.job].hosts == HOSTS
    assert done.downtime_s is not None
    assert done.downtime_s >= 0


def test_a_restart_with_numbers_only() -> None:
    flink = ScriptedFlink(labels={"tm-x": {}, "tm-y": {}})
    done = acted(flink, labels=False)
    assert done.succeeded, done.reason
    assert flink.running[done.job].parallelism == AFTER.parallelism
    assert "label" not in str(flink.running[done.job].mapping)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        (
            {"config": {"high-availability.type": "zookeeper"}},
            "high-availability.type is zookeeper",
        ),
        ({"config": {"kubernetes.cluster-id": "x"}}, "Kubernetes manages this cluster"),
        ({"fixed": -1}, "sets no maximum parallelism, so the state of count may not fit"),
        ({"interval": 2**63 - 1}, "the job has no checkpoints"),
        ({"without_uid": "count"}, "operators without uid, so their state may be lost: count"),
        ({"helper": False}, "does not call StreamplaceMapping"),
        ({"labels": {"tm-b": {"dev_b": 1000.0}}}, "needs a TaskManager with the label 'dev_a'"),
        ({"scheduler": "Adaptive"}, "adaptive scheduler, which ignores groups' labels"),
    ],
)
def test_refusals_change_nothing(fields: dict[str, Any], why: str) -> None:
    flink = ScriptedFlink(**fields)
    flink.config.setdefault("state.savepoints.dir", "file:///s")
    done = acted(flink)
    assert (done.succeeded, done.changed, done.runs, done.job) == (False, False, True, JOB)
    assert done.reason.startswith("nothing is changed: ")
    assert why in done.reason
    assert not [change for change in flink.changes if not change.endswith("/plan")]
    unharmed(flink, done)


def test_numbers_may_stay_without_a_maximum_parallelism() -> None:
    flink = ScriptedFlink(fixed=-1)
    moved = Deployment({**BEFORE.hosts, "count": ("a",)})
    assert acted(flink, moved).succeeded


def test_without_slots_nothing_is_changed() -> None:
    flink = ScriptedFlink(labels={"tm-x": {}})
    done = acted(flink, Deployment({**AFTER.hosts, "count": ("b",) * 5}), labels=False)
    assert "5 slots are needed, but only 4 are free" in done.reason
    assert not done.changed


def test_numbers_that_have_no_effect_are_rolled_back() -> None:
    flink = ScriptedFlink(ignores=1)
    done = acted(flink)
    assert not done.succeeded
    assert "'count' has parallelism 1 instead of 2; rolled back" in done.reason
    unharmed(flink, done)


@pytest.mark.parametrize("fault", ["refuses", "stuck", "misplaces"])
def test_a_start_that_fails_is_rolled_back(fault: str) -> None:
    flink = ScriptedFlink(**{fault: 1})  # type: ignore[arg-type]
    done = acted(flink)
    assert (done.succeeded, done.runs) == (False, True)
    assert f"rolled back: job {done.job} runs as before" in done.reason
    unharmed(flink, done)


def test_a_savepoint_that_hangs_leaves_the_job_running() -> None:
    flink = ScriptedFlink(polls=HANGS)
    done = acted(flink, limits=Limits(0.5, 0.1, 0.5))
    assert done.stops
    assert done.pending
    unharmed(flink, done)


def test_a_savepoint_that_hangs_is_given_up_where_that_is_allowed() -> None:
    flink = ScriptedFlink(polls=HANGS)
    done = acted(flink, limits=Limits(0.5, 0.1, 0.6, cancel_age_s=60))
    assert done.succeeded
    assert flink.running[done.job].restored == CHECKPOINT


def gone_on(flink: ScriptedFlink, log: Log) -> Acted | None:
    flink.faults.clear()
    with flink.serving() as url:
        while True:
            done = restarts(url).resume(JOB, AFTER, log.entries, log)
            if done is None or not done.pending or done.lost:
                return done


SLOW = pytest.param("misplaces", marks=pytest.mark.long)


@pytest.mark.parametrize("fault", [None, SLOW, "refuses", "savepoint_fails"])
def test_a_restart_goes_on_after_an_interruption_at_every_step(fault: str | None) -> None:
    for until in itertools.count(len(START)):
        flink = ScriptedFlink(**({fault: 1} if fault else {}))  # type: ignore[arg-type]
        log = Log(until)
        with flink.serving() as url:
            try:
                restarts(url).act(JOB, AFTER, log)
            except KeyboardInterrupt:
                pass
            else:
                break
        done = gone_on(flink, Log(before=log.entries))
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
        backend = restarts(url)
        backend.server = Killed(url, requests, is_after)
        try:
            backend.act(JOB, AFTER, log)
        except KeyboardInterrupt:
            pass
        else:
            return False
    done = gone_on(flink, log)
    assert len(flink.running) == 1, (requests, done)
    assert done is None or list(flink.running) == [done.job], (requests, done)
    return True


@pytest.mark.parametrize("requests", [17, 24, 33])
def test_a_killed_restart_goes_on(requests: int) -> None:
    assert killed(None, requests, is_after=True)


@pytest.mark.long
@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("fault", [None, "misplaces", "refuses", "stuck", "savepoint_fails"])
def test_a_restart_killed_at_every_request_goes_on(
    fault: str | None, is_after: bool, share: Share
) -> None:
    flink = ScriptedFlink(**({fault: 1} if fault else {}))  # type: ignore[arg-type]
    acted(flink)
    for requests in share.of(range(len(flink.requests))):
        killed(fault, requests, is_after)


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


def test_a_job_that_another_controller_restarted_meanwhile_is_left_alone() -> None:
    flink = ScriptedFlink()
    flink.replace_job(JOB, "other")
    done = acted(flink)
    assert (done.lost, done.changed) == (True, False)
    assert flink.changes == []
    assert list(flink.running) == ["other"]


def test_a_job_that_is_gone_is_not_changed() -> None:
    flink = ScriptedFlink()
    del flink.jobs[JOB]
    done = acted(flink)
    assert (done.succeeded, done.changed) == (False, False)
    assert flink.changes == []


def test_a_device_that_is_lost_during_a_restart_brings_the_former_mapping_back() -> None:
    flink = ScriptedFlink()
    flink.jobs[JOB].state, flink.jobs[JOB].stopped_at = "FINISHED", SAVEPOINT
    del flink.labels["tm-a"]
    stop = {"job": JOB, "trigger": "x", "savepoint": "", "rolling_back": False, "cancelling": False}
    log = Log(before=[*START, Entry(0.0, PROGRESS, stop)])
    done = gone_on(flink, log)
    assert done is not None
    assert "needs a TaskManager with the label 'dev_a'" in done.reason
    assert "rolled back: job" in done.reason
    assert list(flink.running) == [done.job]


@pytest.mark.parametrize("after", [0, 1, 4, 5, 8])
def test_while_the_server_is_away_a_stopped_job_stays_pending(after: int) -> None:
    flink = ScriptedFlink()
    flink.jobs[JOB].state, flink.jobs[JOB].stopped_at = "FINISHED", SAVEPOINT
    del flink.labels["tm-a"]
    flink.faults = [Fault(Effect.REFUSED, after=after)]
    with flink.serving() as url:
        done = restarts(url, Limits(0.1, 0.1, 0.1)).act(JOB, AFTER, Log(), SAVEPOINT)
    assert done.pending
    assert done.savepoint == SAVEPOINT


EFFECTS = [Effect.ERROR, Effect.REFUSED, Effect.LOST, Effect.GARBLED]


@pytest.mark.long
@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("times", [1, 3, 10**9])
def test_every_fault_leaves_one_job_or_a_known_state(
    effect: Effect, times: int, share: Share
) -> None:
    acted(flink := ScriptedFlink())
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
        done = gone_on(flink, log) or done
    assert len(flink.running) == 1, f"{case}; then {done}"
    assert list(flink.running) == [done.job], f"{case}; then {done}"
