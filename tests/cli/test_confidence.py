"""`place --confidence`: its lines, notes, JSON and refusals; the notes of `profile`."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.hardening.corpus.engine_documents.storm import METRICS
from tests.support.cli import Capture, json_of, printed, refused, succeeds

VALUE: dict[str, Any] = {
    "format": "streamplace-graph",
    "version": 1,
    "source_rate": 1000,
    "operators": [
        {"name": "clicks", "instructions": 1e5, "payload_bytes": 200},
        {"name": "decode", "instructions": 1.5e6, "payload_bytes": 100, "instructions_se": 4e5},
        {"name": "store", "instructions": 8e5},
    ],
    "streams": [{"source": "clicks", "target": "decode"}, {"source": "decode", "target": "store"}],
}


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(VALUE))
    return file


def test_the_probability_and_the_number_to_measure_are_printed(
    graph: Path, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "placement.json"
    options = ("--devices", "2x2500", "--confidence", 0.9, "-o", file)
    out = succeeds(capsys, "place", graph, *options)
    assert "tuples/s with probability 0.9; the 1,000 offered with probability 0." in out
    assert "without --confidence)" in out
    assert (
        "measure the instructions of decode better: alone, they account for 100% of the "
        "uncertainty of the rate that is carried"
    ) in out
    assert "no placement found" not in out
    assert json.loads(file.read_text())["confidence"]["asked"] == 0.9
    assert succeeds(capsys, "place", graph, "--start", file, "--devices", "2x2500")


def test_json(graph: Path, capsys: Capture) -> None:
    found = json_of(capsys, "place", graph, "--devices", "2x2500", "--confidence", 0.95)
    better = found["confidence"]["measure_better"]
    assert (better["kind"], better["name"]) == ("instructions", "decode")
    assert "confidence" not in json_of(capsys, "place", graph, "--devices", "2x2500")


def test_exact_costs_are_noted(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "exact.json"
    value = json.loads(json.dumps(VALUE))
    del value["operators"][1]["instructions_se"]
    file.write_text(json.dumps(value))
    out, notes = printed(capsys, "place", file, "--devices", "2x2500", "--confidence", 0.9)
    assert "--confidence has no effect: no cost of the graph has a standard error" in notes
    assert "probability" not in out


def test_standard_errors_of_zeros_are_noted(tmp_path: Path, capsys: Capture) -> None:
    value = json.loads(json.dumps(VALUE))
    value["operators"][2] |= {"instructions": 0, "instructions_se": 4000}
    file = tmp_path / "graph.json"
    ignored = "standard errors of numbers that are 0 have no effect: 'instructions of store'"
    file.write_text(json.dumps(value))
    notes = printed(capsys, "place", file, "--devices", "2x2500", "--confidence", 0.9)[1]
    assert ignored in notes
    assert "--confidence has no effect" not in notes
    del value["operators"][1]["instructions_se"]
    file.write_text(json.dumps(value))
    notes = printed(capsys, "place", file, "--devices", "2x2500", "--confidence", 0.9)[1]
    assert ignored in notes
    assert "no other cost of the graph has a standard error" in notes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--confidence", 1), "--confidence: must be above 0 and below 1 (got 1)"),
        (("--confidence", "nan"), "--confidence: must be above 0 and below 1 (got nan)"),
        (("--confidence", 0.9999999), "confidence: must be at most 0.999, since probabilities"),
        (("--confidence", 0.9, "--prefer", "fewest"), "cannot combine --confidence with --prefer"),
        (("--confidence", 0.9, "--start", "x.json"), "cannot combine --confidence with --start"),
        (
            ("--confidence", 0.9, "--model", "engine"),
            "confidence requires the model bottleneck or path-average (got 'engine')",
        ),
    ],
)
def test_refusals(options: tuple[object, ...], message: str, graph: Path, capsys: Capture) -> None:
    assert message in refused(capsys, "place", graph, *options)


def test_profile_notes_costs_without_a_standard_error(tmp_path: Path, capsys: Capture) -> None:
    """Storm's documents have means only."""
    file = tmp_path / "metrics.json"
    file.write_text(json.dumps(METRICS))
    words = ("profile", "storm", file, "--mips", 1000, "-o", tmp_path / "graph.json")
    notes = printed(capsys, *words)[1]
    assert "costs measured without a standard error, which needs at least 3 intervals" in notes
    assert "_se" not in (tmp_path / "graph.json").read_text()
