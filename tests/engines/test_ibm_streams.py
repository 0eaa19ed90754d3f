"""IBM Streams: the compiler's XML, and the JSON of streamsx."""

import copy
import json

import pytest

from benchmarks.hardening.engine_documents.ibm_streams import ADL, ADL_PARALLEL, STREAMSX
from streamplace.integrations.costs import CostForm, Costs
from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import Distribution, GroupedDistribution, LogicalGraph
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
    """A region of three, in it one of two whose tuples are copied, and a source of four.

    Each channel of the region of three has its own two of the inner one.
    """
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
    assert job.distributions == {
        ("A", "B"): [GroupedDistribution(groups=3, copies=2)],
        ("B", "C"): [Distribution.POINTWISE],
    }
    assert fed(job, "A") == {0: [0, 1], 1: [2, 3], 2: [4, 5]}
    assert fed(job, "B") == {0: [0], 1: [0], 2: [1], 3: [1], 4: [2], 5: [2]}
    assert selectivities(job, "A") == {1.0}
    assert refused("ibm-streamsx", text.replace('"width": 3', '"width": 99999')) == (
        "more than 100,000 channels"
    )
    assert refused("ibm-streamsx", text.replace('"width": 3', '"width": 0')).startswith(
        "operators[1].outputs[0].width."
    )


def fed(job: LogicalGraph, operator: str) -> dict[int, list[int]]:
    """Return instance of an operator -> the instances that it feeds, by their numbers."""
    found: dict[int, list[int]] = {}
    for stream in to_instances(job).streams:
        name, number = numbered(stream.source)
        if name == operator:
            found.setdefault(number, []).append(numbered(stream.target)[1])
    return found


def numbered(instance: str) -> tuple[str, int]:
    name, _, rest = instance.partition("[")
    return name, int(rest.rstrip("]") or 0)


def selectivities(job: LogicalGraph, operator: str) -> set[float]:
    """Return what share of its tuples an instance sends to each that it feeds."""
    told = Costs(default=CostForm(instructions=1, payload_bytes=1, selectivity=1)).of(job)
    streams = to_instances(told).streams
    return {s.selectivity for s in streams if numbered(s.source)[0] == operator}


@pytest.mark.parametrize(
    ("routing", "share"), [("HASH_PARTITIONED", 0.25), ("ROUND_ROBIN", 0.25), ("BROADCAST", 1.0)]
)
def test_a_region_that_begins_where_another_ends(routing: str, share: float) -> None:
    """Every channel of the first has its own splitter, into all channels of the second."""
    job = read(
        "ibm-streamsx",
        json.dumps(
            {
                "operators": [
                    streamsx("S", [], "s"),
                    streamsx("P", ["s"], "p", kind="$Parallel$", width=4, routing="ROUND_ROBIN"),
                    streamsx("A", ["p"], "a"),
                    streamsx("E", ["a"], "e", kind="$EndParallel$"),
                    streamsx("Q", ["e"], "q", kind="$Parallel$", width=4, routing=routing),
                    streamsx("B", ["q"], "b"),
                ]
            }
        ),
    )
    assert job.parallelism == {"A": 4, "B": 4}
    assert fed(job, "A") == {i: [0, 1, 2, 3] for i in range(4)}
    assert selectivities(job, "A") == {share}


def test_one_region_of_two_beginnings() -> None:
    """Streams that join inside a region are in one region, however each came in."""
    job = read(
        "ibm-streamsx",
        json.dumps(
            {
                "operators": [
                    {**streamsx("V", [], "v"), "config": {"width": 3}},
                    streamsx("S", [], "s"),
                    streamsx("P", ["s"], "p", kind="$Parallel$", width=3, routing="ROUND_ROBIN"),
                    streamsx("A", ["p"], "a"),
                    streamsx("J", ["a", "v"], "j"),
                ]
            }
        ),
    )
    assert job.parallelism == {"V": 3, "A": 3, "J": 3}
    for sender in "AV":
        assert fed(job, sender) == {0: [0], 1: [1], 2: [2]}


@pytest.mark.parametrize(
    ("last", "together"),
    [("B", {("A[0]", "B[0]"), ("A[1]", "B[1]")}), ("K", {("A[0]", "A[1]", "B[0]", "B[1]", "K")})],
)
def test_colocation_inside_a_region_is_by_channel(
    last: str, together: set[tuple[str, ...]]
) -> None:
    """IBM's generator makes a tag of each channel, unless operators outside carry it too."""
    operators = [
        streamsx("S", [], "s"),
        streamsx("P", ["s"], "p", kind="$Parallel$", width=2, routing="ROUND_ROBIN"),
        streamsx("A", ["p"], "a"),
        streamsx("B", ["a"], "b"),
        streamsx("E", ["b"], "e", kind="$EndParallel$"),
        streamsx("K", ["e"], "k"),
    ]
    for operator in operators:
        if operator["name"] in {"A", "B", last}:
            operator["config"] = {"placement": {"colocateTags": ["t"]}}
    job = read("ibm-streamsx", json.dumps({"operators": operators}))
    assert {*to_instances(job).constraints.colocate} == together
    (folded,) = job.graph.constraints.colocate
    assert {*folded} == {"A", "B", last}


def test_parallel_regions_of_adl() -> None:
    """Composites and operators are regions; a width that is told at submission is one channel."""
    job = read("ibm-adl", ADL_PARALLEL)
    assert job.parallelism == {"P.A": 3, "P.B": 6, "Keyed": 2}
    assert fed(job, "Source") == {0: [0, 1, 2]}
    assert fed(job, "P.A") == {0: [0, 1], 1: [2, 3], 2: [4, 5]}
    assert selectivities(job, "P.A") == {1.0}
    to_keyed = [s for s in to_instances(job).streams if s.target.startswith("Keyed")]
    assert len(to_keyed) == 6 * 2
    assert selectivities(job, "P.B") == {0.5, 1.0}  # each of two keyed ones, and the one sink
    assert selectivities(job, "Keyed") == {1.0}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Hash", "Sorted", "parallelRegion 'Keyed': no splitter is called 'Sorted'"),
        (
            "<constantWidth>3",
            "<constantWidth>many",
            "parallelRegion 'P': constantWidth: must be an integer from 1 to 100,000 (got 'many')",
        ),
        ("<constantWidth>3", "<constantWidth>0", "parallelRegion 'P': constantWidth: must be an"),
        ("<constantWidth>3", "<constantWidth>99999", "more than 100,000 channels"),
        ('operIndex="2">', 'operIndex="7">', "parallelRegion: no operator has the index '7'"),
        ('operIndex="2">', 'operIndex="3">', "parallelRegion 'Keyed': operator '3' has another"),
    ],
)
def test_parallel_regions_of_adl_that_are_none(old: str, new: str, said: str) -> None:
    assert old in ADL_PARALLEL
    assert refused("ibm-adl", ADL_PARALLEL.replace(old, new)).startswith(said)


@pytest.mark.parametrize("what", ["partitions", "resources"])
def test_colocations_of_adl(what: str) -> None:
    """Of operators outside regions; one that nobody shares is dropped."""
    text = ADL_PARALLEL
    for index, group in ((0, "x"), (3, "x"), (4, "x"), (4, "alone"), (1, "x")):
        begin = f'index="{index}" name="'
        at = text.index(">", text.index(f'definitionIndex="0" {begin}')) + 1
        text = f'{text[:at]}<{what}><coLocation colocId="{group}"/></{what}>{text[at:]}'
    assert read("ibm-adl", text).graph.constraints.colocate == (("Source", "Sink"),)


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
