"""Placements as slot-sharing groups in a Java properties file."""

import re
from itertools import pairwise

import pytest

from streamplace.errors import ProblemError
from streamplace.integrations.flink.slot_groups import write, write_helper
from streamplace.integrations.whole_operators import colocate_instances
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem

NAMES = ["Source: events", "a=b", "Map#2", "straße \U0001f600", "log: Writer", "log: Committer"]


def chain_placement(names: list[str], devices: list[int], instance_of: dict[str, str]) -> Placement:
    operators = [Operator(name, 1, 1, instance_of=instance_of.get(name, "")) for name in names]
    chain = [Stream(a, b) for a, b in pairwise(names)]
    graph = StreamGraph(operators, chain, source_rate=1.0)
    return Placement(Problem(graph, Cluster.equal()), devices)


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
    assert properties(text) == {"s": "pe0", "a": "pe1"}
    assert "needs 2 slots" in text
    with pytest.raises(ProblemError, match=r"instances of 'a' .* --whole-operators"):
        write(chain_placement(["s", "a[0]", "a[1]"], [0, 1, 2], instance_of))


def test_parts_of_a_sink_stay_together() -> None:
    apart = chain_placement(NAMES, [0, 0, 0, 0, 1, 2], {})
    with pytest.raises(ProblemError, match=r"are parts of one sink.* --whole-operators"):
        write(apart)
    rules = colocate_instances(apart.problem.graph, Constraints())
    assert list(rules.colocate) == [("log: Writer", "log: Committer")]


def test_helper_is_one_class_without_a_package() -> None:
    source = write_helper(chain_placement(["a"], [0], {}))
    assert "public final class StreamplaceMapping" in source
    assert "package " not in source
    assert source.count("{") == source.count("}")
