"""Watching a job on Flink: windows, requests, and refusals."""

from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from streamplace.control.decisions import Action, State
from streamplace.control.interfaces import LostError
from streamplace.control.journal import BEGAN, ENDED, Journal
from streamplace.control.load import PARTS
from streamplace.control.watching import WAITING
from streamplace.engines.flink.watching.rescaling import AdaptiveRealiser
from streamplace.engines.flink.watching.restarting import RestartRealiser
from streamplace.errors import UsageError
from tests.support.flink_actions import AFTER, HANGS, HOSTS, PATIENT, watched
from tests.support.flink_server.checkpoint_documents import SAVEPOINT
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.faults import Effect, Fault
from tests.support.flink_server.load import Load
from tests.support.flink_server.server import ScriptedFlink
from tests.support.flink_watching import act, is_act, overloaded, steps, until


def test_inside_the_band_nothing_is_done(tmp_path: Path) -> None:
    flink = ScriptedFlink(reports_waiting=True)
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        for _ in range(5):
            watching.window()
    assert flink.changes == []
    assert lines[-1] == (
        "nothing: the busiest instance, of count, is busy 60% of the time, within 40% to 85%"
    )


def test_an_overloaded_job_is_restarted_and_goes_on(tmp_path: Path) -> None:
    flink = overloaded()
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        decision, _ = until(watching, is_act)
        assert decision.state is State.OVERLOADED
        ((job, run),) = flink.running.items()
        assert watching.job == job != JOB
        assert run.hosts == HOSTS
        assert f"job {job} runs as planned" in lines
        flink.load.rate_s = 140.0
        calm, _ = until(watching, lambda each: each.state is State.STEADY)
    assert calm.action is Action.NOTHING
    assert sum("/run" in change for change in flink.changes) == 1
    written = steps(tmp_path)
    assert written.index(BEGAN) < written.index("progress") < written.index(ENDED)


def test_advice_sends_only_get_requests(tmp_path: Path) -> None:
    flink = overloaded()
    with watched(flink, ManualClock(), tmp_path, realiser=None) as (watching, lines):
        advice, _ = until(watching, lambda each: each.action is Action.ADVISE)
        watching.window()
    assert advice.plan is not None
    assert any(line.startswith("advise: ") for line in lines)
    assert {method for method, _, _ in flink.requests} == {"GET"}
    assert BEGAN not in steps(tmp_path)


def test_numbers_change_under_the_adaptive_scheduler(tmp_path: Path) -> None:
    flink = overloaded(scheduler="Adaptive")
    with watched(flink, ManualClock(), tmp_path, AdaptiveRealiser) as (watching, _):
        until(watching, is_act)
        assert watching.job == JOB
    assert flink.jobs[JOB].parallelism == AFTER.parallelism
    assert [change.split()[0] for change in flink.changes] == ["PUT"]


def test_a_full_job_that_hides_its_rate_gets_more_for_what_it_carries(tmp_path: Path) -> None:
    flink = overloaded()
    flink.reports_waiting = False
    with watched(flink, ManualClock(), tmp_path, realiser=None) as (watching, _):
        decision, windows = until(watching, lambda each: each.action is Action.ADVISE)
    assert windows == 3, "the first is too early, and two must agree"
    assert "111 tuples/s are carried, and more may be offered (backpressure" in decision.reason


def test_a_source_that_is_busy_with_waiting_gets_no_more(tmp_path: Path) -> None:
    """As one that blocks until tuples come, whose time Flink counts as busy."""
    flink = ScriptedFlink(load=Load(100.0, {"Source: src": 0.01}))
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        for _ in range(4):
            watching.window()
    assert flink.changes == []
    assert lines[-1].startswith("nothing: the offered rate is unknown: Source: src is never idle")


@pytest.mark.parametrize("effect", [Effect.ERROR, Effect.REFUSED, Effect.GARBLED, Effect.SLOW])
def test_a_server_that_does_not_answer_is_no_reason_to_act(tmp_path: Path, effect: Effect) -> None:
    flink, limits = overloaded(), replace(PATIENT, answer_s=0.5)
    with watched(flink, ManualClock(), tmp_path, limits=limits) as (watching, lines):
        flink.faults = [Fault(effect)]
        watching.window()
        watching.window()
        assert flink.changes == []
        flink.faults = []
        until(watching, is_act)
    assert lines[0].startswith("nothing: http://127.0.0.1:")


def test_stale_metrics_are_no_reason_to_act(tmp_path: Path) -> None:
    flink = overloaded()
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        flink.frozen = True
        for _ in range(3):
            watching.window()
    assert flink.changes == []
    assert "the metrics have not changed for" in lines[-1]


@pytest.mark.parametrize("by", [JOB, "other", ""])
def test_a_job_of_another_controller_is_left_alone(tmp_path: Path, by: str) -> None:
    """It is overloaded, so that the window would change it if it were still the same job."""
    flink = overloaded()
    flink.load.rate_s = 60.0
    with watched(flink, ManualClock(), tmp_path) as (watching, _):
        watching.window()
        flink.load.rate_s = 200.0
        if by == JOB:
            decision = watching.window()
            assert decision is not None
            assert is_act(decision)
            return
        if by:
            flink.replace_job(JOB, by)
        else:
            del flink.jobs[JOB]
        with pytest.raises(LostError, match=JOB):
            watching.window()
    assert flink.changes == []


def test_a_lost_task_manager_is_waited_for(tmp_path: Path) -> None:
    flink = ScriptedFlink(reports_waiting=True)
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        watching.window()
        flink.lose("tm-b")
        watching.window()
        watching.window()
    assert flink.changes == []
    assert "was started anew during the window" in lines[1]


def test_a_refused_action_changes_nothing_and_is_not_repeated(tmp_path: Path) -> None:
    flink = overloaded(config={"kubernetes.cluster-id": "x", "state.savepoints.dir": "file:///s"})
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        until(watching, is_act)
        for _ in range(6):
            watching.window()
    assert flink.changes == []
    assert list(flink.running) == [JOB]
    (refused,) = [line for line in lines if "Kubernetes" in line]
    assert refused.startswith("refused: nothing is changed: ")
    assert steps(tmp_path).count(BEGAN) == 1


def test_a_worse_job_is_taken_back_once(tmp_path: Path) -> None:
    flink = overloaded()
    flink.load.slower = 3.0
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        until(watching, is_act)
        flink.load.slower = 1.0
        back, _ = until(watching, is_act, most=10)
        assert back.state is State.ROLLING_BACK
        for _ in range(15):  # which end early, for longer than the cool-down
            watching.window()
    ((_, run),) = flink.running.items()
    assert run.parallelism == dict.fromkeys(HOSTS, 1)
    assert steps(tmp_path).count(BEGAN) == 2
    assert any("is not tried again before" in line for line in lines)


@pytest.mark.parametrize("more", [0, 1])
def test_a_start_that_fails_is_tried_again_from_its_savepoint(tmp_path: Path, more: int) -> None:
    flink = overloaded(refuses=2 + more)
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        until(watching, is_act)
        assert flink.running == {}
        assert steps(tmp_path)[-1] == WAITING
        assert f"all state is in {SAVEPOINT}" in lines[-1]
        for _ in range(1 + more):
            assert watching.window() is None
        assert len(flink.running) == 1
        assert watching.job in flink.running
        assert steps(tmp_path)[-1] == ENDED


def test_a_savepoint_that_ends_late_is_gone_on_with(tmp_path: Path) -> None:
    flink = overloaded(polls=HANGS)
    limits = replace(PATIENT, savepoint_s=0.1)
    with watched(flink, ManualClock(), tmp_path, limits=limits) as (watching, _):
        until(watching, is_act)
        assert steps(tmp_path)[-1] == WAITING
        assert list(flink.running) == [JOB]
        flink.waiting = 0
        watching.window()
        assert flink.running[watching.job].hosts == HOSTS


def test_a_job_is_followed_before_it_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock on it then keeps a second controller away."""
    flink = overloaded()
    followed: list[tuple[str, bool]] = []
    with watched(flink, ManualClock(), tmp_path) as (watching, _):
        follow = lambda job: followed.append((job, job in flink.jobs))  # noqa: E731
        monkeypatch.setattr(watching.events, "follow", follow)
        until(watching, is_act)
        assert (watching.job, False) in followed
        assert watching.job != JOB


def test_the_last_window_leaves_no_job_stopped(tmp_path: Path) -> None:
    flink = overloaded(refuses=2)
    with watched(flink, ManualClock(), tmp_path) as (watching, _):
        watching.run(3)
        assert list(flink.running) == [watching.job]
    assert WAITING in steps(tmp_path)
    assert steps(tmp_path)[-1] == ENDED


def test_advice_does_not_go_on_with_an_action(tmp_path: Path) -> None:
    flink, clock = overloaded(refuses=2), ManualClock()
    act(flink, clock, tmp_path, Journal)
    with (
        pytest.raises(UsageError, match="go on with it in the mode apply"),
        watched(flink, clock, tmp_path, realiser=None),
    ):
        pass


MOST = 12
VERTICES, OF_JOB, OF_WINDOW = 3, 3, 2


def test_a_window_in_which_nothing_happens_takes_few_requests(tmp_path: Path) -> None:
    """In each part, the job twice, each vertex, and the metrics of the source itself."""
    flink = ScriptedFlink(reports_waiting=True)
    with watched(flink, ManualClock(), tmp_path) as (watching, _):
        watching.window()
        before = len(flink.requests)
        watching.window()
    assert len(flink.requests) - before == PARTS * (OF_JOB + VERTICES) + OF_WINDOW == 32


def requests(folder: Path, realiser: type[Any], **scheduler: str) -> list[str]:
    """Return the requests of the window that acts; those repeated while it waits count once."""
    flink = overloaded(**scheduler)
    with watched(flink, ManualClock(), folder, realiser) as (watching, _):
        before: list[int] = []
        follow = watching.events.follow

        def begin(job: str) -> None:
            if job == JOB:
                before.append(len(flink.requests))
            follow(job)

        watching.events.follow = begin  # type: ignore[method-assign]
        until(watching, is_act)
    sent = [f"{method} {path}" for method, path, _ in flink.requests]
    begun = max(i for i in before if not any(row.startswith(("POST", "PUT")) for row in sent[:i]))
    return [row for row, _ in groupby(sent[begun:])]


def test_numbers_of_instances_change_with_few_requests(tmp_path: Path) -> None:
    assert len(requests(tmp_path, AdaptiveRealiser, scheduler="Adaptive")) <= MOST


def test_a_restart_reads_each_document_once_before_it_stops_the_job(tmp_path: Path) -> None:
    sent = requests(tmp_path, RestartRealiser)
    reads = [row for row in sent[: sent.index(f"POST /jobs/{JOB}/stop")] if row.startswith("GET")]
    assert len(reads) <= MOST
    twice = {row for row in reads if reads.count(row) > 1}
    assert twice <= {"GET /taskmanagers"}  # once for what the job holds
    after = len(sent) - sent.index(f"POST /jobs/{JOB}/stop")
    assert after <= 2 * MOST


def test_a_restarted_job_is_read_anew(tmp_path: Path) -> None:
    """What was kept of a step is not used again after the job has changed."""
    sent = requests(tmp_path, RestartRealiser)
    new = [row for row in sent if row.endswith("/config") and JOB not in row]
    assert len(new) == 2  # of the job, and of its checkpoints
