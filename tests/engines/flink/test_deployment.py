"""Documents of the Flink Kubernetes operator."""

import os
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from streamplace.engines.flink.deployment import Owner, losses, owner_of, write
from streamplace.engines.flink.manifest import read_manifest
from streamplace.engines.flink.operated import OVERRIDES, Operated
from streamplace.engines.flink.plan import RunningPlan, running
from streamplace.errors import ProblemError
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.placement import Placement
from tests.support.chain_placement import chain_placement

CRD = os.environ.get("FLINK_OPERATOR_CRD")  # helm/…/crds/flinkdeployments….yml of a release
COUNTS = {f"count[{i}]": "count" for i in range(3)}
OWNER = Owner("FlinkDeployment", "clicks", "prod")
USER = """\
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: clicks, labels: {team: web}}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  flinkConfiguration:
    taskmanager: {numberOfTaskSlots: 2, memory.managed.size: 1g}
    pipeline.jobvertex-parallelism-overrides: "old:7"
  taskManager: {replicas: 3, resource: {memory: 2g}}
  job: {jarURI: "local:///opt/flink/usrlib/clicks.jar", parallelism: 2, upgradeMode: savepoint}
"""


def plan(*operators: str) -> RunningPlan:
    """Return the plan of a chain of vertices; those of several operators are chains."""
    nodes = [
        {
            "id": f"{i:032x}",
            "parallelism": 1,
            "description": name,
            "inputs": [{"id": f"{i - 1:032x}", "ship_strategy": "HASH"}] if i else [],
        }
        for i, name in enumerate(operators)
    ]
    return running({"jid": "j", "name": "clicks", "nodes": nodes}, "plan")


PLAN = plan("Source: src<br/>", "count<br/>", "out: Writer<br/>")


def placed() -> Placement:
    devices = [
        Device(name, 1000, cores=cores, memory_bytes=4e9) for name, cores in (("a", 4), ("b", 2))
    ]
    names = ["Source: src", *COUNTS, "out: Writer"]
    return chain_placement(
        names, [0, 0, 1, 1, 0], COUNTS | {n: n for n in (names[0], names[-1])}, Cluster(devices)
    )


def strict(schema: Any) -> Any:
    """Return a schema of Kubernetes that refuses the fields which the API server drops."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(value) for key, value in schema.items()}
    known = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
    if known and not schema.get("x-kubernetes-preserve-unknown-fields"):
        found.setdefault("additionalProperties", False)
    return found


@pytest.mark.skipif(not CRD, reason="FLINK_OPERATOR_CRD does not name the operator's CRD")
@pytest.mark.parametrize("label", [None, "kubernetes.io/hostname"])
def test_documents_fit_the_crd_of_the_operator(label: str | None) -> None:
    jsonschema = pytest.importorskip("jsonschema")  # which kubernetes_validate needs
    (version,) = yaml.safe_load(Path(str(CRD)).read_text())["spec"]["versions"]
    schema = strict(version["schema"]["openAPIV3Schema"])
    of_all = {"apiVersion": "string", "kind": "string", "metadata": "object"}
    schema["properties"] |= {key: {"type": kind} for key, kind in of_all.items()}
    change = write(placed(), OWNER, PLAN, label).document
    assert change["apiVersion"] == f"flink.apache.org/{version['name']}"
    jsonschema.validate(change, schema)
    jsonschema.validate(read_manifest(USER, "u").patched(change, 3)[0], schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**change, "spec": {"slots": 1}}, schema)


def test_numbers_alone_are_overrides() -> None:
    document = write(placed(), OWNER, PLAN).document
    ids = [f"{i:032x}" for i in range(3)]
    overrides = f"{ids[0]}:1,{ids[1]}:3,{ids[2]}:1"
    assert document["spec"] == {"flinkConfiguration": {OVERRIDES: overrides}}
    assert document["metadata"] == {"name": "clicks", "namespace": "prod"}


def test_devices_are_nodes_with_a_label() -> None:
    spec = write(placed(), OWNER, PLAN, "kubernetes.io/hostname").document["spec"]
    assert spec["flinkConfiguration"]["taskmanager.numberOfTaskSlots"] == "2"
    assert spec["taskManager"]["resource"] == {"cpu": 2.0, "memory": "3814m"}
    pod = spec["taskManager"]["podTemplate"]["spec"]
    text = str(pod)
    assert "'key': 'kubernetes.io/hostname', 'operator': 'In', 'values': ['a', 'b']" in text
    own = {"containers": [{"name": "flink-main-container", "image": "flink"}]}
    whole = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "t"}, "spec": pod | own}
    kubernetes_validate.validate(whole, "1.37.0", strict=True)
    alike = "TaskManagers of one job are alike, so each gets the cores and memory of the smallest"
    assert any(alike in note for note in losses(placed(), "kubernetes.io/hostname"))


def test_chained_operators_need_equal_numbers() -> None:
    with pytest.raises(ProblemError, match="Source: src, count are chained, and need equal"):
        write(placed(), OWNER, plan("Source: src<br/>+- count<br/>", "out: Writer<br/>"))
    with pytest.raises(ProblemError, match="the job has no operator 'count'"):
        write(placed(), OWNER, plan("Source: src<br/>", "out: Writer<br/>"))


def at(version: tuple[int, int] | None, **how: Any) -> Operated:
    """Return how a job runs: natively, under the default scheduler, unless its settings differ."""
    known = {"is_session_job": False, "config": {}, "is_adaptive": False, "is_standalone": False}
    return Operated(version, **{**known, **how})


@pytest.mark.parametrize("version", [(1, 17), (1, 20)])
def test_versions_that_keep_numbers_at_a_start(version: tuple[int, int]) -> None:
    for how in ({}, {"is_standalone": True}, {"is_adaptive": True}):
        change = write(placed(), OWNER, PLAN, "host", at(version, **how))
        assert not any("FLINK-38770" in note for note in (*change.lost, *change.assumed))
        assert "job" not in change.document["spec"]


def test_an_unknown_version_is_assumed_to_keep_numbers() -> None:
    (note,) = write(placed(), OWNER, PLAN).assumed
    assert note.startswith("Flink 1.17 to 1.20")
    assert "jobmanager.scheduler: adaptive" in note


def test_flink_2_changes_numbers_only_while_the_job_runs() -> None:
    change = write(placed(), OWNER, PLAN, None, at((2, 2), is_adaptive=True))
    assert change.lost[-1] == (
        f"Flink 2.2 ignores {OVERRIDES} at a start (FLINK-38770): the operator changes the numbers "
        "only while the job runs under jobmanager.scheduler: adaptive, and they are lost at its "
        "next start"
    )


@pytest.mark.parametrize(
    ("version", "how", "label", "remedy"),
    [
        ((2, 0), {}, None, "set jobmanager.scheduler: adaptive, without"),
        ((2, 3), {"is_session_job": True}, None, "set jobmanager.scheduler: adaptive, without"),
        ((2, 2), {"is_standalone": True, "is_adaptive": True}, None, "use mode: native"),
        ((2, 2), {"is_adaptive": True}, "host", "leave out --node-label"),
        (
            (2, 2),
            {
                "is_adaptive": True,
                "config": {"kubernetes.operator.job.upgrade.inplace-scaling.enabled": "false"},
            },
            None,
            "leave out kubernetes.operator.job.upgrade.inplace-scaling.enabled",
        ),
        (
            (1, 20),
            {"is_adaptive": True, "config": {"scheduler-mode": "REACTIVE"}},
            None,
            "without scheduler-mode",
        ),
        ((1, 16), {"is_adaptive": True}, None, "use Flink 1.18 or later"),
        ((1, 18), {"is_session_job": True}, None, "set jobmanager.scheduler: adaptive"),
    ],
)
def test_a_document_without_effect_is_refused(
    version: tuple[int, int], how: dict[str, Any], label: str | None, remedy: str
) -> None:
    with pytest.raises(ProblemError) as caught:
        write(placed(), OWNER, PLAN, label, at(version, **how))
    assert remedy in str(caught.value)


def test_equal_numbers_are_the_parallelism_of_the_job() -> None:
    both = {f"Source: src[{i}]": "Source: src" for i in range(3)} | COUNTS
    two = Cluster([Device("a", 1), Device("b", 1)])
    equal = chain_placement([*both], [0, 0, 1, 0, 0, 1], both, two)
    change = write(equal, OWNER, plan("Source: src<br/>", "count<br/>"), None, at((2, 3)))
    assert change.document["spec"]["job"] == {"parallelism": 3}
    assert "neither the job's code nor taskManager.replicas" in change.assumed[0]
    kept = write(equal, OWNER, plan("Source: src<br/>", "count<br/>"), None, at((1, 20)))
    assert "job" not in kept.document["spec"]


def test_the_operators_clusters_are_recognised() -> None:
    native = {"$internal.flink.version": "v2_2", "kubernetes.cluster-id": "clicks"}
    assert owner_of(native, "job") == Owner("FlinkDeployment", "clicks")
    session = native | {"execution.target": "kubernetes-session", "kubernetes.namespace": "prod"}
    assert owner_of(session, "job") == Owner("FlinkSessionJob", "job", "prod")
    standalone = native | {"kubernetes.internal.cluster-mode": "SESSION"}
    assert owner_of(standalone, "job") == Owner("FlinkSessionJob", "job")
    assert owner_of({"kubernetes.cluster-id": "by hand"}, "job") is None
