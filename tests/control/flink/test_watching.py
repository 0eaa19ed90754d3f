"""The loop on a scripted Flink, whose clock jumps from window to window."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamplace.control.decisions import Action, Decision, State
from streamplace.control.entries import BEGAN, ENDED, read_entries
from streamplace.control.flink.rescaling import AdaptiveBackend
from streamplace.control.flink.sampling import LostError
from streamplace.control.flink.watching import WAITING, Watching
from streamplace.control.journal import Journal
from streamplace.errors import FormatError, UsageError
from streamplace.integrations.flink.applying.progress import Limits
from tests.support.flink_actions import AFTER, HOSTS, quick, watched, watched_at
from tests.support.flink_server.checkpoint_documents import SAVEPOINT
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.faults import Effect, Fault
from tests.support.flink_server.load import Load
from tests.support.flink_server.server import ScriptedFlink

HANGS = 10**6
HEAVY = Load(200.0, {"count": 0.009})


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


def overloaded(**more: object) -> ScriptedFlink:
    load = Load(HEAVY.rate_s, dict(HEAVY.work_s))
    return ScriptedFlink(load=load, reports_waiting=True, **more)  # type: ignore[arg-type]


def until(
    watching: Watching, done: Callable[[Decision], bool], most: int = 8
) -> tuple[Decision, int]:
    """Watch until a decision; return it and the number of windows."""
    for number in range(1, most + 1):
        decision = watching.window()
        if decision is not None and done(decision):
            return decision, number
    raise AssertionError(f"not within {most} windows")


def is_act(decision: Decision) -> bool:
    return decision.action is Action.ACT


def steps(folder: Path) -> list[str]:
    return [entry.step for entry in read_entries(folder / "journal.jsonl")[0]]


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
    with watched(flink, ManualClock(), tmp_path, backend=None) as (watching, lines):
        advice, _ = until(watching, lambda each: each.action is Action.ADVISE)
        watching.window()
    assert advice.plan is not None
    assert any(line.startswith("advise: ") for line in lines)
    assert {method for method, _, _ in flink.requests} == {"GET"}
    assert BEGAN not in steps(tmp_path)


def test_numbers_change_under_the_adaptive_scheduler(tmp_path: Path) -> None:
    flink = overloaded(scheduler="Adaptive")
    with watched(flink, ManualClock(), tmp_path, AdaptiveBackend) as (watching, _):
        until(watching, is_act)
        assert watching.job == JOB
    assert flink.jobs[JOB].parallelism == AFTER.parallelism
    assert [change.split()[0] for change in flink.changes] == ["PUT"]


def test_hidden_rates_are_no_reason_to_act(tmp_path: Path) -> None:
    flink = overloaded()
    flink.reports_waiting = False
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        for _ in range(4):
            watching.window()
    assert flink.changes == []
    assert "backpressure hides the offered rate: Source: src" in lines[-1]


@pytest.mark.parametrize("effect", [Effect.ERROR, Effect.REFUSED, Effect.GARBLED, Effect.SLOW])
def test_a_server_that_does_not_answer_is_no_reason_to_act(tmp_path: Path, effect: Effect) -> None:
    flink = overloaded()
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        watching.window()
        flink.faults = [Fault(effect)]
        watching.window()
        watching.window()
        flink.faults = []
        watching.window()
    assert flink.changes == []
    assert lines[1].startswith("nothing: http://127.0.0.1:")


def test_stale_metrics_are_no_reason_to_act(tmp_path: Path) -> None:
    flink = overloaded()
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        watching.window()
        flink.frozen = True
        for _ in range(3):
            watching.window()
    assert flink.changes == []
    assert "the metrics have not changed for" in lines[-1]


@pytest.mark.parametrize("by", ["other", ""])
def test_a_job_of_another_controller_is_left_alone(tmp_path: Path, by: str) -> None:
    flink = overloaded()
    with watched(flink, ManualClock(), tmp_path) as (watching, _):
        watching.window()
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
    assert any("nothing is changed: " in line and "Kubernetes" in line for line in lines)
    assert steps(tmp_path).count(BEGAN) == 1


def test_a_worse_job_is_taken_back_once(tmp_path: Path) -> None:
    flink = overloaded()
    flink.load.slower = 3.0
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        until(watching, is_act)
        flink.load.slower = 1.0
        back, _ = until(watching, is_act, most=10)
        assert back.state is State.ROLLING_BACK
        for _ in range(6):
            watching.window()
    ((_, run),) = flink.running.items()
    assert run.parallelism == dict.fromkeys(HOSTS, 1)
    assert steps(tmp_path).count(BEGAN) == 2
    assert any("is not tried again before" in line for line in lines)


def test_a_start_that_fails_twice_is_tried_again_from_its_savepoint(tmp_path: Path) -> None:
    flink = overloaded(refuses=2)
    with watched(flink, ManualClock(), tmp_path) as (watching, lines):
        until(watching, is_act)
        assert flink.running == {}
        assert steps(tmp_path)[-1] == WAITING
        assert f"all state is in {SAVEPOINT}" in lines[-1]
        watching.window()
        assert len(flink.running) == 1
        assert watching.job in flink.running
        assert steps(tmp_path)[-1] == ENDED


def test_a_savepoint_that_ends_late_is_gone_on_with(tmp_path: Path) -> None:
    flink = overloaded(polls=HANGS)
    limits = Limits(0.5, 0.1, 0.6)
    with watched(flink, ManualClock(), tmp_path, limits=limits) as (watching, _):
        until(watching, is_act)
        assert steps(tmp_path)[-1] == WAITING
        assert list(flink.running) == [JOB]
        flink.waiting = 0
        watching.window()
        assert flink.running[watching.job].hosts == HOSTS


class Killed(Journal):
    """A journal whose writer is killed when the job has stopped."""

    def write(self, at_s: float, step: str, **details: Any) -> None:
        super().write(at_s, step, **details)
        if details.get("savepoint"):
            raise KeyboardInterrupt


def act(flink: ScriptedFlink, clock: ManualClock, folder: Path, journal: type[Journal]) -> None:
    with watched(flink, clock, folder, journal=journal) as (watching, _):
        until(watching, is_act)


def test_a_killed_controller_goes_on(tmp_path: Path) -> None:
    flink, clock = overloaded(), ManualClock()
    with pytest.raises(KeyboardInterrupt):
        act(flink, clock, tmp_path, Killed)
    assert flink.running == {}
    with watched(flink, clock, tmp_path) as (watching, lines):
        assert "looking what runs" in lines[0]
        assert flink.running[watching.job].hosts == HOSTS
        assert watching.window() is not None
    assert steps(tmp_path).count(BEGAN) == 1


def test_times_of_an_action_that_is_gone_on_with_are_those_of_the_server(tmp_path: Path) -> None:
    """The clock of the next controller is an hour behind, so it could seem to end too early."""
    flink, clock = overloaded(), ManualClock()
    with pytest.raises(KeyboardInterrupt):
        act(flink, clock, tmp_path, Killed)
    began_s = next(e.at_s for e in read_entries(tmp_path / "journal.jsonl")[0] if e.step == BEGAN)
    slow = ManualClock(clock.now - 3600.0)
    with flink.serving() as url, watched_at(url, slow, tmp_path) as (watching, _):
        last = read_entries(tmp_path / "journal.jsonl")[0][-1]
        assert watching.job != JOB
    assert last.step == ENDED
    assert last.at_s >= began_s


class Full(Journal):
    """A journal on a disk that is full once the job has stopped."""

    full = False

    def write(self, at_s: float, step: str, **details: Any) -> None:
        self.full = self.full or bool(details.get("savepoint"))
        if self.full:
            raise FormatError("journal.jsonl: cannot write: No space left on device")
        super().write(at_s, step, **details)


def test_a_full_disk_does_not_leave_the_job_stopped(tmp_path: Path) -> None:
    flink, clock = overloaded(), ManualClock()
    with pytest.raises(FormatError, match="No space left"):
        act(flink, clock, tmp_path, Full)
    ((job, run),) = flink.running.items()
    assert run.hosts == HOSTS
    with watched(flink, clock, tmp_path) as (watching, _):
        assert watching.job == job
    assert steps(tmp_path)[-1] == ENDED
    assert list(flink.running) == [job]


def test_a_job_is_followed_before_it_is_started(tmp_path: Path) -> None:
    """The lock on it then keeps a second controller away."""
    flink = overloaded()
    followed: list[tuple[str, bool]] = []
    with watched(flink, ManualClock(), tmp_path) as (watching, _):
        watching.follow = lambda job: followed.append((job, job in flink.jobs))
        until(watching, is_act)
        assert (watching.job, False) in followed
        assert watching.job != JOB


class Pausing(Journal):
    """A journal on a disk that is full when no job runs."""

    def write(self, at_s: float, step: str, **details: Any) -> None:
        if step == WAITING:
            raise FormatError("journal.jsonl: cannot write: No space left on device")
        super().write(at_s, step, **details)


def test_a_full_disk_does_not_end_a_controller_that_has_a_job_to_start(tmp_path: Path) -> None:
    flink = overloaded(refuses=2)
    with watched(flink, ManualClock(), tmp_path, journal=Pausing) as (watching, lines):
        until(watching, is_act)
        assert flink.running == {}
        watching.window()
        assert list(flink.running) == [watching.job]
    assert any("No space left on device; going on without this line" in line for line in lines)
    assert steps(tmp_path)[-1] == ENDED


class Unwritable(Journal):
    """A journal whose disk is full before the job is stopped."""

    def write(self, at_s: float, step: str, **details: Any) -> None:
        if details.get("trigger"):
            raise FormatError("journal.jsonl: cannot write: No space left on device")
        super().write(at_s, step, **details)


def test_what_cannot_be_written_is_not_begun(tmp_path: Path) -> None:
    flink = overloaded()
    with pytest.raises(FormatError, match="No space left"):
        act(flink, ManualClock(), tmp_path, Unwritable)
    assert list(flink.running) == [JOB]
    assert not any(change.endswith("/stop") for change in flink.changes)


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
        watched(flink, clock, tmp_path, backend=None),
    ):
        pass
