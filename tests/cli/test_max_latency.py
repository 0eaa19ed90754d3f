"""`place --max-latency`: its answers in text and JSON, and exit codes."""

import json
from pathlib import Path

import pytest

from tests.support.cli import Capture, json_of, printed, refused


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """Return a file of two operators that load a device by 0.4 each."""
    file = tmp_path / "graph.json"
    operators = [
        {"name": name, "instructions": 1e6, "payload_bytes": 100} for name in ("parse", "count")
    ]
    streams = [{"source": "parse", "target": "count"}]
    value = {"format": "streamplace-graph", "version": 1, "source_rate": 1000}
    file.write_text(json.dumps({**value, "operators": operators, "streams": streams}))
    return file


def test_a_feasible_limit(graph: Path, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "placement.json"
    words = ("place", graph, "--devices", "2x2500", "--max-latency", "p99=20ms", "-o", file)
    out, notes = printed(capsys, *words)
    assert "latency limit p99 of 0.02 s: feasible (simulated 0.00" in out
    assert "latency" not in notes
    stored = json.loads(file.read_text())["latency"]
    found = json_of(capsys, *words)["latency"]
    assert found == stored
    keys = {"limit", "quantile", "screened_s", "simulated_s", "answer", "margin"}
    assert keys <= found.keys()
    again = json_of(capsys, "place", graph, "--start", file, "--max-moves", 0)
    assert "latency" not in again  # it is known of the placement that was checked
    assert (found["limit"], found["quantile"], found["margin"]) == (0.02, "p99", 0.2)


def test_an_unproven_limit(graph: Path, capsys: Capture) -> None:
    words = ("place", graph, "--devices", "2x2500", "--max-latency", "p99=3ms")
    out, notes = printed(capsys, *words)
    assert "latency limit p99 of 0.003 s: unproven (simulated 0.00" in out
    assert "latency limit p99 of 0.003 s: unproven" in notes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-latency", "p99=1ms"), "without any wait, p99 is at least 0.001842 s"),
        (
            ("--max-latency", "p99=1"),
            "streamplace: --max-latency: must be QUANTITY=TIME with the time in ms or s, such as ",
        ),
        (("--max-latency", "p99=1min"), "p99=200ms, p50=0.1s or mean=50ms (got 'p99=1min')"),
        (("--max-latency", "p99.95=1s"), "--max-latency: percentiles are p1 to p99.9"),
        (("--max-latency", "p99=1s:margn=1"), "unknown option 'margn'; did you mean 'margin'?"),
        (("--max-latency", "p99=1s", "--objective", "makespan"), "a limit on latency supports"),
        (("--max-latency", "p99=1s", "--start", "x.json"), "cannot combine --max-latency with"),
        (("--max-latency", "p99=1s", "--confidence", 0.9), "cannot combine --max-latency with"),
    ],
)
def test_refusals(options: tuple[object, ...], message: str, graph: Path, capsys: Capture) -> None:
    assert message in refused(capsys, "place", graph, "--devices", "2x2500", *options)
