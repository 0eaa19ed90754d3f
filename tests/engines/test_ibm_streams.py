"""IBM Streams: the compiler's XML, and the JSON of streamsx."""

import copy
import json

import pytest

from streamplace.engines.job import Distribution
from tests.engines.documents import ADL, STREAMSX
from tests.engines.reading import edges, read, refused
from tests.shared import ENGINES, needs_engines


def test_composites_are_flattened() -> None:
    job = read("ibm-adl", ADL)
    assert job.graph.name == "my::Main"
    assert set(job.graph.names) == {"Source", "Outer.Inner.A", "Outer.Inner.B", "Join", "Sink"}
    assert edges(job) == [
        ("Outer.Inner.A", "Join"),
        ("Outer.Inner.A", "Sink"),
        ("Outer.Inner.B", "Join"),
        ("Outer.Inner.B", "Sink"),
        ("Source", "Join"),
        ("Source", "Outer.Inner.A"),
        ("Source", "Outer.Inner.B"),
    ]
    assert len(job.graph.unknown) == 3


def test_composites_that_feed_one_another_in_a_ring_end() -> None:
    ring = ADL.replace('operIndex="8" portKind="output"', 'operIndex="8" portKind="input"')
    assert refused("ibm-adl", ring) == "streams[0]: 'Outer.Inner.A' feeds itself"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('<primitiveOperInstance definitionIndex="0" index="3"', "<x", "not XML: mismatched tag"),
        ("<applicationSet", "<!DOCTYPE x [<!ENTITY e 'e'>]><applicationSet", "has a DTD"),
        ("splApplication", "application", "must hold one <splApplication>, not 0"),
        ('operIndex="3"', 'operIndex="33"', "no operator has the index '33'"),
        ('operIndex="3"', 'operIndex=""', "<connection>: attribute 'operIndex' is missing"),
        ('index="3" name', 'index="4" name', "two operators have the index '4'"),
        (
            'operIndex="8" portKind="input"',
            'operIndex="8" portKind="x"',
            "operator '8' has no x port",
        ),
        ('operIndex="4" portKind="input"', 'operIndex="4" portKind="output"', "operator '4': is"),
        ('name="Join"', 'name="Sink"', "operators["),
    ],
)
def test_adl_that_is_none(old: str, new: str, said: str) -> None:
    assert old in ADL
    assert refused("ibm-adl", ADL.replace(old, new)).startswith(said)


def test_streamsx() -> None:
    """Markers run nowhere; what goes through them is joined. Tags of one operator are dropped."""
    job = read("ibm-streamsx", json.dumps(STREAMSX))
    assert job.graph.name == "words"
    assert job.graph.names == ("S", "T", "M", "K")
    assert edges(job) == [("M", "K"), ("S", "K"), ("S", "M"), ("T", "K")]
    assert job.graph.constraints.colocate == (("T", "M", "K"),)


def test_streams_that_only_one_end_tells() -> None:
    half = copy.deepcopy(STREAMSX)
    half["operators"][0]["outputs"][0]["connections"] = []
    assert edges(read("ibm-streamsx", json.dumps(half))) == [
        ("M", "K"),
        ("S", "K"),
        ("S", "M"),
        ("T", "K"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('["i0", "i1"]', '["i9"]', "no port is called 'i9'"),
        ('"connections": ["M"]', '"connections": ["N"]', "no port is called 'N'"),
        ('"name": "i2"', '"name": "i0"', "two input ports are called 'i0'"),
        ('"connections": ["U"]', '"connections": [7]', "operators[4].inputs[0].connections[0]: "),
        ('"name": "T", "kind"', '"name": "S", "kind"', "operators[1].name: 'S' is operators[0]'s"),
        ('"operators"', '"others"', "operators: is missing"),
        ('["i3"]', '["i0"]', "streams[3]: 'M' feeds itself"),
    ],
)
def test_streamsx_that_is_none(old: str, new: str, said: str) -> None:
    text = json.dumps(STREAMSX)
    assert old in text
    assert refused("ibm-streamsx", text.replace(old, new)).startswith(said)


def test_parallel_regions_are_instances() -> None:
    """A region of three, in it one of two whose tuples are copied, and a source of four."""
    text = json.dumps(
        {
            "operators": [
                streamsx("S", [], "s"),
                streamsx("P", ["s"], "p", kind="$Parallel$", width=3, routing="ROUND_ROBIN"),
                streamsx("A", ["p"], "a"),
                streamsx("Q", ["a"], "q", kind="$Parallel$", width=2, routing="BROADCAST"),
                streamsx("B", ["q"], "b"),
                streamsx("E", ["b"], "e", kind="$EndParallel$"),
                streamsx("C", ["e"], "c"),
                streamsx("F", ["c"], "f", kind="$EndParallel$"),
                streamsx("K", ["f", "g"], "k"),
                {**streamsx("W", [], "w"), "config": {"width": 4}},
                streamsx("G", ["w"], "g", kind="$EndParallel$"),
                streamsx("X", ["k"], "x", kind="$Parallel$", width={"type": "submissionParameter"}),
                streamsx("Y", ["x"], "y"),
            ]
        }
    )
    job = read("ibm-streamsx", text)
    assert edges(job) == [("A", "B"), ("B", "C"), ("C", "K"), ("K", "Y"), ("S", "A"), ("W", "K")]
    assert job.parallelism == {"A": 3, "B": 6, "C": 3, "W": 4}
    pointwise, copied = [Distribution.POINTWISE], [Distribution.BROADCAST]
    assert job.distributions == {
        **dict.fromkeys([("S", "A"), ("B", "C"), ("C", "K"), ("W", "K")], pointwise),
        ("A", "B"): copied,
    }
    assert refused("ibm-streamsx", text.replace('"width": 3', '"width": 99999')) == (
        "more than 100,000 channels"
    )
    assert refused("ibm-streamsx", text.replace('"width": 3', '"width": 0')).startswith(
        "operators[1].outputs[0].width."
    )


def streamsx(
    name: str, fed_by: list[str], port: str, kind: str = "a::B", **told: object
) -> dict[str, object]:
    return {
        "name": name,
        "kind": kind,
        "inputs": [{"name": f"to {name}", "connections": fed_by}] if fed_by else [],
        "outputs": [{"name": port, **told}],
    }


@needs_engines
def test_a_real_graph_of_streamsx() -> None:
    job = read("ibm-streamsx", (ENGINES / "streamsx21_wordcount_graph.json").read_text())
    assert job.graph.names == ("Lines", "Split", "Count", "Sink")
    assert edges(job) == [("Count", "Sink"), ("Lines", "Split"), ("Split", "Count")]
    assert job.graph.constraints.colocate == (("Split", "Count"),)
    assert not job.parallelism
