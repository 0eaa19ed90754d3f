"""Placements as slot-sharing groups in a Java properties file."""

import re

import pytest
import yaml

from streamplace.engines.flink.groups import COUNTED, UNLIMITED
from streamplace.engines.flink.slot_groups import write, write_configuration
from streamplace.errors import ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, StreamGraph
from streamplace.problem.instances import colocate_instances
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from tests.support.chain_placement import chain_placement

NAMES = ["Source: events", "a=b", "Map#2", "straße \U0001f600", "log: Writer", "log: Committer"]


def properties(text: str) -> dict[str, str]:
    """Parse properties as java.util.Properties does."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            key, value = re.fullmatch(r"((?:\\.|[^\\=: ])+)=(.*)", line).groups()  # type: ignore[union-attr]
            units = re.sub(r"\\u(....)", lambda m: chr(int(m[1], 16)), key)
            units = re.sub(r"\\(.)", r"\1", units)
            found[units.encode("utf-16", "surrogatepass").decode("utf-16")] = value
    return found


def test_one_group_per_device_in_cluster_order() -> None:
    text = write(chain_placement(NAMES, [3, 1, 1, 3, 4, 4], {}))
    assert text.isascii()
    groups = ["pe1", "pe0", "pe0", "pe1", "pe2", "pe2"]
    assert properties(text) == dict(zip(NAMES, groups, strict=True))


def test_instances_of_an_operator_need_one_slot_each() -> None:
    instance_of = {"a[0]": "a", "a[1]": "a"}
    text = write(chain_placement(["s", "a[0]", "a[1]"], [0, 1, 1], instance_of))
    assert properties(text) == {"s": "pe0, parallelism 1", "a": "pe1, parallelism 2"}
    assert "needs 2 slots; Flink chooses which, unless they are applied with --labels" in text


def test_stated_single_instances_are_written() -> None:
    """The job may have other numbers, which would stay."""
    graph = StreamGraph([Operator("a", 1.0, 1.0, parallelism=1), ("b", 1.0, 1.0)], source_rate=1.0)
    text = write(Placement(Problem(graph, "1x1000"), [0, 0]))
    assert properties(text) == {"a": "pe0, parallelism 1", "b": "pe0, parallelism 1"}


def test_parts_of_a_sink_stay_together() -> None:
    apart = chain_placement(NAMES, [0, 0, 0, 0, 1, 2], {})
    with pytest.raises(ProblemError, match=r"are parts of one sink.* --whole-operators"):
        write(apart)
    rules = colocate_instances(apart.problem.graph, Constraints())
    assert list(rules.colocate) == [("log: Writer", "log: Committer")]


def test_unequal_devices_have_labels() -> None:
    text = write(chain_placement(["s", "a", "b"], [1, 2, 1], {}, Cluster.parse("1x2000,2x1000")))
    assert properties(text) == {
        "@pe0": "label dev_d1, cores 0.1, heap_mb 8, managed_mb 1",
        "@pe1": "label dev_d2, cores 0.1, heap_mb 8, managed_mb 1",
        "s": "pe0",
        "a": "pe1",
        "b": "pe0",
    }
    assert "adaptive" in text
    assert "Flink chooses" not in text


def test_instances_on_several_devices_have_counted_labels() -> None:
    instance_of = {"a[0]": "a", "a[1]": "a", "a[2]": "a"}
    placement = chain_placement(["s", "a[0]", "a[1]", "a[2]"], [0, 0, 1, 0], instance_of)
    found = properties(write(placement))
    assert found["@split0"] == (
        "label parts_0_d0 5000000000, label parts_0_d1 10000000000, label parts_0_d2 10000000001, "
        "label parts_0_d3 10000000001, label parts_0_d4 10000000001, "
        "cores 0.1, heap_mb 8, managed_mb 1"
    )
    assert (found["a"], found["s"]) == ("split0, parallelism 3", "pe0, parallelism 1")
    assert "2 slots on d0, 1 on d1; Flink chooses which instance takes which" in write(placement)


def test_the_operators_name_cannot_be_that_of_a_group() -> None:
    unequal = Cluster.parse("1x2000,2x1000")
    assert "@pe0=pe0" in write(chain_placement(["@pe0", "b"], [0, 1], {}))
    with pytest.raises(ProblemError, match="must not begin with '@'"):
        write(chain_placement(["@pe0", "b"], [0, 1], {}, unequal))


def test_one_document_per_device() -> None:
    instances = {f"a[{i}]": "a" for i in range(3)}
    two = Cluster.parse("2x1000")
    text = write_configuration(chain_placement(["s", *instances], [1, 1, 1, 0], instances, two))
    first, second = yaml.safe_load_all(text)
    assert second == {
        "external-resources": "dev_d1;parts_0_d0;parts_0_d1;parts_1_d0;parts_1_d1",
        "external-resource.dev_d1.amount": 1000,
        "external-resource.parts_0_d0.amount": UNLIMITED,
        "external-resource.parts_0_d1.amount": COUNTED,
        "external-resource.parts_1_d0.amount": UNLIMITED,
        "external-resource.parts_1_d1.amount": COUNTED,
    }
    assert first["external-resource.parts_0_d0.amount"] == COUNTED
    assert '--- # "d1"\n' in text
    assert text == write_configuration(
        chain_placement(["s", "a[0]", "a[1]"], [0, 0, 1], {"a[0]": "a", "a[1]": "a"}, two)
    )
    assert "adaptive scheduler ignores labels" in text


def test_a_single_device_divides_nothing() -> None:
    text = write_configuration(chain_placement(["s"], [0], {}, Cluster.parse("1x1000")))
    assert yaml.safe_load(text)["external-resources"] == "dev_d0"


def test_a_job_without_instances_needs_no_labels_for_parts() -> None:
    text = write_configuration(chain_placement(["a", "b", "c"], [0, 1, 2], {}))
    assert "parts_" not in text
    assert "that divides no operator; before one is divided" in text
