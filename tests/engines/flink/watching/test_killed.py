"""Controllers that are killed, and journals that cannot be written."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from streamplace.control.journal import BEGAN, ENDED, Journal, read_entries
from streamplace.control.watching import WAITING
from streamplace.engines.flink.watching.handing_out import HandingOut
from streamplace.engines.flink.watching.rescaling import AdaptiveRealiser
from streamplace.errors import FormatError
from tests.support.flink_actions import AFTER, HANGS, HOSTS, PATIENT, watched, watched_at
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.load import Load
from tests.support.flink_server.server import ScriptedFlink
from tests.support.flink_watching import act, is_act, overloaded, steps, until
from tests.support.killed_controllers import WINDOWS, Moment, SharedClock, killed

RATE_S = 200.0
CANCELS = replace(PATIENT, savepoint_s=0.1, cancel_age_s=60.0)


@dataclass(frozen=True)
class Case:
    """A cluster and a realiser; with `lands`, the plan is carried out."""

    cluster: Mapping[str, Any] = field(default_factory=dict)
    how: Mapping[str, Any] = field(default_factory=dict)
    lands: bool = False
    keeps_job: bool = False


CASES = {
    "restart": Case(lands=True),
    "misplaces": Case({"misplaces": 1}),
    "refuses": Case({"refuses": 1}),
    "savepoint_fails": Case({"savepoint_fails": 1}),
    "cancels": Case({"polls": HANGS, "timeout_ms": 20_000}, {"limits": CANCELS}, lands=True),
    "adaptive": Case(
        {"scheduler": "Adaptive"}, {"realiser": AdaptiveRealiser}, lands=True, keeps_job=True
    ),
    "in_place_by_choice": Case(
        {"scheduler": "Adaptive"}, {"realiser": HandingOut}, lands=True, keeps_job=True
    ),
    "restart_by_choice": Case(how={"realiser": HandingOut}, lands=True),
}
POINTS = 9  # of each case and moment at least, so that there are more than 50 by far


def check(folder: Path, name: str, line: int, moment: Moment) -> bool:
    """Kill a controller at a line; return whether there is such a line, and check the next one."""
    case, load = CASES[name], Load(RATE_S, {"count": 0.009})
    flink = ScriptedFlink(load=load, reports_waiting=True, **case.cluster)
    clock = SharedClock()
    folder.mkdir()
    if not killed(flink, clock, folder, line, moment, case.how):
        return False
    where = f"{name}, line {line}, {moment}"
    assert len(flink.running) <= 1, where
    with flink.serving() as url, watched_at(url, clock, folder, **case.how) as (watching, lines):
        for _ in range(3 * WINDOWS):  # some end early, and the cool-down must be over
            watching.window()
    assert list(flink.running) == [watching.job], (where, lines)
    started = {job: run for job, run in flink.jobs.items() if job != JOB}
    assert all(run.restored for run in started.values()), (where, lines)
    if case.lands:
        run = flink.running[watching.job]
        assert run.parallelism == AFTER.parallelism, (where, lines)
        assert case.keeps_job or run.hosts == HOSTS, (where, lines)
        assert len(started) == (0 if case.keeps_job else 1), (where, lines)
    read_entries(folder / "journal.jsonl")
    return True


@pytest.mark.parametrize(
    ("name", "line"), [("restart", 12), ("in_place_by_choice", 4), ("restart_by_choice", 12)]
)
@pytest.mark.parametrize("moment", list(Moment))
def test_a_controller_that_was_killed_is_gone_on_with(
    tmp_path: Path, name: str, line: int, moment: Moment
) -> None:
    assert check(tmp_path / "killed", name, line, moment)


@pytest.mark.long
@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("moment", list(Moment))
def test_a_controller_that_was_killed_at_any_line_is_gone_on_with(
    tmp_path: Path, name: str, moment: Moment
) -> None:
    for line in itertools.count():
        if not check(tmp_path / str(line), name, line, moment):
            break
    assert line > POINTS


class Killed(Journal):
    """A journal whose writer is killed when the job has stopped."""

    def write(self, at_s: float, step: str, **details: Any) -> None:
        super().write(at_s, step, **details)
        if details.get("savepoint"):
            raise KeyboardInterrupt


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
