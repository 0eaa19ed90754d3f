"""Resources in Kubernetes manifests, and in formats that have none."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import kubernetes_validate
import pytest
import yaml

from streamplace import Cluster, Device, Operator, Placement, Problem, StreamGraph
from streamplace.engines.kubernetes.resources import extended_name
from streamplace.errors import ProblemError
from streamplace.formats.documents import export_text
from streamplace.formats.registry import format_named
from streamplace.scoring.loads import resource_use

ASSUMED = "nvidia.com/gpu stands for 'gpu', streamplace/big-disk-{} stands for 'big disk'"


def placement(*taken: Mapping[str, float]) -> Placement:
    """Return a placement of operators o0, o1, …, each on its own device that offers enough."""
    names = [f"o{v}" for v in range(len(taken))]
    operators = [
        Operator(name, 1e5, 1.0, resources=each) for name, each in zip(names, taken, strict=True)
    ]
    streams = list(pairwise(names))
    devices = [
        Device(f"d{v}", 1e3, resources=dict.fromkeys(each, 9)) for v, each in enumerate(taken)
    ]
    graph = StreamGraph(operators, streams, source_rate=10.0)
    return Placement(Problem(graph, Cluster(devices)), list(range(len(taken))))


def resources_of(made: Placement) -> list[dict[str, Any]]:
    """Return the resources of the container of each PE."""
    documents = [*yaml.safe_load_all(export_text(made, "kubernetes"))]
    for document in documents:
        kubernetes_validate.validate(document, "1.37.0", strict=True)
    containers = [document["spec"]["template"]["spec"]["containers"][0] for document in documents]
    return [container["resources"] for container in containers]


def test_limits_and_requests_have_extended_resources() -> None:
    taken = {"gpu": 2, "amd.com/gpu": 1, "licence": 3}
    first, second = resources_of(placement(taken, {}))
    expected = {"amd.com/gpu": "1", "nvidia.com/gpu": "2", "streamplace/licence": "3"}
    assert first["limits"] == expected
    assert first["requests"] == {"cpu": "1m", **expected}
    assert "limits" not in second
    assert second["requests"].keys() == {"cpu"}


def test_fractions_are_added_up_and_then_rounded_up() -> None:
    graph = StreamGraph(
        [Operator(name, 1e5, 1.0, resources={"gpu": 0.1}) for name in "abc"], source_rate=10.0
    )
    problem = Problem(graph, Cluster([Device("d", 1e3, resources={"gpu": 1})]))
    made = Placement(problem, [0, 0, 0])
    assert resources_of(made)[0]["limits"] == {"nvidia.com/gpu": "1"}
    (lost,) = format_named("kubernetes").lost(made)
    assert lost.startswith("fractions of 'gpu' are rounded up for each PE")
    assert f"# Lost: {lost}\n" in export_text(made, "kubernetes")
    halves, _ = graph.with_numbers(resources={0: {"gpu": 0.5}, 1: {"gpu": 0.5}})
    assert not format_named("kubernetes").lost(
        Placement(Problem(halves, problem.cluster), [0, 0, 0])
    )


def test_parts_of_a_millionth_are_not_rounded_up() -> None:
    """Three times 0.3333337 is 0.999999 in millionths, which fits into 1."""
    graph = StreamGraph(
        [Operator(name, 1e5, 1.0, resources={"gpu": 0.3333337}) for name in "abc"], source_rate=10.0
    )
    for offered, free in ((1, 0.0), (2, 0.9999989)):
        cluster = Cluster([Device("d", 1e3, resources={"gpu": offered})])
        made = Placement(Problem(graph, cluster), [0, 0, 0])
        (use,) = resource_use(made)
        assert use.free == pytest.approx(free, abs=1e-12)
        assert resources_of(made)[0]["limits"] == {"nvidia.com/gpu": "1"}


def test_assumed_names_are_in_the_file() -> None:
    made = placement({"gpu": 1, "big disk": 1, "amd.com/gpu": 1})
    (assumed,) = format_named("kubernetes").assumed(made)
    label = extended_name("big disk").removeprefix("streamplace/big-disk-")
    assert sorted(assumed.split(", ")) == sorted(ASSUMED.format(label).split(", "))
    assert f"# Assumed: {assumed}\n" in export_text(made, "kubernetes")
    assert format_named("kubernetes").assumed(placement({"amd.com/gpu": 1})) == []


LONGEST = ".".join(["a" * 48] * 5)  # 244 characters, and 253 with ``requests.``


@pytest.mark.parametrize(
    "name",
    [
        "/gpu",
        "a b/gpu",
        "amd.com/",
        "amd.com/a/b",
        "kubernetes.io/x",
        "x.kubernetes.io/y",
        "mykubernetes.io/x",
        "requests.amd.com/gpu",
        f"{LONGEST}a/gpu",
    ],
)
def test_names_that_kubernetes_refuses(name: str) -> None:
    """By IsExtendedResourceName; the name must also be valid with ``requests.`` before it."""
    assert f"{LONGEST}/gpu" in export_text(placement({f"{LONGEST}/gpu": 1}), "kubernetes")
    with pytest.raises(ProblemError, match="not an extended resource of Kubernetes"):
        export_text(placement({name: 1}), "kubernetes")


def test_resources_of_kubernetes_itself_keep_their_names() -> None:
    """Nodes offer local storage and huge pages in bytes; limits and requests must be equal."""
    taken = {"ephemeral-storage": 2.0, "hugepages-2Mi": 4.0, "hugepages-big": 1.0}
    made = placement(taken)
    (found,) = resources_of(made)
    assert found["limits"] == {
        "ephemeral-storage": "2",
        "hugepages-2Mi": "4",
        "streamplace/hugepages-big": "1",
    }
    assert found["requests"] == {"cpu": "1m", **found["limits"]}
    (assumed,) = [text for text in format_named("kubernetes").assumed(made) if "stands for" in text]
    assert "ephemeral-storage" not in assumed


def test_the_message_about_a_name_that_is_too_long() -> None:
    """A name part of 64 characters, as plug-ins that compose names write, is refused."""
    assert extended_name("a.b/" + 63 * "x") == "a.b/" + 63 * "x"
    with pytest.raises(ProblemError, match="NAME has at most 63 letters, digits"):
        extended_name("a.b/" + 64 * "x")


def test_two_resources_with_one_extended_resource() -> None:
    with pytest.raises(ProblemError, match=r"'gpu', 'nvidia.com/gpu': both stand for"):
        export_text(placement({"gpu": 1, "nvidia.com/gpu": 1}), "kubernetes")


@pytest.mark.parametrize("kind", ["flink", "flink-config", "capsys", "storm-ras", "ibm-spl"])
def test_other_formats_say_that_they_drop_resources(kind: str) -> None:
    expected = "the file does not reserve 'gpu', which the placement counts; "
    assert expected + "reserve what is needed by hand" in format_named(kind).lost(
        placement({"gpu": 1})
    )
    assert not any("reserve" in each for each in format_named(kind).lost(placement({})))


def test_labels_of_operators_with_resources_are_not_counted_as_lost() -> None:
    graph = StreamGraph(
        [Operator("a", 1.0, 0.0, requires=("gpu",), resources={"gpu": 1})], source_rate=1.0
    )
    device = Device("d", 1e3, labels=("gpu",), resources={"gpu": 1})
    assert format_named("kubernetes").lost(Placement(Problem(graph, Cluster([device])), [0])) == []
