"""Documents of the Flink Kubernetes operator."""

import os
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from streamplace.engines.flink.deployment import (
    OVERRIDES,
    Owner,
    base_document,
    losses,
    owner_of,
    patched,
    write,
)
from streamplace.engines.flink.plan import RunningPlan, running
from streamplace.errors import FormatError, ProblemError
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
  image: flink:2.2
  flinkVersion: v2_2
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
    change = write(placed(), OWNER, PLAN, label)
    assert change["apiVersion"] == f"flink.apache.org/{version['name']}"
    jsonschema.validate(change, schema)
    jsonschema.validate(patched(base_document(USER, "u"), change), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**change, "spec": {"slots": 1}}, schema)


def test_numbers_alone_are_overrides() -> None:
    document = write(placed(), OWNER, PLAN)
    ids = [f"{i:032x}" for i in range(3)]
    overrides = f"{ids[0]}:1,{ids[1]}:3,{ids[2]}:1"
    assert document["spec"] == {"flinkConfiguration": {OVERRIDES: overrides}}
    assert document["metadata"] == {"name": "clicks", "namespace": "prod"}


def test_devices_are_nodes_with_a_label() -> None:
    spec = write(placed(), OWNER, PLAN, "kubernetes.io/hostname")["spec"]
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


def test_a_document_keeps_what_does_not_change() -> None:
    change = write(placed(), OWNER, PLAN, "kubernetes.io/hostname")
    found = patched(base_document(USER, "u"), change)
    config = found["spec"]["flinkConfiguration"]
    assert config["taskmanager"] == {"memory.managed.size": "1g"}  # no slots beside the new ones
    assert config["taskmanager.numberOfTaskSlots"] == "2"
    assert "old" not in config[OVERRIDES]
    assert found["spec"]["job"]["upgradeMode"] == "savepoint"
    assert found["spec"]["taskManager"]["replicas"] == 3
    assert found["metadata"]["labels"] == {"team": "web"}
    empty = USER.partition("  flinkConfiguration:")[0] + "  flinkConfiguration:\n"
    config = patched(base_document(empty, "u"), change)["spec"]["flinkConfiguration"]
    assert config == change["spec"]["flinkConfiguration"]


def test_chained_operators_need_equal_numbers() -> None:
    with pytest.raises(ProblemError, match="Source: src, count are chained, and need equal"):
        write(placed(), OWNER, plan("Source: src<br/>+- count<br/>", "out: Writer<br/>"))
    with pytest.raises(ProblemError, match="the job has no operator 'count'"):
        write(placed(), OWNER, plan("Source: src<br/>", "out: Writer<br/>"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("kind: Deployment\n", "u: kind: must be FlinkDeployment or FlinkSessionJob"),
        ("kind: FlinkDeployment\nspec: 1\nmetadata: {}\n", "u: spec: must be an object"),
        ("kind: FlinkDeployment\nspec: {}\nmetadata: {}\n", "u: metadata.name: must be text"),
        (
            "kind: FlinkDeployment\nmetadata: {name: a}\nspec: {flinkConfiguration: 1}\n",
            "u: spec.flinkConfiguration: must be an object",
        ),
        ("[1]\n", "u: kind: must be"),
        ("~\n", "u: kind: must be"),
        ("".join(f"{' ' * i}a:\n" for i in range(200)), "u: nested too deeply"),
        ("".join(f"{' ' * i}a:\n" for i in range(2000)), "u: nested too deeply"),
    ],
)
def test_other_documents_are_refused(text: str, fault: str) -> None:
    with pytest.raises(FormatError, match=fault):
        base_document(text, "u")


def test_the_operators_clusters_are_recognised() -> None:
    native = {"$internal.flink.version": "v2_2", "kubernetes.cluster-id": "clicks"}
    assert owner_of(native, "job") == Owner("FlinkDeployment", "clicks")
    session = native | {"execution.target": "kubernetes-session", "kubernetes.namespace": "prod"}
    assert owner_of(session, "job") == Owner("FlinkSessionJob", "job", "prod")
    standalone = native | {"kubernetes.internal.cluster-mode": "SESSION"}
    assert owner_of(standalone, "job") == Owner("FlinkSessionJob", "job")
    assert owner_of({"kubernetes.cluster-id": "by hand"}, "job") is None
