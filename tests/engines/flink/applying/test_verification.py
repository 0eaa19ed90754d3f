"""Verification of a restarted job on recorded documents."""

from dataclasses import replace
from typing import Any

from streamplace.engines.flink.applying.verification import differences
from streamplace.engines.flink.cluster import FlinkCluster, TaskManager
from streamplace.engines.flink.cluster import task_manager as read_one
from streamplace.engines.flink.documents import Job, job_of, state_of
from streamplace.engines.flink.groups import Groups, groups_of
from streamplace.problem.cluster import Cluster as Devices
from streamplace.problem.cluster import Device
from tests.support.chain_placement import chain_placement
from tests.support.flink_rest import recorded

COUNTS = {"count[0]": "count", "count[1]": "count"}
SAVEPOINT = "file:/flink/savepoints/savepoint-0cb345-a43b1f210b74"
CONFIG: dict[str, Any] = {"execution-config": {"user-config": {}}}
RIGHT = {"Source: src": ["tm-a"], "count": ["tm-b", "tm-b"], "out: Writer": ["tm-a"]}


def job() -> Job:
    details = recorded("job-details-running-from-savepoint")
    return job_of(state_of(details), CONFIG, recorded("checkpoints-after-restore"), None)


def managers() -> tuple[TaskManager, ...]:
    return tuple(read_one(each, "") for each in recorded("taskmanagers")["taskmanagers"])


def groups(on: list[int], speeds: tuple[float, float] = (2, 1)) -> Groups:
    devices = Devices([Device(name, mips) for name, mips in zip("ab", speeds, strict=True)])
    names = ["Source: src", *COUNTS, "out: Writer"]
    return groups_of(chain_placement(names, on, COUNTS, devices))


def found(hosts: dict[str, list[str]], on: list[int], savepoint: str = SAVEPOINT) -> list[str]:
    return [*differences(groups(on), job(), hosts, FlinkCluster({}, managers()), savepoint)]


def test_a_job_that_runs_as_placed() -> None:
    assert found(RIGHT, [0, 1, 1, 0]) == []
    assert found(RIGHT, [0, 1, 1, 0], SAVEPOINT.replace("file:/", "file:///")) == []


def test_a_wrong_task_manager() -> None:
    wrong = {**RIGHT, "count": ["tm-b", "tm-a"]}
    (fault,) = found(wrong, [0, 1, 1, 0])
    assert fault == "'count' runs on tm-a (1), tm-b (1) instead of tm-b (2)"


def test_a_wrong_parallelism() -> None:
    (fault,) = found({**RIGHT, "count": ["tm-b"]}, [0, 1, 1, 0])
    assert fault == "'count' has parallelism 1 instead of 2"


def test_instances_on_several_task_managers_count() -> None:
    assert found({**RIGHT, "count": ["tm-b", "tm-a"]}, [0, 0, 1, 0]) == []
    assert found({**RIGHT, "count": ["tm-a", "tm-b"]}, [0, 0, 1, 0]) == []
    assert len(found(RIGHT, [0, 0, 1, 0])) == 1


def test_the_state_must_be_that_of_the_savepoint() -> None:
    (fault,) = found(RIGHT, [0, 1, 1, 0], "file:/other")
    assert fault == f"the job started from {SAVEPOINT} instead of file:/other"
    fresh = replace(job(), restored_from=None)
    cluster = FlinkCluster({}, managers())
    (fault,) = differences(groups([0, 1, 1, 0]), fresh, RIGHT, cluster, SAVEPOINT)
    assert "from no state" in fault


def test_an_operator_that_does_not_run() -> None:
    assert found({"count": ["tm-b", "tm-b"]}, [0, 1, 1, 0]) == [
        "'Source: src' does not run",
        "'out: Writer' does not run",
    ]


def test_without_labels_any_task_manager_stands_for_a_device() -> None:
    equal, cluster = groups([0, 1, 1, 0], (1, 1)), FlinkCluster({}, managers())

    def faults(hosts: dict[str, list[str]]) -> list[str]:
        return [*differences(equal, job(), hosts, cluster, SAVEPOINT)]

    assert faults({**RIGHT, "count": ["tm-c", "tm-c"]}) == []
    assert faults({**RIGHT, "count": ["tm-a", "tm-a"]}) == [
        "groups 'pe0' and 'pe1' share the TaskManager 'tm-a'"
    ]
    assert "group 'pe0' runs on tm-a, tm-c instead of one" in faults(
        {**RIGHT, "out: Writer": ["tm-c"]}
    )
