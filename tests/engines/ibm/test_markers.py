"""Placement rules in the JSON of streamsx: low latency, isolation, hashes and resource tags."""

import json
from itertools import pairwise

import pytest

from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import LogicalGraph
from tests.support.documents import read_document
from tests.support.instance_streams import receivers_of
from tests.support.streamsx import streamsx_operator

KINDS = {
    "L": "$LowLatency$",
    "E": "$EndLowLatency$",
    "I": "$Isolate$",
    "U": "$Union$",
    "A": "$Autonomous$",
    "P": "$Parallel$",
    "Q": "$EndParallel$",
}
"""First letter of a name -> its kind; names in small letters are operators."""


def job(*feeds: str) -> LogicalGraph:
    """Read a job from texts such as ``a>L1`` for each element and what feeds it."""
    fed: dict[str, list[str]] = {}
    for text in feeds:
        names = text.split(">")
        fed.setdefault(names[0], [])
        for a, b in pairwise(names):
            fed.setdefault(b, []).append(a)
    operators = []
    for name, before in fed.items():
        fields = {"width": 2, "routing": "ROUND_ROBIN"} if name[0] == "P" else {}
        operators.append(
            streamsx_operator(name, before, name, kind=KINDS.get(name[0], "a::B"), **fields)
        )
    return read_document("ibm-streamsx", json.dumps({"operators": operators}))


def together(found: LogicalGraph) -> list[str]:
    """Return the groups of operators that share devices, each as sorted text."""
    return sorted("".join(sorted(group)) for group in found.graph.constraints.colocate)


@pytest.mark.parametrize(
    ("feeds", "units"),
    [
        (["i>L1>a>b>E1>o"], ["abi"]),
        (["i>L1>a>b"], ["abi"]),  # a region without an end
        (["i>L1>a>E1>o", "L1>b>E2>p"], ["abi"]),  # branches that begin together
        (["i>L1>a>b>E1>o", "a>c>E2>p"], ["abci"]),  # branches inside
        (["i>L1>a>E1>b>L2>c>E2>o"], ["ai", "bc"]),  # one region after another
        (["i>L1>a>L2>b>E2>c>E1>o"], ["abci"]),  # nested
        (["i>L1>L2>a>E1>E2>o"], ["ai"]),
        (["i>L1>a>E1>L2>b>E2>o"], ["abi"]),  # directly before L2 is a
        (["i>L1>a>U1>c>E1>o", "x>U1"], ["acix"]),  # as the generator works back from E1
        (["i>U1>L1>a>b>E1>o", "j>U1"], ["ab"]),  # no operator is directly before L1
        (["i>P1>L1>a>b>E1>Q1>o"], ["ab"]),
        (["i>A1>L1>a>E1>o"], ["ai"]),
        (["i>a>E1>o"], ["ai"]),
    ],
)
def test_low_latency_keeps_operators_together(feeds: list[str], units: list[str]) -> None:
    """From the operator before the begin to the end, one process is guaranteed."""
    found = job(*feeds)
    assert together(found) == units
    assert not found.graph.constraints.exlocate


def test_low_latency_inside_a_region_is_by_channel() -> None:
    assert {*to_instances(job("i>P1>L1>a>b>E1>Q1>o")).constraints.colocate} == {
        ("a[0]", "b[0]"),
        ("a[1]", "b[1]"),
    }
    (whole,) = to_instances(job("i>L1>P1>a>Q1>b>E1>o")).constraints.colocate
    assert {*whole} == {"i", "a[0]", "a[1]", "b"}


@pytest.mark.parametrize(
    ("feeds", "pairs"),
    [
        (["a>b>I1>c>d"], ["bc"]),
        (["a>I1>b>c>I2>d"], ["ab", "cd"]),
        (["a>I1>b", "I1>c"], ["ab", "ac"]),  # nothing is guaranteed about b and c
        (["a>U1>I1>c", "b>U1"], ["ac", "bc"]),
        (["a>I1>L1>b>c>E1>I2>d"], ["ab", "cd"]),
    ],
)
def test_isolation_keeps_neighbours_apart(feeds: list[str], pairs: list[str]) -> None:
    """The operators that process a stream from `isolate()` are in other processes than its own."""
    found = job(*feeds)
    assert sorted("".join(sorted(pair)) for pair in found.graph.constraints.exlocate) == pairs
    apart = [{*pair} for pair in found.graph.constraints.exlocate]
    assert not any(pair <= {*unit} for pair in apart for unit in together(found))


def test_channels_on_both_sides_of_an_isolation_are_apart() -> None:
    found = to_instances(job("i>P1>a>I1>b>Q1>o"))
    assert {*found.constraints.exlocate} == {(f"a[{i}]", f"b[{j}]") for i in (0, 1) for j in (0, 1)}


def hashed(*fed_by: str) -> LogicalGraph:
    """Return two regions with an operator between them that computes hashes."""
    operators = [
        streamsx_operator("s", [], "s"),
        streamsx_operator("P", ["s"], "p", kind="$Parallel$", width=3),
        streamsx_operator("a", ["p"], "a"),
        streamsx_operator("E", ["a"], "e", kind="$EndParallel$"),
        {**streamsx_operator("h", list(fed_by), "h"), "hashAdder": True},
        streamsx_operator("Q", ["h"], "q", kind="$Parallel$", width=2, routing="HASH_PARTITIONED"),
        streamsx_operator("b", ["q"], "b"),
        streamsx_operator("o", ["e"], "o"),
    ]
    return read_document("ibm-streamsx", json.dumps({"operators": operators}))


def test_hashes_are_computed_in_the_channels_before_the_end_of_a_region() -> None:
    """The generator moves such an operator to the front of the end, if only that feeds it."""
    found = hashed("e")
    assert found.parallelism == {"a": 3, "h": 3, "b": 2}
    assert receivers_of(found, "a") == {i: [i, 0] for i in range(3)}  # and o
    assert receivers_of(found, "h") == {i: [0, 1] for i in range(3)}
    assert hashed("e", "s").parallelism == {"a": 3, "b": 2}


def test_resource_tags_are_labels() -> None:
    operators = [
        {
            **streamsx_operator("s", [], "s"),
            "config": {"placement": {"resourceTags": ["fast", "ingest", "fast"]}},
        },
        streamsx_operator("t", ["s"], "t"),
    ]
    found = read_document("ibm-streamsx", json.dumps({"operators": operators}))
    assert [each.requires for each in found.graph.operators] == [("fast", "ingest"), ()]
    (note,) = found.notes
    assert note.startswith("'s': resource tags of Streams are read as labels")
