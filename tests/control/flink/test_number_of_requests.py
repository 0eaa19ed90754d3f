"""Requests to Flink in a window that acts: each document once."""

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from streamplace.control.flink.rescaling import AdaptiveRealiser
from streamplace.control.flink.restarting import RestartRealiser
from tests.support.flink_actions import quick, watched
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_watching import is_act, overloaded, until

MOST = 12
VERTICES, TASK_MANAGERS = 3, 2


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


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
