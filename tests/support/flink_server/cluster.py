"""The state of a scripted Flink cluster with one job, and how it fails."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from tests.support.flink_server.checkpoint_documents import SAVEPOINT
from tests.support.flink_server.faults import Fault
from tests.support.flink_server.load import Load
from tests.support.flink_server.runs import Run

JOB = "0cb345bc9d1e34abd4bdb33f1eec89cc"
IDS = {"Source: src": "f362c8", "count": "b71731", "out: Writer": "4d6488"}
FETCH_S = 10.0  # Flink fetches metrics on demand, and not more often


@dataclass
class ScriptedCluster:
    """A cluster of the TaskManagers tm-a and tm-b with labels dev_a and dev_b.

    Parameters
    ----------
    polls
        Number of answers that a savepoint is in progress.
    savepoint_fails, refuses, stuck, misplaces, ignores
        Number of savepoints that fail, of starts that are refused, that never get slots, that
        land on the other TaskManager, and of new numbers of instances that have no effect.
    until_checkpoint
        Number of answers about a job before its next checkpoint ends, at which Flink 2 gives it new
        numbers of instances.
    without_uid
        Names that the Java helper reports.
    helper
        Whether the jar calls it.
    bare, frozen
        Operators without metrics, and whether all metrics stay as they are.
    reports_waiting
        Whether the source reports the tuples that wait.
    """

    polls: int = 1
    savepoint_fails: int = 0
    refuses: int = 0
    stuck: int = 0
    misplaces: int = 0
    ignores: int = 0
    until_checkpoint: int = 2
    lost_answers: int = 0
    without_uid: str = ""
    helper: bool = True
    config: dict[str, str] = field(
        default_factory=lambda: {
            "execution.checkpointing.savepoint-dir": "file:///flink/savepoints"
        }
    )
    labels: dict[str, dict[str, float]] = field(
        default_factory=lambda: {"tm-a": {"dev_a": 1000.0}, "tm-b": {"dev_b": 1000.0}}
    )
    interval: int = 2000
    timeout_ms: int = 1000
    checkpoint_ms: int = 70
    checkpoint_age_s: float = 1.0
    state_bytes: int = 21977
    keeps_checkpoints: bool = True
    fixed: int = 120
    scheduler: str = "Default"
    version: str = "2.3.0"
    state_after_failure: str = "RUNNING"
    ids: dict[str, str] = field(default_factory=lambda: dict(IDS))
    jobs: dict[str, Run] = field(
        default_factory=lambda: {
            JOB: Run(hosts={"Source: src": ["tm-b"], "count": ["tm-b"], "out: Writer": ["tm-b"]})
        }
    )
    load: Load = field(default_factory=Load)
    bare: set[str] = field(default_factory=set)
    frozen: bool = False
    reports_waiting: bool = False
    faults: list[Fault] = field(default_factory=list)
    clock: Callable[[], float] = time.time
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    late: list[tuple[int, tuple[str, str, str, Any]]] = field(default_factory=list)
    waiting: int = 0
    triggers: dict[str, str] = field(default_factory=dict)
    fetched_s: float = float("-inf")
    advanced_s: float | None = None
    lock: RLock = field(default_factory=RLock)

    @property
    def scheduler_type(self) -> dict[str, str]:
        """What a job's document says of its scheduler: nothing before Flink 2.3."""
        return {"schedulerType": self.scheduler} if self.version.startswith("2.3.") else {}

    @property
    def scheduler_option(self) -> dict[str, str]:
        """The option that chooses the scheduler, where nothing else says which one runs."""
        return {} if self.scheduler_type else {"jobmanager.scheduler": self.scheduler.lower()}

    @property
    def running(self) -> dict[str, Run]:
        """The jobs that run."""
        return {key: run for key, run in self.jobs.items() if run.runs}

    @property
    def changes(self) -> list[str]:
        """Method and first part of the path of all requests that change something."""
        return [f"{method} {path}" for method, path, _ in self.requests if method != "GET"]

    def lose(self, task_manager: str) -> None:
        """Lose a TaskManager; Flink runs its instances on the first of the others."""
        with self.lock:
            self.advance()
            del self.labels[task_manager]
            rest = next(iter(self.labels))
            for run in self.running.values():
                hosts = {
                    name: [rest if host == task_manager else host for host in on]
                    for name, on in run.hosts.items()
                }
                if hosts != run.hosts:
                    run.move(hosts, self.clock())

    def replace_job(self, job: str, by: str) -> None:
        """Let another controller restart a job under another id."""
        with self.lock:
            self.advance()
            former = self.jobs[job]
            former.state, former.stopped_at = "FINISHED", SAVEPOINT
            self.jobs[by] = Run(hosts=former.hosts, restored=SAVEPOINT, started_s=self.clock())

    def advance(self) -> None:
        """Let the counters of all jobs grow up to now."""
        now = self.clock()
        before, self.advanced_s = self.advanced_s, now
        if before is None:
            for run in self.jobs.values():
                run.started_s = run.started_s or now
            return
        for run in self.jobs.values():
            run.advance(now - before, self.load)

    def fetch(self, run: Run) -> None:
        """Let the answers after this one have the present metrics."""
        if not self.frozen and self.clock() - self.fetched_s >= FETCH_S:
            self.fetched_s = self.clock()
            run.fetch()

    def holders(self, name: str) -> list[str]:
        """Return for each slot of a TaskManager that is taken the job that holds it."""
        found = []
        for job, run in self.running.items():
            here = [on.count(name) for on in run.hosts.values()]
            found += [job] * max(here, default=0)
        return found

    def name_of(self, vertex: str) -> str:
        """Return the operator of a vertex."""
        return next(name for name, id_ in self.ids.items() if id_ == vertex)
