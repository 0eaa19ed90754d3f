"""The reader of flowgraphs."""

import math

import pytest

from benchmarks.hardening.corpus.engine_documents.gnuradio import GRC, GRC_2
from streamplace.problem.logical import LogicalGraph
from tests.support.documents import edges, read_document, refused_document

EDGES = [
    ("filter", "power"),
    ("paced", "filter"),
    ("power", "sum"),
    ("power", "sum"),
    ("recorded", "paced"),
    ("sum", "measured"),
]


def selectivities(job: LogicalGraph) -> dict[tuple[str, str], float]:
    return {(each.source, each.target): each.selectivity for each in job.graph.streams}


@pytest.mark.parametrize("text", [GRC, GRC_2])
def test_virtual_and_bypassed_blocks_are_connections(text: str) -> None:
    job = read_document("gnuradio", text)
    assert job.graph.name == "Receiver"
    assert job.graph.names == ("recorded", "paced", "filter", "power", "sum", "measured")
    assert sorted(edges(job)) == EDGES


def test_rates_follow_from_parameters() -> None:
    job = read_document("gnuradio", GRC)
    assert selectivities(job) == {
        ("recorded", "paced"): 1.0,
        ("paced", "filter"): 1.0,
        ("filter", "power"): 0.25,
        ("power", "sum"): 1.0,
        ("sum", "measured"): 0.5,
    }


def test_of_a_filter_with_a_choice_one_parameter_counts() -> None:
    job = read_document("gnuradio", GRC.replace("fir_filter_ccf", "interp_fir_filter_ccf"))
    assert selectivities(job)["filter", "power"] == 5.0


def test_a_throttle_sets_the_source_rate() -> None:
    job = read_document("gnuradio", GRC)
    assert job.graph.source_rate == 32_000.0
    assert job.notes == [
        "'paced' keeps to a clock of 32,000 items/s",
        "message connections are left out (1), and so are blocks without others: "
        "'ticks', 'printed'",
    ]
    free = read_document("gnuradio", GRC.replace("blocks_throttle", "blocks_copy"))
    assert free.graph.source_rate is None


def test_the_slowest_clock_counts() -> None:
    """The sink takes 4,000 items/s, a fourth of 16,000 of the source."""
    text = GRC.replace("blocks_file_sink", "audio_sink").replace(
        "file: measured", "samp_rate: 4e3, x"
    )
    assert read_document("gnuradio", text).graph.source_rate == pytest.approx(16_000.0)


def test_sources_share_the_items_that_blocks_take_of_each() -> None:
    second = "- name: second\n  id: analog_sig_source_x\nconnections:"
    text = GRC.replace("connections:", second).replace(
        "[power, '0', sum, '1']", "[second, '0', sum, '1']"
    )
    job = read_document("gnuradio", text)
    shares = dict(zip(job.graph.names, job.graph.source_share.tolist(), strict=True))
    assert shares["recorded"] == pytest.approx(0.8)
    assert shares["second"] == pytest.approx(0.2)
    assert job.graph.source_rate == pytest.approx(40_000.0)


def test_contradictory_rates_are_noted() -> None:
    text = GRC.replace("[power, '0', sum, '1']", "[paced, '0', sum, '1']")
    assert (
        "items reach 'sum' at contradictory rates, so an input starves"
        in read_document("gnuradio", text).notes
    )


def test_types_without_a_rule_have_unknown_rates() -> None:
    job = read_document("gnuradio", GRC.replace("low_pass_filter", "my_module_filter"))
    assert math.isnan(selectivities(job)["filter", "power"])
    assert "no rule gives the rates of 1 type of blocks, 'my_module_filter'" in job.notes[1]


def test_a_disabled_block_may_have_the_name_of_another() -> None:
    text = GRC.replace("- [sum, '0', unused, '0']\n", "").replace("name: unused", "name: sum")
    assert sorted(edges(read_document("gnuradio", text))) == EDGES


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            GRC,
            "<?xml version='1.0'?>\n<flow_graph/>",
            "is not a flowgraph of GNU Radio 3.8 or later",
        ),
        ("no_gui", "hb", "is a hierarchical block, not a flowgraph that runs"),
        ("name: power", "name: filter", "blocks[8].name: duplicate name 'filter'"),
        ("[sum, '0', unused", "[sum, '0', nobody", "connections[8]: unknown block 'nobody'"),
        ("[sum, '0', unused, '0']", "[sum, unused]", "connections[8]: must be [block, port, block"),
        ("[recorded, '0'", "[sum, '0'", "streams: the graph has a cycle"),
        ("[louder, '0', to", "[from_throttle, '0', to", "feeds itself through virtual blocks"),
        (
            "  id: virtual_source\n  parameters: {stream_id: samples}",
            "  id: virtual_source\n  parameters: {stream_id: other}",
            "virtual source 'from_throttle': no virtual sink has its stream_id 'other'",
        ),
        (
            "- name: filter\n",
            "- {name: again, id: virtual_sink, parameters: {stream_id: samples}}\n- name: filter\n",
            "virtual sinks 'to_filter' and 'again' have the same stream_id 'samples'",
        ),
        ("[louder, '0', to_filter", "[louder, '0', unused", "nothing feeds 'to_filter'"),
        ("[paced, '0', louder", "[paced, '0', unused", "nothing feeds 'louder', which passes"),
        (
            "- [sum, '0', measured",
            "- [recorded, '0', louder, '0']\n- [sum, '0', measured",
            "several streams feed 'louder', which passes one on",
        ),
        ("name: printed", "name: ''", "blocks[13].name: must not be empty"),
        ("file_format: 1}", "file_format: *x}", "undefined alias"),
    ],
)
def test_faults(old: str, new: str, message: str) -> None:
    assert old in GRC
    assert message in refused_document("gnuradio", GRC.replace(old, new))


def test_a_flowgraph_of_messages_only_is_refused() -> None:
    lines = [line for line in GRC.splitlines() if not line.endswith(("'0']", "'1']"))]
    assert "no streams of items" in refused_document("gnuradio", "\n".join(lines))
