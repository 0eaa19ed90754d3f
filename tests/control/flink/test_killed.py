"""Controllers that SIGKILL ends at a line of their journal, and the next ones, which go on."""

import itertools
from pathlib import Path

import pytest

from streamplace.control.entries import read_entries
from tests.support.flink_actions import HOSTS, quick, watched_at
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.load import Load
from tests.support.flink_server.server import ScriptedFlink
from tests.support.killed_controllers import WINDOWS, Moment, SharedClock, killed

RATE_S = 200.0


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


def check(folder: Path, fault: str | None, line: int, moment: Moment) -> bool:
    """Kill a controller at a line; return whether there is such a line, and check the next one."""
    load = Load(RATE_S, {"count": 0.009})
    faults = {fault: 1} if fault else {}
    flink = ScriptedFlink(load=load, reports_waiting=True, **faults)  # type: ignore[arg-type]
    clock = SharedClock()
    folder.mkdir()
    if not killed(flink, clock, folder, line, moment):
        return False
    case = f"{fault}, line {line}, {moment}"
    assert len(flink.running) <= 1, case
    with flink.serving() as url, watched_at(url, clock, folder) as (watching, lines):
        for _ in range(WINDOWS):
            watching.window()
    assert list(flink.running) == [watching.job], (case, lines)
    started = {job: run for job, run in flink.jobs.items() if job != JOB}
    assert all(run.restored for run in started.values()), (case, lines)
    if fault is None:
        assert flink.running[watching.job].hosts == HOSTS, (case, lines)
        assert len(started) == 1, (case, lines)
    read_entries(folder / "journal.jsonl")
    return True


@pytest.mark.parametrize("moment", list(Moment))
def test_a_controller_that_was_killed_is_gone_on_with(tmp_path: Path, moment: Moment) -> None:
    assert check(tmp_path / "killed", None, 12, moment)


@pytest.mark.long
@pytest.mark.parametrize("fault", [None, "misplaces", "refuses", "savepoint_fails"])
@pytest.mark.parametrize("moment", list(Moment))
def test_a_controller_that_was_killed_at_any_line_is_gone_on_with(
    tmp_path: Path, fault: str | None, moment: Moment
) -> None:
    for line in itertools.count():
        if not check(tmp_path / str(line), fault, line, moment):
            break
    assert line > 10
