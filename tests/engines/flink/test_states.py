"""Every state of an instance, for every command that reads a running job.

What has finished neither blinds nor blocks; in all other states but RUNNING, nothing is decided.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from streamplace.control.planning import SizePlanner
from streamplace.control.plans import Plan
from streamplace.control.settings import ControllerSettings
from streamplace.engines.flink.applying.preflight import faults_of_job
from streamplace.engines.flink.documents import (
    Job,
    JobState,
    Subtask,
    VertexState,
    job_of,
    state_of,
)
from streamplace.engines.flink.groups import groups_anywhere
from streamplace.engines.flink.plan import running
from streamplace.engines.flink.poll import Watch, Watched
from streamplace.engines.flink.states import FINISHED, RUNNING, STATES, not_going
from streamplace.engines.flink.watching.measuring import observation
from streamplace.engines.flink.watching.sampling import Sample
from streamplace.formats.profiling.counters import Counters
from streamplace.formats.profiling.rest import Server
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.graph import Operator, Stream, StreamGraph
from tests.support.flink_api import JOB_ID, SampleJob, serving
from tests.support.flink_rest import recorded
from tests.support.flink_server.cluster import JOB
from tests.support.http_server import Answer

PLAN = running(
    {
        "name": "two sources",
        "nodes": [
            {
                "id": "parse",
                "description": "parse",
                "inputs": [
                    {"id": "a", "ship_strategy": "REBALANCE"},
                    {"id": "b", "ship_strategy": "REBALANCE"},
                ],
            },
            {"id": "a", "description": "Source: orders", "parallelism": 1},
            {"id": "b", "description": "Source: backfill", "parallelism": 2},
        ],
    },
    "plan",
)
DEVICES = {"tm-a": "m1", "tm-b": "m2"}
SECONDS = 300.0


def sample(seconds: float, states: Sequence[str]) -> Sample:
    """Return what a job has counted whose `parse` is busy 95%; states are those of backfill."""
    going = [each == RUNNING for each in states]

    def subtask(host: str, tuples_s: float, busy: float, state: str = RUNNING) -> Subtask:
        passed = seconds if state == RUNNING else 0.0
        tuples, busy_ms = 100.0 + tuples_s * passed, 50.0 + busy * passed * 1e3
        times = {"busy_ms": busy_ms, "idle_ms": (1 - busy) * passed * 1e3, "backpressured_ms": 0.0}
        return Subtask(host, state, Counters(records_in=tuples, records_out=tuples, **times))

    subtasks = {
        "a": (subtask("tm-a", 50.0, 0.02),),
        "b": tuple(
            subtask(host, 10.0, 0.01, state)
            for host, state in zip(("tm-a", "tm-b"), states, strict=True)
        ),
        "parse": (subtask("tm-b", 50.0 + 10.0 * sum(going), 0.95),),
    }
    state = JobState(
        id=JOB, name="x", state=RUNNING, scheduler="", plan=PLAN, vertices={}, started_s=5.0
    )
    waiting = {"Source: orders": 0.0} | ({} if not any(going) else {"Source: backfill": 0.0})
    return Sample(1000.0 + seconds, state, subtasks, {}, waiting)


def test_the_states_are_those_of_flink() -> None:
    assert not_going(STATES) == (
        "CANCELED, CANCELING, CREATED, DEPLOYING, FAILED, INITIALIZING, RECONCILING, SCHEDULED"
    )


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("several", [True, False])
def test_watch(state: str, several: bool) -> None:
    states = [state, state if several else RUNNING]
    found = observation(sample(0.0, states), sample(SECONDS, states), DEVICES)
    if state not in (RUNNING, FINISHED):
        assert found.missing[0] == f"Source: backfill does not run: {state}"
        return
    assert found.missing == ()
    assert (found.waiting, found.hidden) == (0.0, "")
    assert found.hosts["Source: backfill"] == ("m1", "m2")
    ended = {} if state == RUNNING else {"Source: backfill": 2 if several else 1}
    assert found.finished == ended
    assert found.idle == (["Source: backfill"] if ended and several else [])
    rate = {True: 50.0, False: 60.0}[several] if ended else 70.0
    assert found.offered_s == pytest.approx(rate)
    names = ["Source: orders", "Source: backfill", "parse"]
    graph = StreamGraph(
        [Operator(name, 1e6, 100.0) for name in names],
        [Stream(name, "parse", partitioning="rebalance") for name in names[:2]],
    )
    cluster = Cluster([Device(name, 2500.0, cores=4) for name in ("m1", "m2")])
    plan = SizePlanner(graph, cluster, ControllerSettings())(found, rate, 10.0)
    assert isinstance(plan, Plan), plan
    assert plan.deployment.parallelism["parse"] == 2
    if ended:
        assert plan.deployment.parallelism["Source: backfill"] == 2


def test_what_has_finished_may_have_lost_its_host_and_its_metrics() -> None:
    before, after = (sample(at, [FINISHED, FINISHED]) for at in (0.0, SECONDS))
    gone = tuple(Subtask("(unassigned)", FINISHED, Counters()) for _ in range(2))
    after = replace(after, subtasks={**after.subtasks, "b": gone})
    found = observation(before, after, DEVICES)
    assert found.missing == ()
    assert len(found.hosts["Source: backfill"]) == 2
    assert found.readings["Source: backfill"].tuples_s == 0.0


def test_a_job_without_any_source_left_is_not_measured() -> None:
    before, after = (sample(at, [FINISHED, FINISHED]) for at in (0.0, SECONDS))
    done = (replace(after.subtasks["a"][0], status=FINISHED),)
    found = observation(before, replace(after, subtasks={**after.subtasks, "a": done}), DEVICES)
    assert found.missing == ("all sources have finished",)


def in_state(state: str, count: int) -> SampleJob:
    """Return the sample job with an operator of whose two instances some are in a state."""
    job = SampleJob(speed=20)
    (row,) = [each for each in job.job["vertices"] if each["name"] == "OP1"]
    row["parallelism"], others = 2, {RUNNING: 2 - count} if count < 2 else {}
    row["tasks"] = dict.fromkeys(STATES, 0) | others | {state: count if state != RUNNING else 2}
    row["status"] = state if count == 2 else RUNNING
    return job


def observed(job: SampleJob) -> Watched:
    with serving(job) as url:
        return Watch(Server(url), JOB_ID, 5.0, every_s=0.1).run(0.4)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("count", [1, 2])
def test_profile_and_explain(state: str, count: int) -> None:
    """Both watch a job alike; `profile --plan URL` and `import` read its plan only."""
    watched = observed(in_state(state, count))
    if state not in (RUNNING, FINISHED):
        assert watched.fault.endswith(f"the job does not run as a whole: OP1 is {state}")
        assert not watched.readings
        return
    assert (watched.fault, len(watched.readings) > 1) == ("", True)
    assert [note.partition(":")[0] for note in watched.notes] == ["finished"] * (state == FINISHED)


def test_readings_begin_when_the_job_runs() -> None:
    job, asked = in_state("INITIALIZING", 2), [0]

    def answer(path: str, query: str) -> Answer:
        asked[0] += path == f"/jobs/{JOB_ID}"
        return (job if asked[0] < 3 else SampleJob(speed=20))(path, query)

    with serving(answer) as url:
        watched = Watch(Server(url), JOB_ID, 5.0, every_s=0.1).run(0.8)
    assert watched.fault == ""
    assert 0 < len(watched.readings) <= asked[0] - 2


def changed(state: str, tasks: dict[str, int], status: str) -> Job:
    """Return a running job whose operator `count`, of two instances, is in a state."""
    details: dict[str, Any] = recorded("job-details-running")
    (row,) = [each for each in details["vertices"] if each["name"] == "count"]
    row["tasks"], row["status"] = {**dict.fromkeys(row["tasks"], 0), **tasks}, status
    config: Any = {"execution-config": {}}
    return job_of(
        state_of(json.loads(json.dumps(details))),
        config,
        recorded("checkpoints"),
        recorded("checkpoints-config"),
    )


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("several", [True, False])
def test_apply_and_changes_in_place(state: str, several: bool) -> None:
    """`apply`, and `watch --mode apply` by a restart or in place, ask whether the job runs."""
    tasks = {state: 2} if several else {RUNNING: 1, state: 1}
    job = changed(state, {RUNNING: 2} if state == RUNNING else tasks, state if several else RUNNING)
    goes = state in (RUNNING, FINISHED)
    assert job.runs == goes
    assert job.waiting == ({} if goes else {"count": state})
    faults = [*faults_of_job(job, groups_anywhere({"count": 2}), None, 60)]
    assert faults == (
        [] if goes else ["the job does not run: RUNNING, and 'count' wait or restart"]
    )


def test_a_vertex_without_the_states_of_its_instances() -> None:
    assert VertexState("a", FINISHED, 3, 128).finished == 3
    assert VertexState("a", "SCHEDULED", 3, 128).waits == "SCHEDULED"
