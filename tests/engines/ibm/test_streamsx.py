"""The JSON graphs of streamsx."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import Distribution, GroupedDistribution
from tests.corpus.engine_documents.ibm_streams import STREAMSX
from tests.support.documents import edges, read_document, refused_document
from tests.support.instance_streams import receivers_of, selectivities_of
from tests.support.released_data import ENGINES, needs_engines
from tests.support.streamsx import streamsx_operator


def test_a_streamsx_graph_is_read() -> None:
    """Markers are removed and their streams joined; tags of a single operator are dropped."""
    job = read_document("ibm-streamsx", json.dumps(STREAMSX))
    assert job.graph.name == "words"
    assert job.graph.names == ("S", "T", "M", "K")
    assert edges(job) == [("M", "K"), ("S", "K"), ("S", "M"), ("T", "K")]
    assert job.graph.constraints.colocate == (("T", "M", "K"),)


def test_connections_listed_at_one_end_only() -> None:
    half = copy.deepcopy(STREAMSX)
    half["operators"][0]["outputs"][0]["connections"] = []
    assert edges(read_document("ibm-streamsx", json.dumps(half))) == [
        ("M", "K"),
        ("S", "K"),
        ("S", "M"),
        ("T", "K"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["i0", "i1"]', '["i9"]', "unknown port 'i9'"),
        ('"connections": ["M"]', '"connections": ["N"]', "unknown port 'N'"),
        ('"name": "i2"', '"name": "i0"', "two input ports have the name 'i0'"),
        ('"connections": ["U"]', '"connections": [7]', "operators[4].inputs[0].connections[0]: "),
        (
            '"name": "T", "kind"',
            '"name": "S", "kind"',
            "operators[1].name: duplicate name 'S', see operators[0]; rename one",
        ),
        ('"operators"', '"others"', "missing field 'operators'"),
        ('["i3"]', '["i0"]', "streams[3]: 'M' feeds itself"),
    ],
)
def test_invalid_streamsx(old: str, new: str, message: str) -> None:
    text = json.dumps(STREAMSX)
    assert old in text
    assert refused_document("ibm-streamsx", text.replace(old, new)).startswith(message)


def test_parallel_regions_are_instances() -> None:
    """A region of three channels contains one of two, into which tuples are copied.

    Each outer channel has its own two inner channels. A source has four channels.
    """
    text = json.dumps(
        {
            "operators": [
                streamsx_operator("S", [], "s"),
                streamsx_operator(
                    "P", ["s"], "p", kind="$Parallel$", width=3, routing="ROUND_ROBIN"
                ),
                streamsx_operator("A", ["p"], "a"),
                streamsx_operator("Q", ["a"], "q", kind="$Parallel$", width=2, routing="BROADCAST"),
                streamsx_operator("B", ["q"], "b"),
                streamsx_operator("E", ["b"], "e", kind="$EndParallel$"),
                streamsx_operator("C", ["e"], "c"),
                streamsx_operator("F", ["c"], "f", kind="$EndParallel$"),
                streamsx_operator("K", ["f", "g"], "k"),
                {**streamsx_operator("W", [], "w"), "config": {"width": 4}},
                streamsx_operator("G", ["w"], "g", kind="$EndParallel$"),
                streamsx_operator(
                    "X", ["k"], "x", kind="$Parallel$", width={"type": "submissionParameter"}
                ),
                streamsx_operator("Y", ["x"], "y"),
            ]
        }
    )
    job = read_document("ibm-streamsx", text)
    assert edges(job) == [("A", "B"), ("B", "C"), ("C", "K"), ("K", "Y"), ("S", "A"), ("W", "K")]
    assert job.parallelism == {"A": 3, "B": 6, "C": 3, "W": 4}
    (note,) = job.notes
    assert note.startswith("the width of parallel regions that begin at 'X' is set at submission")
    assert job.distributions == {
        ("A", "B"): [GroupedDistribution(groups=3, copies=2)],
        ("B", "C"): [Distribution.POINTWISE],
    }
    assert receivers_of(job, "A") == {0: [0, 1], 1: [2, 3], 2: [4, 5]}
    assert receivers_of(job, "B") == {0: [0], 1: [0], 2: [1], 3: [1], 4: [2], 5: [2]}
    assert selectivities_of(job, "A") == {1.0}
    assert refused_document("ibm-streamsx", text.replace('"width": 3', '"width": 99999')) == (
        "more than 100,000 channels"
    )
    assert refused_document("ibm-streamsx", text.replace('"width": 3', '"width": 0')).startswith(
        "operators[1].outputs[0].width: must be at least 1 (got 0)"
    )


def test_a_width_that_is_a_submission_parameter_is_its_default() -> None:
    """``create_submission_parameter(name, default)`` writes the default."""

    def parameter(**default: int) -> dict[str, Any]:
        return {"type": "submissionParameter", "value": {"name": "w", **default}}

    source = {**streamsx_operator("S", [], "s"), "config": {"width": parameter(defaultValue=3)}}
    begin = streamsx_operator("P", ["e"], "p", kind="$Parallel$", width=parameter())
    document = {
        "operators": [
            source,
            streamsx_operator("E", ["s"], "e", kind="$EndParallel$"),
            begin,
            streamsx_operator("A", ["p"], "a"),
        ]
    }
    job = read_document("ibm-streamsx", json.dumps(document))
    assert job.parallelism == {"S": 3}
    text = "the width of parallel regions that begin at {} is set at submission, and {} assumed"
    ends = [text.format("'S'", "its default is"), text.format("'P'", "one channel is")]
    assert [note.partition(";")[0] for note in job.notes] == ends


@pytest.mark.parametrize(
    ("routing", "share"), [("HASH_PARTITIONED", 0.25), ("ROUND_ROBIN", 0.25), ("BROADCAST", 1.0)]
)
def test_region_that_begins_where_another_ends(routing: str, share: float) -> None:
    """Every channel of the first region feeds all channels of the second."""
    job = read_document(
        "ibm-streamsx",
        json.dumps(
            {
                "operators": [
                    streamsx_operator("S", [], "s"),
                    streamsx_operator(
                        "P", ["s"], "p", kind="$Parallel$", width=4, routing="ROUND_ROBIN"
                    ),
                    streamsx_operator("A", ["p"], "a"),
                    streamsx_operator("E", ["a"], "e", kind="$EndParallel$"),
                    streamsx_operator("Q", ["e"], "q", kind="$Parallel$", width=4, routing=routing),
                    streamsx_operator("B", ["q"], "b"),
                ]
            }
        ),
    )
    assert job.parallelism == {"A": 4, "B": 4}
    assert receivers_of(job, "A") == {i: [0, 1, 2, 3] for i in range(4)}
    assert selectivities_of(job, "A") == {share}


def test_one_region_with_two_starts() -> None:
    """Streams that meet inside a region belong to one region, wherever they entered it."""
    job = read_document(
        "ibm-streamsx",
        json.dumps(
            {
                "operators": [
                    {**streamsx_operator("V", [], "v"), "config": {"width": 3}},
                    streamsx_operator("S", [], "s"),
                    streamsx_operator(
                        "P", ["s"], "p", kind="$Parallel$", width=3, routing="ROUND_ROBIN"
                    ),
                    streamsx_operator("A", ["p"], "a"),
                    streamsx_operator("J", ["a", "v"], "j"),
                ]
            }
        ),
    )
    assert job.parallelism == {"V": 3, "A": 3, "J": 3}
    for sender in "AV":
        assert receivers_of(job, sender) == {0: [0], 1: [1], 2: [2]}


@pytest.mark.parametrize(
    ("last", "together"),
    [("B", {("A[0]", "B[0]"), ("A[1]", "B[1]")}), ("K", {("A[0]", "A[1]", "B[0]", "B[1]", "K")})],
)
def test_colocation_inside_a_region_is_by_channel(
    last: str, together: set[tuple[str, ...]]
) -> None:
    """A tag applies to each channel separately, unless an operator outside has it too."""
    operators = [
        streamsx_operator("S", [], "s"),
        streamsx_operator("P", ["s"], "p", kind="$Parallel$", width=2, routing="ROUND_ROBIN"),
        streamsx_operator("A", ["p"], "a"),
        streamsx_operator("B", ["a"], "b"),
        streamsx_operator("E", ["b"], "e", kind="$EndParallel$"),
        streamsx_operator("K", ["e"], "k"),
    ]
    for operator in operators:
        if operator["name"] in {"A", "B", last}:
            operator["config"] = {"placement": {"colocateTags": ["t"]}}
    job = read_document("ibm-streamsx", json.dumps({"operators": operators}))
    assert {*to_instances(job).constraints.colocate} == together
    (folded,) = job.graph.constraints.colocate
    assert {*folded} == {"A", "B", last}


@needs_engines
def test_real_graph_of_streamsx() -> None:
    job = read_document("ibm-streamsx", (ENGINES / "streamsx21_wordcount_graph.json").read_text())
    assert job.graph.names == ("Lines", "Split", "Count", "Sink")
    assert edges(job) == [("Count", "Sink"), ("Lines", "Split"), ("Split", "Count")]
    assert job.graph.constraints.colocate == (("Split", "Count"),)
    assert not job.parallelism


APPLICATIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "parallel": (
        lambda s: s.parallel(3).map(len, name="a").end_parallel(),
        "lines>a a>out; a=3",
    ),
    "width by name": (
        lambda s: (
            s.parallel(s.topology.create_submission_parameter("width", default=3))
            .map(len, name="a")
            .end_parallel()
        ),
        "lines>a a>out; a=3",
    ),
    "parallel source": (lambda s: s.set_parallel(4).end_parallel(), "lines>out; lines=4"),
    "isolated": (lambda s: s.isolate().map(len, name="a"), "lines>a a>out; lines|a"),
    "low latency": (
        lambda s: s.low_latency().map(len, name="a").map(str, name="b").end_low_latency(),
        "lines>a a>b b>out; lines+a+b",
    ),
    "union": (
        lambda s: s.map(len, name="a").union({s.map(str, name="b")}),
        "lines>a lines>b a>out b>out;",
    ),
}
"""Name -> what an application does with its source, and how it is read."""


@pytest.mark.parametrize("name", APPLICATIONS)
def test_applications_of_the_package(name: str) -> None:
    """Needs ``pip install --no-deps streamsx==2.1.0 dill``, but no installation of Streams."""
    topology = pytest.importorskip("streamsx.topology.topology").Topology("job")
    transform, expected = APPLICATIONS[name]
    transform(topology.source(["text"], name="lines")).for_each(print, name="out")
    job = read_document("ibm-streamsx", _json_of(topology))
    streams = sorted(f"{a}>{b}" for a, b in edges(job))
    limits = ["+".join(group) for group in job.graph.constraints.colocate]
    limits += ["|".join(pair) for pair in job.graph.constraints.exlocate]
    limits += [f"{each}={count}" for each, count in job.parallelism.items()]
    wanted, _, rest = expected.partition(";")
    assert (streams, limits) == (sorted(wanted.split()), rest.split())


def test_a_feedback_loop_of_the_package_is_refused() -> None:
    package = pytest.importorskip("streamsx.topology.topology")
    topology = package.Topology("job")
    pending = package.PendingStream(topology)
    joined = topology.source(["text"], name="lines").union({pending.stream}).map(len, name="a")
    pending.complete(joined.map(str, name="back"))
    text = _json_of(topology)
    assert (
        refused_document("ibm-streamsx", text) == "streams: the graph has a cycle: a -> back -> a"
    )


def _json_of(topology: Any) -> str:
    return json.dumps(topology.graph.generateSPLGraph(), default=str)
