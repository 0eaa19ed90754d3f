"""What `place --start` takes from the initial placement's file."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Capture, json_of, printed, refused, succeeds
from tests.support.input_files import chain

GRAPH = chain("abc", 1e6, source_rate=900)


@pytest.fixture
def files(tmp_path: Path, capsys: Capture) -> Path:
    """Return a folder with a placement on three devices, a pinned to d1, b allowed on d0 and d2."""
    rules = {"pins": {"a": "d1"}, "allowed": {"b": ["d0", "d2"]}}
    for name, value in (("graph", GRAPH), ("rules", rules), ("none", {})):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    succeeds(
        capsys,
        *("place", tmp_path / "graph.json", "--devices", "3x1000"),
        *("--constraints", tmp_path / "rules.json", "--source-rate", "800"),
        *("--target-utilisation", "0.9", "--model", "path-average", "-o", tmp_path / "old.json"),
    )
    return tmp_path


def replaced(capsys: Capture, folder: Path, *options: object) -> tuple[dict[str, Any], str]:
    """Return the JSON output and stderr of re-placing."""
    words = ("place", folder / "graph.json", "--start", folder / "old.json", "--json", *options)
    out, err = printed(capsys, *words)
    return json.loads(out), err


def test_everything_is_inherited_and_printed(files: Path, capsys: Capture) -> None:
    found, stderr = replaced(capsys, files)
    assert len(found["devices"]) == 3
    assert found["assignment"]["a"] == "d1"
    assert found["model"] == "path-average"
    assert "cluster of 3 devices; constraints (1 pin, 1 allowed list); source rate 800" in stderr
    assert "model path-average; target utilisation 0.9" in stderr


def test_options_replace_what_would_be_inherited(files: Path, capsys: Capture) -> None:
    found, stderr = replaced(
        capsys,
        files,
        *("--devices", "2x1000", "--constraints", files / "none.json", "--source-rate", "700"),
        *("--model", "bottleneck", "--target-utilisation", "1"),
    )
    assert found["model"] == "bottleneck"
    assert "from " not in stderr


def test_lost_devices_leave_lists_but_not_pins(files: Path, capsys: Capture) -> None:
    two = {"format": "streamplace-cluster", "version": 1}
    kept = [{"name": name, "mips": 1000} for name in ("d0", "d1")]
    (files / "two.json").write_text(json.dumps(two | {"devices": kept}))
    found, _ = replaced(capsys, files, "--cluster", files / "two.json")
    assert found["assignment"]["b"] == "d0"
    (files / "two.json").write_text(json.dumps(two | {"devices": kept[:1]}))
    line = refused(
        capsys,
        *("place", files / "graph.json", "--start", files / "old.json"),
        *("--cluster", files / "two.json"),
    )
    assert "old.json: constraints.pins['a']: unknown device 'd1'" in line


def test_the_throughput_before_a_loss_is_printed(tmp_path: Path, capsys: Capture) -> None:
    graph, old = tmp_path / "graph.json", tmp_path / "old.json"
    graph.write_text(json.dumps(GRAPH))
    place = ("place", graph, "--placer", "exact")
    succeeds(capsys, *place, "--devices", "3x1000", "-o", old)
    lost = ("place", graph, "--start", old, "--devices", "2x1000", "--max-moves", "0")
    line = succeeds(capsys, *lost).splitlines()[-1]
    assert line.startswith("1 forced move, 0 further moves; throughput 900 tuples/s before, 500 ")
    assert line.endswith("500 tuples/s with the forced moves only, 500 tuples/s with all moves")
    assert json_of(capsys, *lost)["throughput_before"] == 900


def test_a_changed_graph_has_its_own_constraints_and_rate(tmp_path: Path, capsys: Capture) -> None:
    """The placement took both from its graph, and not from options."""
    graph, old = tmp_path / "graph.json", tmp_path / "old.json"
    graph.write_text(json.dumps(GRAPH))
    succeeds(capsys, "place", graph, "--devices", "3x9000", "-o", old)
    changed = {**GRAPH, "source_rate": 950, "constraints": {"exlocate": [["a", "b"]]}}
    graph.write_text(json.dumps(changed))
    found, stderr = replaced(capsys, tmp_path)
    assert found["assignment"]["a"] != found["assignment"]["b"]
    assert found["throughput"] == pytest.approx(950)
    taken, moves = stderr.strip().splitlines()
    assert taken.endswith("cluster of 3 devices")
    assert moves.startswith("1 of 3 operators move")


def test_what_is_left_out_is_printed(files: Path, capsys: Capture) -> None:
    """Operator b and device d2 are gone, and d2 was one of two devices allowed for c."""
    rules = {"exlocate": [["a", "b"]], "allowed": {"c": ["d1", "d2"]}}
    (files / "rules.json").write_text(json.dumps(rules))
    options = ("--devices", "3x1000", "--constraints", files / "rules.json")
    succeeds(capsys, "place", files / "graph.json", *options, "-o", files / "old.json")
    smaller = {**GRAPH, "operators": GRAPH["operators"][::2]}
    streams = [{"source": "a", "target": "c"}]
    (files / "graph.json").write_text(json.dumps({**smaller, "streams": streams}))
    found, stderr = replaced(capsys, files, "--devices", "2x1000")
    assert found["assignment"]["c"] == "d1"
    left_out = "operator 'b', no longer in the graph and device 'd2', no longer in the cluster"
    assert f"constraints (1 allowed list), without {left_out}" in stderr


def test_constraints_on_operators_hold_for_new_instances(files: Path, capsys: Capture) -> None:
    """Operator b had two instances when it was placed, and has four now."""
    rules = {"pins": {"b": "d1"}, "exlocate": [["c", "b"]], "colocate": [["a", "b"]]}
    (files / "rules.json").write_text(json.dumps(rules))
    for count in (2, 4):
        operators = [{**row, "parallelism": count} for row in GRAPH["operators"][:2]]
        graph = {**GRAPH, "operators": [*operators, GRAPH["operators"][2]]}
        (files / "graph.json").write_text(json.dumps(graph))
        if count == 2:
            options = ("--devices", "3x1000", "--constraints", files / "rules.json")
            succeeds(capsys, "place", files / "graph.json", *options, "-o", files / "old.json")
            stored = json.loads((files / "old.json").read_text())
            assert stored["problem"]["constraints"] == rules
    found, stderr = replaced(capsys, files)
    assert "constraints (1 pin, 1 colocated group, 1 exlocated group)" in stderr
    on = found["assignment"]
    assert {on[f"{name}[{i}]"] for name in "ab" for i in range(4)} == {"d1"}
    assert on["c"] != "d1"


def test_a_pin_to_a_lost_device_is_refused(files: Path, capsys: Capture) -> None:
    options = ("--start", files / "old.json", "--devices", "1x1000")
    line = refused(capsys, "place", files / "graph.json", *options)
    assert "unknown device 'd1'" in line
    assert "old.json" in line
    assert line.endswith("--constraints FILE replaces the placement's constraints")
