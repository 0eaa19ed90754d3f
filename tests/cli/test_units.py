"""Units on the command line: numbers that have one, and notes on those that are probably wrong."""

import json
from pathlib import Path

import pytest

from tests.support.cli import Capture, json_of, printed, refused

ASSUMED = "no cluster: 5 devices of 2500 MIPS (5x2500) assumed; --cluster FILE sets others\n"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """Return a chain of two operators, whose file has units."""
    operators = [
        {"name": "a", "instructions": "50k", "payload_bytes": "1kB"},
        {"name": "b", "instructions": 100_000.0},
    ]
    document = {"operators": operators, "streams": [{"source": "a", "target": "b"}]}
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({**document, "source_rate": "10k"}))
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["place", "GRAPH", "--placer", "greedy"],
        ["compare", "GRAPH", "--placers", "greedy"],
        ["size", "GRAPH"],
    ],
    ids=lambda words: words[0],
)
def test_a_note_names_the_default_cluster(command: list[str], graph: Path, capsys: Capture) -> None:
    words = [graph if word == "GRAPH" else word for word in command]
    assert ASSUMED in printed(capsys, *words)[1]
    assert ASSUMED not in printed(capsys, *words, "--devices", "5x2500")[1]


def test_options_have_units(graph: Path, capsys: Capture) -> None:
    options = ["--placer", "auto", "--devices", "2x2500"]
    found = json_of(
        capsys, "place", graph, *options, "--source-rate", "20k", "--time-limit", "200ms"
    )
    assert found["throughput"] == 20_000.0
    assert "auto:seconds=0.2" in found["placer"]
    compared = ("compare", graph, "--placers", "auto", "--time-limit", "100ms,200ms")
    rows = json_of(capsys, *compared, "--devices", "2x2500")["rows"]
    assert [row["placer"] for row in rows] == ["auto:seconds=0.1", "auto:seconds=0.2"]
    error = refused(capsys, "place", graph, *options, "--time-limit", "200m")
    assert "expected a number, or one with a unit, such as 200ms or 5min" in error


def test_commands_name_a_suspect_unit(graph: Path, capsys: Capture) -> None:
    """Speeds of devices in instructions/s instead of millions of them."""
    placement = graph.with_name("placement.json")
    options = ["--devices", "2x2500000000", "--placer", "greedy", "-o", placement]
    named = "mips: the values are about 2.5e+09; are they in instructions/s, not million"
    assert named in printed(capsys, "place", graph, *options)[1]
    for words in (
        ["simulate", graph, placement],
        ["explain", placement],
        ["size", graph, *options[:2]],
        ["size", graph, *options[:2], "--at", "5k,10k"],
        ["plan", graph, *options[:2]],
    ):
        assert named in printed(capsys, *words)[1], words
    assert named not in printed(capsys, "place", graph, "--placer", "greedy")[1]
