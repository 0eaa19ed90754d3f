"""Restarts of a scripted job: success, refusals, faults of the server, interruptions."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from streamplace.control.interfaces import Acted
from streamplace.control.plans import Deployment
from streamplace.engines.flink.applying.asking import Limits
from streamplace.engines.flink.groups import device_labels
from tests.support.flink_actions import AFTER, BEFORE, HANGS, HOSTS, PATIENT, Log, restarts
from tests.support.flink_server.checkpoint_documents import CHECKPOINT, SAVEPOINT
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.faults import Effect, Fault
from tests.support.flink_server.server import ScriptedFlink
from tests.support.long import long_after

STARTS = replace(PATIENT, start_s=2.0)  # of a job that never starts
CANCELS = replace(PATIENT, savepoint_s=0.1, cancel_age_s=60.0)


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


def test_operators_are_divided_anew_by_the_same_labels() -> None:
    offered = device_labels(["a", "b"], 3).offered
    flink = ScriptedFlink(labels={f"tm-{name}": {**offered[name]} for name in "ab"})
    job = JOB
    with flink.serving() as url:
        for counts in ((2, 1), (1, 2)):
            hosts = {**AFTER.hosts, "count": ("a",) * counts[0] + ("b",) * counts[1]}
            done = restarts(url).act(job, Deployment(hosts), Log())
            assert done.succeeded, done.reason
            job = done.job
            found = Counter(flink.running[job].hosts["count"])
            assert found == {"tm-a": counts[0], "tm-b": counts[1]}


def test_a_restart_with_numbers_only() -> None:
    """High availability may be configured as none."""
    flink = ScriptedFlink(labels={"tm-x": {}, "tm-y": {}})
    flink.config |= {"high-availability.type": "NONE", "high-availability": ""}
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
        ({"config": {"high-availability": "ZooKeeper"}}, "high-availability is zookeeper"),
        ({"config": {"kubernetes.cluster-id": "x"}}, "Kubernetes manages this cluster"),
        ({"config": {"$internal.kubernetes.x": "x"}}, "Kubernetes manages this cluster"),
        ({"fixed": -1}, "sets no maximum parallelism, so the state of count may not fit"),
        ({"interval": 2**63 - 1}, "the job has no checkpoints"),
        ({"without_uid": "count"}, "operators without uid, so their state may be lost: count"),
        ({"helper": False}, "does not call StreamplaceMapping"),
        ({"labels": {"tm-b": {"dev_b": 1000.0}}}, "needs a TaskManager with the label 'dev_a'"),
        ({"state_bytes": 10**9}, "the state of the job, 954 MB in the latest checkpoint, is"),
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


@pytest.mark.parametrize("fault", long_after(2, ["refuses", "misplaces", "stuck"]))
def test_a_start_that_fails_is_rolled_back(fault: str) -> None:
    flink = ScriptedFlink(**{fault: 1})  # type: ignore[arg-type]
    done = acted(flink, limits=STARTS if fault == "stuck" else PATIENT)
    assert (done.succeeded, done.runs) == (False, True)
    assert f"rolled back: job {done.job} runs as before" in done.reason
    unharmed(flink, done)


def test_a_job_that_cannot_be_verified_is_named() -> None:
    flink = ScriptedFlink(faults=[Fault(Effect.ERROR, "GET /jobs/[^/]+/vertices/.*")])
    done = acted(flink, limits=STARTS)
    assert (done.succeeded, done.runs, done.changed) == (False, True, True)
    assert done.reason.endswith(f"; job {done.job} runs")
    unharmed(flink, done)


def test_a_savepoint_that_hangs_leaves_the_job_running() -> None:
    flink = ScriptedFlink(polls=HANGS)
    done = acted(flink, limits=replace(PATIENT, savepoint_s=0.1))
    assert done.stops
    assert done.pending
    unharmed(flink, done)


def test_a_hanging_savepoint_is_abandoned_where_that_is_allowed() -> None:
    flink = ScriptedFlink(polls=HANGS, timeout_ms=20_000)
    done = acted(flink, limits=CANCELS)
    assert done.succeeded
    assert flink.running[done.job].restored == CHECKPOINT


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


@pytest.mark.parametrize("request_", ["POST .*/stop", "POST .*/run"])
def test_a_proxy_that_gives_up_is_no_refusal(request_: str) -> None:
    flink = ScriptedFlink(faults=[Fault(Effect.LATE, request_, times=1)])
    done = acted(flink)
    assert done.succeeded, done.reason
    assert list(flink.running) == [done.job]
    assert flink.late == []


def test_a_proxy_that_gives_up_on_a_cancel_does_not_leave_the_job_stopped() -> None:
    faults = [Fault(Effect.LATE, "PATCH .*", times=1)]
    flink = ScriptedFlink(polls=HANGS, faults=faults, timeout_ms=20_000)
    done = acted(flink, limits=CANCELS)
    assert done.succeeded, done.reason
    assert flink.running[done.job].restored == CHECKPOINT
