"""Controllers that SIGKILL ends at a line of their journal, and the next ones, which go on."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from streamplace.control.flink.rescaling import AdaptiveRealiser
from streamplace.control.journal import read_entries
from tests.support.flink_actions import AFTER, HANGS, HOSTS, PATIENT, quick, watched_at
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.load import Load
from tests.support.flink_server.server import ScriptedFlink
from tests.support.killed_controllers import WINDOWS, Moment, SharedClock, killed

RATE_S = 200.0
CANCELS = replace(PATIENT, savepoint_s=0.1, cancel_age_s=60.0)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


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
        for _ in range(WINDOWS):
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


@pytest.mark.parametrize("moment", list(Moment))
def test_a_controller_that_was_killed_is_gone_on_with(tmp_path: Path, moment: Moment) -> None:
    assert check(tmp_path / "killed", "restart", 12, moment)


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
