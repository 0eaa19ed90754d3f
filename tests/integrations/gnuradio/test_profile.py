"""Profiles of flowgraphs, from counters with known costs."""

import json

import numpy as np
import pytest

from benchmarks.hardening.corpus.engine_documents.gnuradio import counters
from streamplace.errors import FormatError
from streamplace.integrations.gnuradio.profile import fit

MIPS = 2000.0


def test_costs_of_items() -> None:
    """The filter takes 20 µs of CPU time per item, and the sum 10 µs per item at either input."""
    found = fit(counters(), "counters.jsonl", MIPS)
    graph = found.logical.graph
    assert graph.names == ("recorded", "filter", "sum")
    np.testing.assert_allclose(graph.instructions, [2e3, 4e4, 2e4])
    assert graph.payload_bytes.tolist() == [8.0, 4.0, 0.0]
    assert [(each.source, each.target) for each in graph.streams] == [
        ("recorded", "filter"),
        ("filter", "sum"),
        ("filter", "sum"),
    ]
    np.testing.assert_allclose(graph.selectivity, [1.0, 0.25, 0.25])
    assert graph.source_rate == pytest.approx(8000.0)
    assert found.intervals == 5
    assert found.seconds == 5.0


def test_streams_are_in_the_order_of_the_graph() -> None:
    lines = counters().splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows[1:]:
        row["items"][1] *= 3
    found = fit("".join(json.dumps(row) + "\n" for row in rows), "counters.jsonl", MIPS)
    known = [each.selectivity.value for each in found.streams]
    np.testing.assert_allclose(np.array(known, dtype=float), found.logical.graph.selectivity)
    assert sorted(np.round(found.logical.graph.selectivity, 6).tolist()) == [0.25, 0.75, 1.0]


def test_blocks_of_messages_are_noted() -> None:
    assert fit(counters(), "counters.jsonl", MIPS).logical.notes == [
        "message connections are left out (1), and so are blocks without others, which use "
        "0.01 cores: 'ticks'"
    ]


def test_a_line_that_is_being_written_is_left_out() -> None:
    whole = fit(counters(), "counters.jsonl", MIPS)
    cut = fit(counters() + '{"at_s": 6.0, "it', "counters.jsonl", MIPS)
    assert cut.intervals == whole.intervals


def test_unknown_counters_are_missing() -> None:
    text = counters().replace("[8000,", "[null,").replace('"sum": 0.04', '"other": 0.04')
    graph = fit(text, "counters.jsonl", MIPS).logical.graph
    np.testing.assert_allclose(graph.instructions, [2e3, 4e4, 2e4])


def test_nothing_is_measured_in_one_reading() -> None:
    found = fit(counters(0), "counters.jsonl", MIPS)
    assert found.intervals == 0
    assert found.source_rate.how == "missing"
    assert np.isnan(found.logical.graph.instructions).all()


def test_a_block_without_threads_has_no_costs() -> None:
    head, *rows = counters().splitlines(keepends=True)
    value = json.loads(head)
    value["threads"]["sum"] = []
    found = fit("".join([json.dumps(value) + "\n", *rows]), "counters.jsonl", MIPS)
    graph = found.logical.graph
    assert np.isnan(graph.instructions).tolist() == [name == "sum" for name in graph.names]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"target": "sum"', '"target": "recorded"', "so they form a cycle"),
        ('"threads"', '"thread"', "line 1: missing field 'threads'"),
        ('"target": "sum"', '"target": "nobody"', "streams[1]: unknown block 'nobody'"),
        ("[0, 0, 0]", "[0, 0]", "line 2: items: must have one number per stream"),
        ("[0, 0, 0]", "[0, 0, -1]", "line 2: items[2]: must be at least 0"),
        ('"cpu_s"', '"cpu"', "line 2: missing field 'cpu_s'"),
        ('{"at_s": 1.0', "{", "line 3: "),
        (
            "[16000, 4000",
            "[16000, 1999",
            "line 4: items[1]: must not be less than in the line before",
        ),
        (
            '"filter": 0.32',
            '"filter": 0.15',
            "line 4: cpu_s: 'filter' must not have less than in the line before",
        ),
        ('{"at_s": 1.0', '{"at_s": 0.0', "line 3: at_s: must be later than in the line before"),
    ],
)
def test_faults(old: str, new: str, message: str) -> None:
    assert old in counters()
    with pytest.raises(FormatError) as caught:
        fit(counters().replace(old, new), "counters.jsonl", MIPS)
    assert message in str(caught.value)
