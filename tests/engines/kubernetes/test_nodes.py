"""Nodes of Kubernetes as a cluster, less what pods request."""

import json
from typing import Any

import pytest

from streamplace.engines.kubernetes.nodes import read
from streamplace.errors import FormatError
from streamplace.problem.cluster import Device
from tests.corpus.engine_documents.clusters import NODES, PODS, kubectl, node, pod

GIB, MIB = 2**30, 2**20


def free_of(*pods: dict[str, Any]) -> Device:
    """Return the device of a node of four cores and 15 GiB with pods."""
    found, _ = read(kubectl(node("b", "4", "15Gi", "z"), *pods), "file")
    (only,) = found.devices
    return only


def test_nodes_less_their_pods() -> None:
    found, notes = read(kubectl(*NODES, *PODS), "file")
    a, b = found.devices
    assert (a.name, a.cores, a.mips, a.group) == ("a", 3, 1.0, "eu-1a")
    assert a.memory_bytes == 15076868 * 1024 - 128 * MIB
    assert a.labels == (
        "kubernetes.io/arch=amd64",
        "node.kubernetes.io/instance-type=m5.xlarge",
        "topology.kubernetes.io/zone=eu-1a",
        "stream",
    )
    assert a.resources == {"ephemeral-storage": 47233297124.0}
    assert (b.name, b.cores, b.memory_bytes, b.group) == ("b", 2, 14 * GIB, "eu-1b")
    assert "gpu" not in b.resources
    for expected in (
        "1 node left out, not ready: 'gone'",
        "1 node left out, tainted master: 'control'",
        "1 node left out, cordoned: 'cordoned'",
        "1 pod without a node: not deducted",
        "deducted: what is requested by 3 pods; without a request for CPU, and so counted as "
        "none: 1",
    ):
        assert expected in notes


def test_documents_one_after_the_other_are_one_list() -> None:
    apart = kubectl(*NODES) + kubectl(*PODS)
    assert read(apart, "file")[0] == read(kubectl(*NODES, *PODS), "file")[0]


def test_without_pods_nothing_is_deducted() -> None:
    found, notes = read(json.dumps(NODES[1]), "file")
    (only,) = found.devices
    assert (only.cores, only.memory_bytes, only.resources["gpu"]) == (4, 15 * GIB, 1.0)
    assert notes[0].startswith("no pods are listed, so what runs is not deducted;")


def test_items_of_the_server_have_the_kind_of_their_list() -> None:
    bare = {key: value for key, value in NODES[0].items() if key not in ("kind", "apiVersion")}
    found, _ = read(json.dumps({"kind": "NodeList", "apiVersion": "v1", "items": [bare]}), "file")
    assert found.names == ("a",)


def test_init_containers_need_the_largest_of_them() -> None:
    large = {"name": "i", "resources": {"requests": {"cpu": "2"}}}
    small = {"name": "j", "resources": {"requests": {"cpu": "1"}}}
    assert free_of(pod("b", {"cpu": "1"}, initContainers=[large, small])).cores == 2
    assert free_of(pod("b", {"cpu": "3"}, initContainers=[large])).cores == 1
    beside = {**small, "restartPolicy": "Always"}
    assert free_of(pod("b", {"cpu": "1"}, initContainers=[beside])).cores == 2
    assert free_of(pod("b", {}, initContainers=[beside, large])).cores == 1
    assert free_of(pod("b", {}, initContainers=[large, beside])).cores == 2


def test_requests_of_the_pod_replace_those_of_its_containers() -> None:
    of_pod = {"requests": {"cpu": "2"}}
    found = free_of(pod("b", {"cpu": "1", "memory": "1Gi"}, resources=of_pod))
    assert (found.cores, found.memory_bytes) == (2, 14 * GIB)


def test_pods_on_a_node_that_is_full_keep_others_away() -> None:
    few = node("b", "4", "15Gi", "z", allocatable={"pods": "1"})
    with pytest.raises(FormatError, match=r"1 node left out, without room for a pod: 'b'"):
        read(kubectl(few, pod("b", {})), "file")
    soft = node("c", "4", "1Gi", "z", taints=[{"effect": "PreferNoSchedule", "key": "k"}])
    assert read(kubectl(few, soft, pod("b", {})), "file")[0].names == ("c",)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (kubectl(pod("a", {})), "file: has no node; 'kubectl get nodes,pods -A -o json' prints"),
        (kubectl({"kind": "Service", "apiVersion": "v1"}), "file: has no node"),
        ("[]", "file: has no kind"),
        ('{"kind": "List", "items": 3}', "file: items: must be a list"),
        (kubectl(NODES[0]) + '{\n"kind": 3}', "file: document 2: has no kind"),
        (kubectl(node("a", "4 cores", "1Gi", "z")), r"items\[0\]: status.allocatable.cpu: must be"),
        (
            kubectl(NODES[0], NODES[0]),
            r"^file: items\[1\].metadata.name: duplicate name 'a', see items\[0\].metadata.name",
        ),
        (
            json.dumps(NODES[0]) + "\n" + json.dumps(NODES[0]),
            "^file: document 2: metadata.name: duplicate name 'a', see document 1: metadata.name;",
        ),
        (kubectl(NODES[0], {"kind": "Pod"}), r"file: items\[1\]: missing field 'spec'"),
    ],
)
def test_faults_name_their_place(text: str, fault: str) -> None:
    with pytest.raises(FormatError, match=fault):
        read(text, "file")
