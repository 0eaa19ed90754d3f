"""Limits of `place`, on probability, latency and time: output, notes, JSON and refusals."""

import json
from pathlib import Path
from typing import Any

import pytest

from streamplace.cli.main import main
from tests.corpus.engine_documents.storm import METRICS
from tests.support.cli import Capture, json_of, printed, refused, succeeds
from tests.support.input_files import chain

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


@pytest.fixture
def loaded(tmp_path: Path) -> Path:
    """Return a file of two operators that load a device by 0.4 each."""
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(chain(["parse", "count"], 1e6, payload_bytes=100)))
    return file


def test_a_feasible_limit(loaded: Path, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "placement.json"
    words = ("place", loaded, "--devices", "2x2500", "--max-latency", "p99=20ms", "-o", file)
    out, notes = printed(capsys, *words)
    assert "latency limit p99 of 20 ms: feasible (simulated " in out
    assert "latency" not in notes
    stored = json.loads(file.read_text())["latency"]
    found = json_of(capsys, *words)["latency"]
    assert found == stored
    keys = {"limit", "quantile", "screened_s", "simulated_s", "answer", "margin"}
    assert keys <= found.keys()
    again = json_of(capsys, "place", loaded, "--start", file, "--max-moves", 0)
    assert "latency" not in again  # it is known of the placement that was checked
    assert (found["limit"], found["quantile"], found["margin"]) == (0.02, "p99", 0.2)


def test_an_unproven_limit(loaded: Path, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "placement.json"
    words = ("place", loaded, "--devices", "2x2500", "--max-latency", "p99=3ms", "-o", file)
    assert main([*map(str, words)]) == 3
    out, notes = capsys.readouterr()
    assert "latency limit p99 of 3 ms: unproven (simulated " in out
    assert "latency limit p99 of 3 ms: unproven (exit code 3)" in notes
    assert json.loads(file.read_text())["latency"]["answer"] == "unproven"
    assert main([*map(str, words), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["latency"]["answer"] == "unproven"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-latency", "p99=1ms"), "without any wait, p99 is at least 1.842 ms; a placement"),
        (
            ("--max-latency", "p99=1"),
            "streamplace: --max-latency: must be QUANTITY=TIME with a time and its unit (ns, us, ",
        ),
        (("--max-latency", "p99=1m"), "p99=200ms, p50=0.1s or mean=50ms (got 'p99=1m')"),
        (("--max-latency", "p99.95=1s"), "--max-latency: percentiles are p1 to p99.9"),
        (("--max-latency", "p99=1s:margn=1"), "unknown option 'margn'; did you mean 'margin'?"),
        (("--max-latency", "p99=1s", "--objective", "makespan"), "a limit on latency supports"),
        (("--max-latency", "p99=1s", "--start", "x.json"), "cannot combine --max-latency with"),
        (("--max-latency", "p99=1s", "--confidence", 0.9), "cannot combine --max-latency with"),
    ],
)
def test_refused_limits_on_latency(
    options: tuple[object, ...], message: str, loaded: Path, capsys: Capture
) -> None:
    assert message in refused(capsys, "place", loaded, "--devices", "2x2500", *options)


def test_a_search_without_cpu_time_is_noted(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here any share of CPU time counts as little; only stated limits are of wall time."""
    file = tmp_path / "graph.jsonl"
    succeeds(capsys, "generate", "layered", "--operators", 80, "--count", 1, "-o", file)
    monkeypatch.setattr("streamplace.cli.place.BUSY", 1e9)
    monkeypatch.setattr("streamplace.cli.place.LEAST_NOTED_S", 0.0)
    words = ("place", file, "--devices", "7x500", "--source-rate", "1e5", "--placer")
    timed, by_count, unlimited, greedy = (
        printed(capsys, *words, placer)[1]
        for placer in ("auto:seconds=0.1", "auto:evaluations=100", "auto", "greedy")
    )
    assert "other programs left the search " in timed
    assert "; a longer --time-limit may find a better placement\n" in timed
    assert "other programs" not in by_count + unlimited + greedy
