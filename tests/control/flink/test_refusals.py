"""Reasons not to act on a job."""

from dataclasses import replace

import pytest

from streamplace.control.flink.refusals import refusals
from streamplace.integrations.flink.documents import Job, VertexState
from streamplace.integrations.flink.plan import running
from tests.support.flink_server.job_documents import plan

JOB = Job(
    id="x",
    name="x",
    state="RUNNING",
    scheduler="Default",
    plan=running(plan("x", {"a": "1"}, {"a": 2}), "plan"),
    vertices={"1": VertexState("1", "RUNNING", 2, 128)},
    max_parallelism=128,
)


def found(config: dict[str, str], job: Job = JOB, count: int = 3) -> str:
    return "; ".join(refusals(job, config, {"a": count}))


def test_a_plain_cluster_is_fine() -> None:
    assert not found({})
    assert not found({"high-availability.type": "NONE", "high-availability": ""})


@pytest.mark.parametrize("key", ["high-availability.type", "high-availability"])
def test_high_availability(key: str) -> None:
    assert found({key: "ZooKeeper"}).startswith(f"{key} is zookeeper: Flink's JobManagers")


@pytest.mark.parametrize("key", ["kubernetes.cluster-id", "$internal.kubernetes.x"])
def test_kubernetes(key: str) -> None:
    assert "Kubernetes manages this cluster" in found({key: "x"})


def test_other_numbers_need_a_fixed_maximum() -> None:
    unset = replace(JOB, max_parallelism=None)
    assert "the state of a may not fit" in found({}, unset)
    assert not found({}, unset, count=2)
    assert not found({}, replace(unset, scheduler="Adaptive"))
