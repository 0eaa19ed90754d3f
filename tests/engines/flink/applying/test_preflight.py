"""Checks before a job is stopped."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from streamplace.engines.flink.applying.preflight import (
    ON_HEAP,
    ROCKSDB,
    faults_of_cluster,
    faults_of_job,
    faults_of_plan,
    faults_of_state,
    sized,
    state_of_operators,
)
from streamplace.engines.flink.cluster import (
    FlinkCluster,
    Room,
    TaskManager,
    task_managers_of,
)
from streamplace.engines.flink.documents import (
    Checkpoint,
    Job,
    job_of,
    state_by_vertex,
    state_of,
)
from streamplace.engines.flink.groups import Groups, groups_of
from streamplace.problem.cluster import Cluster as Devices
from streamplace.problem.cluster import Device
from tests.support.chain_placement import chain_placement
from tests.support.flink_rest import recorded
from tests.support.paths import DATA

CONFIG: dict[str, Any] = {"execution-config": {}}
COUNTS = {"count[0]": "count", "count[1]": "count"}


def job(name: str = "job-details-running") -> Job:
    state = state_of(recorded(name))
    return job_of(state, CONFIG, recorded("checkpoints"), recorded("checkpoints-config"))


def placed(on: list[int], speeds: tuple[float, ...] = (2000, 1000)) -> Groups:
    devices = Devices([Device(name, mips) for name, mips in zip("ab", speeds, strict=True)])
    return groups_of(chain_placement(["src", *COUNTS, "out: Writer"], on, COUNTS, devices))


def manager(name: str, slots: int = 2, **labels: float) -> TaskManager:
    room = Room(1.0, 96, 16, labels)
    return TaskManager(name, room, room, slots, slots)


def faults(groups: Groups, *managers: TaskManager, **config: str) -> str:
    cluster = FlinkCluster({key.replace("_", "."): text for key, text in config.items()}, managers)
    return "; ".join(faults_of_cluster(cluster, groups, "file:///s"))


def test_nothing_is_wrong() -> None:
    groups = placed([0, 1, 1, 0])
    assert not [*faults_of_job(job(), groups, None, 60)]
    assert not faults(groups, manager("x", dev_a=1000), manager("y", dev_b=1000))


def test_the_job_must_run() -> None:
    groups = placed([0, 1, 1, 0])
    (waits,) = faults_of_job(job("job-details-label-nobody-has"), groups, None, 60)
    assert "does not run: RUNNING, and 'out: Writer', 'count', 'Source: src' wait" in waits
    (ended,) = faults_of_job(job("job-details-finished-by-stop"), groups, None, 60)
    assert "FINISHED and was not stopped with a savepoint; give --savepoint" in ended
    assert not [*faults_of_job(job("job-details-finished-by-stop"), groups, "file:/s", 60)]


def test_the_job_needs_checkpoints() -> None:
    (fault,) = faults_of_job(
        replace(job(), checkpoint_timeout_s=None), placed([0, 1, 1, 0]), None, 60
    )
    assert "has no checkpoints" in fault


def test_the_job_needs_a_quick_checkpoint() -> None:
    groups = placed([0, 1, 1, 0])
    (fault,) = faults_of_job(replace(job(), checkpoint=None), groups, None, 60)
    assert "has not completed a checkpoint" in fault
    slow = Checkpoint("file:/c", 95.0)
    (fault,) = faults_of_job(replace(job(), checkpoint=slow), groups, None, 60)
    assert "took 95 s, more than the deadline of 60 s" in fault


def test_the_adaptive_scheduler_is_refused() -> None:
    groups = placed([0, 1, 1, 0])
    adaptive = recorded("adaptive-job-details")["schedulerType"]
    (fault,) = faults_of_job(replace(job(), scheduler=adaptive), groups, None, 60)
    assert "adaptive scheduler, which ignores" in fault
    managers = manager("x", dev_a=1000), manager("y", dev_b=1000)
    assert "is adaptive" in faults(groups, *managers, jobmanager_scheduler="Adaptive")


def test_the_operators_must_be_those_of_the_job() -> None:
    other = groups_of(chain_placement(["src", "cuont"], [0, 1], {}))
    (fault,) = faults_of_job(job(), other, None, 60)
    assert "no operators 'cuont'" in fault
    assert "'count'" in fault


def test_the_maximum_parallelism_limits() -> None:
    running = job()
    few = {key: replace(v, max_parallelism=1) for key, v in running.vertices.items()}
    (fault,) = faults_of_job(replace(running, vertices=few), placed([0, 1, 1, 0]), None, 60)
    assert fault == "'count' cannot have 2 instances: its maximum parallelism is 1"


@pytest.mark.parametrize(
    ("managers", "words"),
    [
        ([manager("x", dev_a=1000)], "needs a TaskManager with the label 'dev_b'; none has it"),
        (
            [manager("x", dev_a=9), manager("y", dev_b=9), manager("z", dev_b=9)],
            "'y', 'z' have it",
        ),
        ([manager("x", dev_a=9), manager("y", dev_b=1)], "needs 2 of 'dev_b' (1 free)"),
    ],
)
def test_labels(managers: list[TaskManager], words: str) -> None:
    assert words in faults(placed([0, 1, 1, 0]), *managers)


def test_counted_labels_must_match() -> None:
    groups = placed([0, 0, 1, 0])
    right = manager("x", **groups.labels["a"]), manager("y", **groups.labels["b"])
    assert not faults(groups, *right)
    wrong = manager("x", **{**groups.labels["a"], "parts_0_b": 3}), right[1]
    must = (
        "'count': TaskManager 'x' must offer 1000000000000000 of the label 'parts_0_b', but offers"
    )
    assert f"{must} 3; see export --to flink-config" in faults(groups, *wrong)


def test_labels_that_count_slots_are_missed_once() -> None:
    """Task managers with the labels of devices only are named in one fault, without amounts."""
    found = faults(placed([0, 0, 1, 0]), manager("x", dev_a=9), manager("y", dev_b=9))
    assert "'count': divided among devices, but the TaskManagers 'x', 'y' have no labels" in found
    assert "parts_0" not in found


def test_other_numbers_need_no_other_labels() -> None:
    first, other = placed([0, 0, 1, 0]), placed([1, 1, 0, 0])
    managers = manager("x", **first.labels["a"]), manager("y", **first.labels["b"])
    assert not faults(other, *managers)
    taken = Room(labels=dict.fromkeys(first.labels["a"], 5.0**13))
    full = replace(managers[0], room=replace(managers[0].room, labels=taken.labels))
    assert "lacks slots: it needs 1e+10 of 'parts_0_a' (1.2207e+09 free)" in faults(
        other, full, managers[1]
    )


def test_slots_without_labels() -> None:
    groups = placed([0, 1, 1, 0], (1000, 1000))
    assert "several slots on one device" in faults(groups, manager("x", 1), manager("y", 1))
    single = groups_of(chain_placement(["src", "count"], [0, 1], {}))
    assert not faults(single, manager("x", 1), manager("y", 1))
    assert "2 slots are needed, but only 1" in faults(single, manager("x", 1))
    assert "needs one slot" in faults(single, manager("x", 4))


def test_savepoints_need_a_folder() -> None:
    cluster = FlinkCluster({}, (manager("x", dev_a=9), manager("y", dev_b=9)))
    assert "give --savepoint-dir" in "; ".join(
        faults_of_cluster(cluster, placed([0, 1, 1, 0]), cluster.savepoint_dir)
    )


def test_slots_divide_managed_memory() -> None:
    groups = placed([0, 1, 1, 0])
    cluster = FlinkCluster({}, (manager("x", 4, dev_a=9), manager("y", 1, dev_b=9)))
    slots = {group.name: group.slot for group in sized(groups, cluster).groups}
    assert slots["pe0"] is not None
    assert slots["pe1"] is not None
    assert (slots["pe0"].managed_mb, slots["pe0"].cores) == (4, 0.1)
    assert slots["pe1"].managed_mb == 8


def test_the_plan_of_the_jar() -> None:
    running = job()
    groups = placed([0, 1, 1, 0])
    assert not [*faults_of_plan(running.plan, running, groups)]
    vertices = tuple(replace(v, id="other", parallelism=1) for v in running.plan.vertices)
    parallelism, ids = faults_of_plan(replace(running.plan, vertices=vertices), running, groups)
    assert parallelism == "the jar gives 'count' parallelism 1 instead of 2"
    assert "no operators with the ids of 'out: Writer', 'count', 'Source: src'" in ids


def faults_with(state_mb: float, backend: str, slots: int, managers: Sequence[TaskManager]) -> str:
    state = replace(job(), state_bytes=state_mb * 2.0**20, state_backend=backend)
    return "; ".join(faults_of_state(state, slots, FlinkCluster({}, tuple(managers)), {}))


def test_state_that_does_not_fit_into_the_heap_is_refused() -> None:
    """There are 96 MB of heap in each TaskManager of two slots: room for one part of 75 MB."""
    managers = [replace(manager(name), slots=2) for name in "xyz"]
    assert faults_with(150.0, ON_HEAP, 1, managers).startswith(
        "the state of the job, 150 MB in the latest checkpoint, is 150 MB in each of 1 slots, and "
        "only 0 of 6 slots fit into the task heap (x: 96 MB, y: 96 MB, z: 96 MB); use RocksDB"
    )
    assert not faults_with(150.0, ON_HEAP, 2, managers)
    assert not faults_with(225.0, ON_HEAP, 3, managers)
    assert "only 1 of 2 slots" in faults_with(150.0, ON_HEAP, 2, managers[:1])
    assert "only 3 of 6 slots" in faults_with(240.0, ON_HEAP, 4, managers)  # 60 MB a slot
    assert not faults_with(240.0, ON_HEAP, 6, managers)
    assert not faults_with(1e6, ON_HEAP, 1, [replace(managers[0], total=Room())])
    assert not faults_with(0.0, ON_HEAP, 1, managers)
    assert not faults_with(1e6, "Other", 1, managers)


def test_the_state_of_an_operator_is_divided_among_its_instances() -> None:
    """Flink 2.3.0 wrote this document; `count` has two instances, the source one."""
    sizes = state_by_vertex(recorded("checkpoint-details"))
    assert sorted(sizes.values()) == [0.0, 265.0, 21712.0]
    large = replace(job(), state_bytes=150 * 2.0**20, state_backend=ON_HEAP)
    cluster = FlinkCluster({}, (manager("x"), manager("y")))
    assert not [*faults_of_state(large, 4, cluster, {})]
    (fault,) = faults_of_state(large, 4, cluster, {"count": (150 * 2.0**20, 1), "out": (0.0, 4)})
    assert fault.startswith(
        "the state of count, 150 MB in the latest checkpoint, is 150 MB in each"
    )
    assert not [*faults_of_state(large, 4, cluster, {"count": (150 * 2.0**20, 2)})]


def test_numbers_of_instances_are_those_planned_or_those_of_now() -> None:
    running = job()
    state = dict.fromkeys(running.vertices, 2.0)
    assert state_of_operators(running, {"src": 3}, state) == {
        "Source: src": (2.0, 3),
        "count": (2.0, 2),
        "out: Writer": (2.0, 1),
    }
    assert state_of_operators(running, {}, {})["count"] == (0.0, 2)


def test_state_is_that_of_the_latest_checkpoint() -> None:
    assert (job().state_bytes, job().state_backend) == (21977.0, ON_HEAP)
    state, statistics = state_of(recorded("job-details-running")), recorded("checkpoints")
    unaligned = recorded("checkpoints-config") | {"unaligned_checkpoints": True}
    assert job_of(state, CONFIG, statistics, unaligned).state_bytes == 0.0
    assert job_of(state, CONFIG, None, None).state_bytes == 0.0


ROCKSDB_JOB = DATA / "flink-rocksdb"


def test_rocksdb_needs_managed_memory() -> None:
    """In documents of a Flink 2.3.0, whose RocksDB warned so: two slots have 8 MB, two have none.

    A fifth instance could only run after more slots have come.
    """
    names = ("details", "config", "checkpoints", "checkpoints-config", "taskmanagers")
    documents = {n: json.loads((ROCKSDB_JOB / f"{n}.json").read_text()) for n in names}
    details, config, statistics, checkpoints, managers = documents.values()
    found = job_of(state_of(details), config, statistics, checkpoints)
    assert (found.state_backend, found.state_bytes) == (ROCKSDB, 35929.0)
    cluster = FlinkCluster({}, task_managers_of(managers))
    assert not [*faults_of_state(found, 2, cluster, {})]
    for slots in (3, 5):
        (fault,) = faults_of_state(found, slots, cluster, {})
        assert "only 2 of 4 slots have some (tm0: 16 MB, tm1: 0 MB)" in fault
    for option, value, own in (
        ("managed", "true", False),  # Flink's default
        ("managed", "False", True),
        ("fixed-per-slot", "64mb", True),
        ("fixed-per-tm", "64mb", True),
    ):
        config = {f"state.backend.rocksdb.memory.{option}": value}
        refused = [*faults_of_state(found, 4, replace(cluster, config=config), {})]
        assert bool(refused) is not own
