"""Kubernetes manifests: valid objects, whose pods run every instance once."""

import json
import re
from collections import Counter
from math import ceil
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from hypothesis import given

from streamplace.engines.kubernetes.deployments import crowded
from streamplace.engines.kubernetes.parts import has_replicas
from streamplace.errors import ProblemError
from streamplace.formats.documents import export_text
from streamplace.formats.instances import operator_cores
from streamplace.formats.registry import format_named
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.network import Network
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.support.instance_placements import (
    instance_placements,
    one_instance_placement,
    placement_without_streams,
    word_count_placement,
)

GOLDEN = Path(__file__).parent / "golden" / "kubernetes-one-instance.txt"


DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?")


QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|[kMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]+)?")


def deployments(placement: Placement) -> list[dict[str, Any]]:
    """Return the objects of an export."""
    return [*yaml.safe_load_all(export_text(placement, "kubernetes"))]


def requests_of(deployment: dict[str, Any]) -> dict[str, str]:
    """Return what each pod of a Deployment requests."""
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    requests: dict[str, str] = container["resources"]["requests"]
    return requests


def runs(deployment: dict[str, Any]) -> tuple[str, tuple[str, ...], int]:
    """Return the device of a Deployment, what each of its pods runs, and how many there are."""
    annotations = deployment["spec"]["template"]["metadata"]["annotations"]
    operators = tuple(json.loads(annotations["streamplace/operators"]))
    return annotations["streamplace/device"], operators, deployment["spec"]["replicas"]


def expected_pods(placement: Placement) -> Counter[tuple[str, tuple[str, ...]]]:
    """Return (device, what a pod runs) -> number of such pods, computed plainly."""
    owners, on = placement.problem.graph.owners, [*placement.assignment.values()]
    found: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for device, names in placement.pes.items():
        here = [owners[v] for v in range(len(owners)) if on[v] == device]
        alone = [name for name, owner in zip(names, here, strict=True) if owners.count(owner) == 1]
        if alone:
            found[device, tuple(alone)] = 1
        found.update((device, (owner,)) for owner in here if owners.count(owner) > 1)
    return found


@given(instance_placements(whole=False))
def test_every_instance_is_in_one_pod_on_its_node(placement: Placement) -> None:
    found = [runs(deployment) for deployment in deployments(placement)]
    pods = {(device, operators): count for device, operators, count in found}
    assert len(pods) == len(found)
    assert pods == expected_pods(placement)


@given(instance_placements(whole=False))
def test_names_are_valid_and_select_the_own_pods_only(placement: Placement) -> None:
    found = deployments(placement)
    names = [deployment["metadata"]["name"] for deployment in found]
    containers = [d["spec"]["template"]["spec"]["containers"][0]["name"] for d in found]
    assert all(DNS_LABEL.fullmatch(name) for name in (*names, *containers))
    assert len(set(names)) == len(names)
    selectors = [d["spec"]["selector"]["matchLabels"] for d in found]
    for i, deployment in enumerate(found):
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        selected = [s for s, selector in enumerate(selectors) if selector.items() <= labels.items()]
        assert selected == [i]


@given(instance_placements(whole=False))
def test_pods_of_other_nodes_are_kept_away(placement: Placement) -> None:
    """The components that a pod tolerates on its node are those of its own device."""
    found = deployments(placement)
    on: dict[str, set[str]] = {}
    for each in found:
        labels = each["spec"]["template"]["metadata"]["labels"]
        on.setdefault(runs(each)[0], set()).add(labels["app.kubernetes.io/component"])
    nodes = {d["spec"]["template"]["spec"]["nodeSelector"]["streamplace/device"] for d in found}
    assert len(nodes) == len(on)
    for deployment in found:
        pod = deployment["spec"]["template"]["spec"]
        if len(on) == 1:
            assert "affinity" not in pod
            continue
        (term,) = pod["affinity"]["podAntiAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"
        ]
        tolerated = term["labelSelector"]["matchExpressions"][1]
        assert tolerated["operator"] == "NotIn"
        assert set(tolerated["values"]) == on[runs(deployment)[0]]


@pytest.mark.parametrize("version", ["1.37.0", "1.25.0"])
@pytest.mark.parametrize(
    "placement", [word_count_placement(whole=False), one_instance_placement()], ids=["two", "one"]
)
def test_the_published_schema(version: str, placement: Placement) -> None:
    """The schema is from kubernetes-validate, in strict mode: unknown fields are errors."""
    for deployment in deployments(placement):
        kubernetes_validate.validate(deployment, version, strict=True)


@given(instance_placements(whole=False))
def test_forms_that_the_schema_leaves_open(placement: Placement) -> None:
    """Quantities, labels and counts, of which an API server checks more than their types."""
    for deployment in deployments(placement):
        template, replicas = deployment["spec"]["template"], deployment["spec"]["replicas"]
        labels = [
            *deployment["metadata"]["labels"].values(),
            *template["metadata"]["labels"].values(),
        ]
        labels += template["spec"]["nodeSelector"].values()
        assert all(LABEL_VALUE.fullmatch(label) for label in labels)
        assert all(QUANTITY.fullmatch(amount) for amount in requests_of(deployment).values())
        assert type(replicas) is int
        assert replicas >= 1


def test_schema_rejects_unknown_fields() -> None:
    (first, *_) = deployments(word_count_placement())
    first["spec"]["template"]["spec"]["containers"][0]["resources"]["request"] = {"cpu": "1"}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(first, "1.37.0", strict=True)


def test_placements_of_single_instances_are_written_as_in_version_0_2() -> None:
    assert export_text(one_instance_placement(), "kubernetes") == GOLDEN.read_text()
    assert not has_replicas(one_instance_placement())


def test_requests_are_those_of_one_replica() -> None:
    found = {runs(each): requests_of(each) for each in deployments(word_count_placement())}
    assert found == {
        ("d0", ("lines", "split", "sink"), 1): {"cpu": "300m", "memory": "2500000"},
        ("d2", ("count",), 2): {"cpu": "150m", "memory": "1000000"},
    }


def keyed_placement(on: list[int], **room: Any) -> Placement:
    """Return a placement of a source and two instances, of which one gets 3 of 4 tuples.

    Parameters
    ----------
    room
        Fields of each device that differ: four cores and two GPUs, without a limit of memory.
    """
    graph = StreamGraph(
        [
            Operator("s", 1000.0, 1.0),
            *(
                Operator(f"k[{i}]", 1000.0, 0.0, 1e6, instance_of="k", resources={"gpu": 0.5})
                for i in range(2)
            ),
        ],
        [Stream("s", "k[0]", 0.75), Stream("s", "k[1]", 0.25)],
        name="keyed",
        source_rate=1e5,
    )
    fields: dict[str, Any] = {"mips": 1000.0, "cores": 4, "resources": {"gpu": 2}} | room
    devices = [Device(f"d{d}", **fields) for d in range(2)]
    network = Network(overhead_s=1e-6)
    return Placement(Problem(graph, Cluster(devices, network=network)), on)


LIMITED = {"memory": "1000000", "nvidia.com/gpu": "1"}


def test_replicas_request_what_the_busiest_of_them_needs() -> None:
    both = {runs(each): requests_of(each) for each in deployments(keyed_placement([0, 1, 1]))}
    # 0.75e5 tuples/s x (1000 instructions of 1e9/s + 1e-6 s to receive)
    assert both["d1", ("k",), 2] == {"cpu": "150m"} | LIMITED
    assert both["d0", ("s",), 1] == {"cpu": "200m"}
    apart = {runs(each): requests_of(each) for each in deployments(keyed_placement([0, 0, 1]))}
    assert apart["d0", ("k",), 1] == {"cpu": "75m"} | LIMITED
    assert apart["d1", ("k",), 1] == {"cpu": "50m"} | LIMITED
    assert apart["d0", ("s",), 1] == {"cpu": "125m"}  # sends a quarter of the tuples


def test_what_replicas_lose_and_assume_is_printed() -> None:
    placement = keyed_placement([0, 1, 1])
    lost, assumed = (
        format_named("kubernetes").lost(placement),
        format_named("kubernetes").assumed(placement),
    )
    assert any("fractions of 'gpu' are rounded up for each pod" in each for each in lost)
    assert any(each.startswith("pods of 'k' are alike") for each in lost)
    assert any(each.startswith("each pod of 'k' runs one instance") for each in assumed)
    text = export_text(placement, "kubernetes")
    assert all(f"# Lost: {each}\n" in text for each in lost)
    assert all(f"# Assumed: {each}\n" in text for each in assumed)


@pytest.mark.parametrize(
    ("enough", "little"),
    [
        # as much as two pods request, which is twice the need of the busiest instance
        ({"resources": {"gpu": 2}}, {"resources": {"gpu": 1}}),
        ({"memory_bytes": 2e6}, {"memory_bytes": 2e6 - 1}),
        ({"cores": 1, "mips": 177.0}, {"cores": 1, "mips": 176.0}),
    ],
)
def test_nodes_that_are_too_small_for_what_pods_request(
    enough: dict[str, Any], little: dict[str, Any]
) -> None:
    assert crowded(keyed_placement([0, 1, 1], **enough)) == []
    assert crowded(keyed_placement([0, 1, 1], **little)) == ["d1"]


@given(instance_placements(whole=False))
def test_pods_request_at_least_what_their_node_needs(placement: Placement) -> None:
    cores = operator_cores(placement, "kubernetes")
    requested: Counter[str] = Counter()
    for deployment in deployments(placement):
        device, _, replicas = runs(deployment)
        requested[device] += replicas * int(requests_of(deployment)["cpu"].removesuffix("m"))
    for d, name in enumerate(placement.problem.cluster.names):
        needed = float(cores[placement.devices == d].sum()) * 1000
        assert requested[name] >= ceil(round(needed, 6)) or needed == 0.0


def test_too_many_operators_per_container() -> None:
    names = [f"{'x' * 120}{v:06}" for v in range(1100)]
    with pytest.raises(ProblemError, match=r"1,100 operators on 'd0' take .* bytes"):
        export_text(placement_without_streams(*names), "kubernetes")
    assert len(deployments(placement_without_streams(*names[:900]))) == 1


def test_long_names_of_operators_stay_distinct() -> None:
    names = [f"{'operator' * 9}{letter}" for letter in "ab"]
    rows = [Operator(f"{n}[{i}]", 1.0, 0.0, instance_of=n) for n in names for i in range(2)]
    graph = StreamGraph(rows, [], name="j" * 60, source_rate=1.0)
    found = deployments(Placement(Problem(graph, Cluster.equal(2)), [0, 1, 0, 1]))
    assert len({deployment["metadata"]["name"] for deployment in found}) == 4
    assert all(len(deployment["metadata"]["name"]) <= 63 for deployment in found)


def test_single_pe_has_no_affinity() -> None:
    (only,) = deployments(placement_without_streams("a"))
    assert "affinity" not in only["spec"]["template"]["spec"]
    assert only["metadata"]["name"] == "job-pe0"
