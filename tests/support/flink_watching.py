"""Watched jobs of a scripted Flink, and how far a controller has got."""

from collections.abc import Callable
from pathlib import Path

from streamplace.control.decisions import Action, Decision
from streamplace.control.journal import Journal, read_entries
from streamplace.control.watching import Watching
from streamplace.engines.flink.documents import JobState
from streamplace.engines.flink.plan import RunningPlan
from tests.support.flink_actions import watched
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.load import Load
from tests.support.flink_server.server import ScriptedFlink

HEAVY = Load(200.0, {"count": 0.009})


def running_job(plan: RunningPlan) -> JobState:
    """Return the state of a job that runs."""
    return JobState(
        id=JOB,
        name="x",
        state="RUNNING",
        scheduler="Default",
        plan=plan,
        vertices={},
        started_s=5.0,
    )


def overloaded(**more: object) -> ScriptedFlink:
    """Return a cluster whose job is overloaded."""
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
    """Return whether a decision changes the job."""
    return decision.action is Action.ACT


def steps(folder: Path) -> list[str]:
    """Return the steps that the journal in a folder has."""
    return [entry.step for entry in read_entries(folder / "journal.jsonl")[0]]


def act(flink: ScriptedFlink, clock: ManualClock, folder: Path, journal: type[Journal]) -> None:
    """Watch a job, with a class of journals, until it is changed."""
    with watched(flink, clock, folder, journal=journal) as (watching, _):
        until(watching, is_act)
