"""Changes of numbers of instances under a scripted adaptive scheduler."""

import time
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread, Timer
from typing import Any

import pytest

from streamplace.control.interfaces import Acted
from streamplace.control.journal import Entry
from streamplace.control.plans import Deployment
from streamplace.engines.flink.applying.asking import Limits
from streamplace.engines.flink.watching.rescaling import REQUIRED
from streamplace.engines.flink.watching.slots import MAKES_DO
from streamplace.errors import ProblemError
from tests.support.flink_actions import AFTER, PATIENT, rescales
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.faults import Effect, Fault
from tests.support.flink_server.server import ScriptedFlink

ONE = {"Source: src": 1, "count": 1, "out: Writer": 1}
TWO = {**ONE, "count": 2}
THREE = Deployment(dict.fromkeys(ONE, ("b",) * 3))
ENDS = Limits(answer_s=0.5, savepoint_s=20.0, start_s=1.0)


def adaptive(**more: Any) -> ScriptedFlink:
    """Return a cluster whose job has checkpoints so often that nobody waits for one."""
    return ScriptedFlink(scheduler="Adaptive", **{"interval": 100, **more})


def acted(
    flink: ScriptedFlink, deployment: Deployment = AFTER, limits: Limits = PATIENT
) -> tuple[Acted, list[Entry]]:
    entries: list[Entry] = []
    with flink.serving() as url:
        done = rescales(url, limits).act(
            JOB, deployment, lambda step, details: entries.append(Entry(0.0, step, details))
        )
    return done, entries


def test_numbers_change_and_all_vertices_are_named() -> None:
    flink = adaptive()
    done, entries = acted(flink)
    assert (done.succeeded, done.job, done.reason) == (True, JOB, "")
    assert flink.jobs[JOB].parallelism == TWO
    (body,) = [body for method, _, body in flink.requests if method == "PUT"]
    counts = {"f362c8": 1, "b71731": 2, "4d6488": 1}
    assert body == {
        v: {"parallelism": {"lowerBound": 1, "upperBound": n}} for v, n in counts.items()
    }
    assert [entry.step for entry in entries] == [REQUIRED]
    assert entries[0].details["former"]["b71731"] == (1, 1)


def test_the_journal_is_written_before_the_request() -> None:
    flink = adaptive()

    def kill(step: str, details: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    with flink.serving() as url, pytest.raises(KeyboardInterrupt):
        rescales(url).act(JOB, AFTER, kill)
    assert flink.changes == []


def test_numbers_that_have_no_effect_are_taken_back_and_change_nothing() -> None:
    flink = adaptive(ignores=1)
    done, _ = acted(flink, limits=ENDS)
    assert (done.refused, done.runs) == (True, True)
    assert done.reason.startswith("nothing is changed: not running as asked after 1.17 s (count ")
    assert done.reason.endswith("has 1 instead of 2 instances)")
    assert flink.jobs[JOB].requirements["count"] == (1, 1)
    assert flink.jobs[JOB].parallelism == ONE


@pytest.mark.parametrize(("interval", "moves"), [(20_000, True), (100, False)])
def test_a_change_waits_for_the_next_checkpoint(interval: int, moves: bool) -> None:
    """Flink 2 begins with it when the checkpoint ends, which takes longer than a start here."""
    flink = adaptive(interval=interval, until_checkpoint=60)
    done, _ = acted(flink, limits=replace(ENDS, start_s=0.5))
    assert (done.succeeded, done.refused) == (moves, not moves)
    assert flink.jobs[JOB].parallelism == (TWO if moves else ONE)


def test_a_job_that_starts_anew_meanwhile_may_have_changed() -> None:
    flink = adaptive(until_checkpoint=60)
    anew = Timer(0.3, flink.jobs[JOB].move, [{n: ["tm-a"] for n in ONE}, flink.clock() + 1.0])
    with flink.serving() as url:
        limits = replace(ENDS, start_s=0.5)
        done = rescales(url, limits).act(JOB, AFTER, lambda step, details: anew.start())
    anew.join()
    assert (done.succeeded, done.changed) == (False, True)
    assert done.reason.endswith(f"; rolled back; job {JOB} is running")


@pytest.mark.parametrize(
    ("fields", "counts", "why"),
    [
        ({"scheduler": "Default"}, TWO, "does not run under the adaptive scheduler"),
        ({"version": "1.20.5"}, TWO, ""),  # where only the configuration names the scheduler
        ({"version": "1.20.5", "scheduler": "Default"}, TWO, "does not run under the adaptive"),
        ({"version": "1.17.2"}, TWO, "Flink 1.17.2 cannot change numbers of instances while a"),
        ({"version": "2.4.0"}, TWO, "Flink 2.4.0 is none of the versions that streamplace was run"),
        ({}, {**ONE, "count": 5}, "'count' cannot have 5 instances: its maximum parallelism is 4"),
        ({}, {**ONE, "x": 1}, "the job has no operator 'x'"),
        ({"config": {"high-availability.type": "zookeeper"}}, TWO, "only advice is safe"),
        ({"interval": 2**63 - 1}, TWO, "no checkpoints, so its state would be lost"),
        (
            {"checkpoint_age_s": 9.0, "clock": ManualClock()},
            TWO,
            "9 s old, although a new one is due after 3 s at most",
        ),
        ({"state_bytes": 10**9}, TWO, "is 477 MB in each of 2 slots, and only 0 of "),
        ({"state_bytes": 150 * 2**20}, {**ONE, "Source: src": 4}, "the state of count, 150 MB "),
        ({"state_bytes": 150 * 2**20}, {**ONE, "Source: src": 4, "count": 2}, ""),
        ({"fixed": -1}, TWO, ""),  # as this scheduler keeps the maximum
        ({"labels": {"tm-b": {}}}, {**ONE, "Source: src": 4, "count": 4}, ""),
    ],
)
def test_refusals(fields: dict[str, Any], counts: dict[str, int], why: str) -> None:
    flink = ScriptedFlink(**{"scheduler": "Adaptive", **fields})
    done, _ = acted(flink, Deployment({name: ("b",) * n for name, n in counts.items()}))
    if not why:
        assert done.succeeded, done.reason
        return
    assert (done.succeeded, done.changed) == (False, False)
    assert why in done.reason
    assert flink.changes == []


def crowded(**more: Any) -> ScriptedFlink:
    """Return a cluster of four slots, two of which another job holds."""
    flink = adaptive(labels={"tm-b": {}}, **more)
    flink.jobs["other"] = flink.jobs[JOB].__class__(hosts={"count": ["tm-b", "tm-b"]})
    return flink


@pytest.mark.parametrize("makes_do", ["400 ms", "400"])  # Flink counts milliseconds
def test_missing_slots_are_asked_for_and_the_job_goes_on(makes_do: str) -> None:
    flink = crowded(config={MAKES_DO: makes_do})
    done, entries = acted(flink, THREE)
    assert (done.succeeded, done.changed, done.refused) == (False, False, True)
    assert "nothing is changed: 3 slots are needed, but only 2 are free or held" in done.reason
    assert done.reason.endswith("no others came within 0.3 s of asking for them")
    assert [change.split()[0] for change in flink.changes] == ["PUT", "PUT"]
    assert [entry.step for entry in entries] == [REQUIRED]
    assert flink.jobs[JOB].requirements["count"] == (1, 1)
    assert flink.jobs[JOB].parallelism == ONE


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"version": "1.20.1"}, "Flink 1.20.1 does not wait for others while a job runs"),
        ({"config": {MAKES_DO: "0 s"}}, f"Flink does not wait for others ({MAKES_DO}: 0 s)"),
    ],
)
def test_flink_is_not_asked_for_slots_if_it_makes_do_with_fewer_at_once(
    fields: dict[str, Any], why: str
) -> None:
    flink = crowded(**fields)
    done, entries = acted(flink, THREE)
    short = "3 slots are needed, but only 2 are free or held by it"
    assert done.refused
    assert done.reason == f"nothing is changed: {short}, and {why}"
    assert (flink.changes, entries) == ([], [])
    with flink.serving() as url, pytest.raises(ProblemError, match=short):
        rescales(url).planned(JOB, THREE)


@pytest.mark.parametrize(("ago_s", "over"), [(50.0, True), (70.0, False)])
@pytest.mark.parametrize("clock", [time.time, ManualClock()])
def test_flinks_time_goes_on_when_it_is_asked_again(
    ago_s: float, over: bool, clock: Callable[[], float]
) -> None:
    """It waits 60 s from the first request on, of which 45 are used, by the server's clock."""
    flink = crowded(clock=clock)
    _, entries = acted(crowded(config={MAKES_DO: "400 ms"}), THREE)
    asked = [replace(entry, at_s=clock() - ago_s) for entry in entries]
    with flink.serving() as url:
        done = rescales(url, ENDS).resume(JOB, THREE, asked, lambda step, details: None)
    assert done is not None
    assert done.refused
    assert ("the time that Flink waits for others is nearly over" in done.reason) is over
    assert len(flink.changes) == (1 if over else 2)


def test_a_job_that_made_do_with_fewer_slots_meanwhile_has_changed() -> None:
    flink = crowded(config={MAKES_DO: "400 ms"})
    hosts = {name: ["tm-a"] * count for name, count in TWO.items()}
    meanwhile = Timer(0.1, flink.jobs[JOB].move, [hosts, flink.clock()])
    with flink.serving() as url:
        done = rescales(url).act(JOB, THREE, lambda step, details: meanwhile.start())
    meanwhile.join()
    assert (done.succeeded, done.changed, done.refused) == (False, True, False)
    assert "nothing is changed" not in done.reason
    assert "rolled back" in done.reason
    assert flink.jobs[JOB].parallelism == ONE


def test_slots_are_not_asked_for_if_it_is_unknown_how_long_flink_waits() -> None:
    flink = crowded(config={MAKES_DO: "1 fortnight"})
    done, _ = acted(flink, THREE)
    assert done.refused
    assert f"only 2 are free or held by it, and {MAKES_DO}: " in done.reason
    assert "(got '1 fortnight')" in done.reason
    assert flink.changes == []


def test_missing_slots_are_named_beforehand() -> None:
    flink = crowded()
    with flink.serving() as url:
        asked = rescales(url).planned(JOB, THREE)
    assert "of 3 slots, some are missing and must come first" in asked.purpose
    assert flink.changes == []


def test_slots_that_come_in_time_are_used() -> None:
    flink = crowded()

    def come() -> None:
        while not flink.changes and not over.wait(0.01):
            pass
        flink.join("tm-c")

    late, over = Thread(target=come), Event()
    late.start()
    done, _ = acted(flink, THREE)
    over.set()
    late.join()
    assert done.succeeded, done.reason
    assert flink.jobs[JOB].parallelism == dict.fromkeys(ONE, 3)
    assert [change.split()[0] for change in flink.changes] == ["PUT", "PUT"]


def test_a_question_for_slots_that_was_interrupted_is_put_again() -> None:
    flink = crowded(config={MAKES_DO: "400 ms"})
    _, entries = acted(flink, THREE)
    with flink.serving() as url:
        back = rescales(url).resume(JOB, THREE, entries, lambda step, details: None)
        assert back is not None
        assert back.refused
        flink.join("tm-c")
        done = rescales(url).resume(JOB, THREE, entries, lambda step, details: None)
    assert done is not None
    assert done.succeeded, done.reason
    assert list(flink.running) == [JOB, "other"]


def test_slots_that_cannot_be_counted_are_waited_for() -> None:
    flink = crowded()
    _, entries = acted(crowded(config={MAKES_DO: "400 ms"}), THREE)
    with flink.serving() as url:
        realiser = rescales(url, ENDS)
        flink.faults = [Fault(Effect.ERROR, "GET /taskmanagers")]
        unknown = realiser.resume(JOB, THREE, entries, lambda step, details: None)
    assert unknown is not None
    assert unknown.pending
    assert flink.changes == []


def test_a_request_for_slots_that_fails_is_taken_back() -> None:
    flink = crowded(faults=[Fault(Effect.ERROR, "PUT .*", times=1)])
    done, _ = acted(flink, THREE, ENDS)
    assert (done.succeeded, done.changed) == (False, False)
    assert flink.jobs[JOB].requirements["count"] == (1, 1)


def test_a_put_whose_answer_is_lost_is_found() -> None:
    flink = adaptive(faults=[Fault(Effect.LOST, "PUT .*", times=1)])
    done, _ = acted(flink, limits=replace(PATIENT, answer_s=0.5))
    assert done.succeeded


@pytest.mark.parametrize("effect", [Effect.ERROR, Effect.SLOW, Effect.REFUSED])
def test_a_put_without_effect_is_reported(effect: Effect) -> None:
    flink = adaptive(faults=[Fault(effect, "PUT .*", times=1)])
    done, _ = acted(flink, limits=ENDS)
    assert done.refused
    assert "rolled back" not in done.reason
    assert flink.jobs[JOB].parallelism == ONE
    assert flink.jobs[JOB].runs


def test_an_interrupted_change_goes_on_and_knows_the_numbers_before() -> None:
    flink = adaptive()
    _, entries = acted(flink)
    with flink.serving() as url:
        done = rescales(url).resume(JOB, AFTER, entries, lambda step, details: None)
        assert done is not None
        assert done.succeeded
        flink.jobs[JOB].move(
            {"Source: src": ["tm-b"], "count": ["tm-b"], "out: Writer": ["tm-b"]}, 0
        )
        flink.ignores = 1
        flink.jobs[JOB].requirements.clear()
        realiser = rescales(url, ENDS)
        back = realiser.resume(JOB, AFTER, entries, lambda step, details: None)
        assert realiser.resume(JOB, AFTER, [], lambda step, details: None) is None
    assert back is not None
    assert not back.succeeded
    assert flink.jobs[JOB].parallelism == ONE


def test_a_job_that_fails_meanwhile_is_lost() -> None:
    flink = adaptive()

    def fail(step: str, details: dict[str, Any]) -> None:
        flink.jobs[JOB].state = "FAILED"

    with flink.serving() as url:
        done = rescales(url).act(JOB, AFTER, fail)
    assert (done.lost, done.succeeded) == (True, False)
    assert "the job is FAILED: IOException: no space" in done.reason


def test_a_rescaled_job_is_not_stopped() -> None:
    flink = adaptive()
    acted(flink)
    assert all(change.startswith("PUT") for change in flink.changes)
