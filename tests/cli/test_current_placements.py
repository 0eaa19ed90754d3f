"""Current placements as CSV, as bare assignments, and of a graph whose numbers have changed."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.support.cli import Capture, json_of, refused, run
from tests.support.input_files import chain

GRAPH = chain("xyz", 5e5)
DEVICES = ("--devices", "3x1000")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a graph and an assignment of its operators, as CSV and JSON."""
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH))
    (tmp_path / "mapping.csv").write_text("operator,device\nx,d0\ny,d0\nz,d1\n")
    assignment = {"assignment": {"x": "d0", "y": "d0", "z": "d1"}}
    (tmp_path / "assignment.json").write_text(json.dumps(assignment))
    return tmp_path


@pytest.mark.parametrize("name", ["mapping.csv", "assignment.json"])
def test_assignments_are_simulated(name: str, folder: Path, capsys: Capture) -> None:
    found = json_of(capsys, "simulate", folder / "graph.json", folder / name, *DEVICES)
    assert found["throughput"] == pytest.approx(1000)
    assert [device["operators"] for device in found["devices"]] == [2, 1, 0]


@pytest.mark.parametrize("name", ["mapping.csv", "assignment.json"])
def test_assignments_are_current_placements(name: str, folder: Path, capsys: Capture) -> None:
    start = ("--start", folder / name)
    found = json_of(capsys, "place", folder / "graph.json", *start, *DEVICES, "--max-moves", 2)
    assert found["moves"] == []
    assert found["throughput_before"] == pytest.approx(1000)
    lost = json_of(
        capsys, "place", folder / "graph.json", *start, "--devices", "1x1000", "--max-moves", 0
    )
    assert [move["operator"] for move in lost["moves"]] == ["z"]
    assert lost["throughput_before"] is None


@pytest.mark.long
def test_a_note_says_how_many_operators_move_if_nothing_limits_it(folder: Path) -> None:
    command = ("place", folder / "graph.json", "--start", folder / "mapping.csv", *DEVICES)
    exact = ("--placer", "exact", "--source-rate", 2500, "--json")
    done = run(*command, *exact)
    moved = len(json.loads(done.stdout)["moves"])
    assert moved > 0
    assert f"{moved} of 3 operators move; --max-moves or --move-cost limits that" in done.stderr
    assert "operators move" not in run(*command, "--source-rate", 2500, "--max-moves", 1).stderr


def test_a_note_says_if_moves_gain_nothing(folder: Path) -> None:
    """For the fewest devices, all operators go to one, although z alone limits throughput."""
    slow = [*GRAPH["operators"][:2], {"name": "z", "instructions": 4e6, "payload_bytes": 10}]
    (folder / "graph.json").write_text(json.dumps({**GRAPH, "operators": slow}))
    cluster = ("--devices", "2x1000x8", "--source-rate", 500)
    asked = ("--start", folder / "mapping.csv", "--prefer", "fewest")
    done = run("place", folder / "graph.json", *asked, *cluster)
    assert "--max-moves 0 gives the same throughput with 0" in done.stderr


def test_a_note_names_operators_that_the_graph_lacks(folder: Path) -> None:
    """`size` places instances; the graph that it read knows only their operator."""
    (folder / "mapping.csv").write_text("operator,device\nx,d0\ny,d0\nz[0],d1\nz[1],d2\n")
    words = ("place", folder / "graph.json", "--start", folder / "mapping.csv", *DEVICES)
    line, *_ = run(*words).stderr.splitlines()
    assert line.startswith("2 operators of ")
    assert line.endswith("graph.json: 'z[0]', 'z[1]'")


def test_a_note_names_devices_that_the_cluster_lacks(folder: Path) -> None:
    """A misspelt device, and one after a space, would otherwise look like lost ones."""
    (folder / "mapping.csv").write_text("operator,device\nx,dO\ny, d0\nz,d1\n")
    words = ("place", folder / "graph.json", "--start", folder / "mapping.csv", *DEVICES)
    line, *_ = run(*words).stderr.splitlines()
    assert line.startswith("2 devices of ")
    assert line.endswith("not in the cluster: ' d0', 'dO'")


@pytest.mark.parametrize(("row", "empty"), [("x,", "device"), (" ,d0", "operator")])
def test_empty_cells_are_refused(row: str, empty: str, folder: Path) -> None:
    (folder / "mapping.csv").write_text(f"operator,device\n{row}\n")
    done = run("place", folder / "graph.json", "--start", folder / "mapping.csv", *DEVICES)
    assert done.returncode == 2
    assert f"mapping.csv: line 2: {empty} must not be empty" in done.stderr


def test_a_note_names_instances_that_the_graph_no_longer_has(folder: Path) -> None:
    """The graph may state fewer instances on purpose, so the advice is for the other case."""
    graph, old = folder / "graph.json", folder / "old.json"
    for count in (2, 1):
        last = {**GRAPH["operators"][2], "parallelism": count}
        graph.write_text(json.dumps({**GRAPH, "operators": [*GRAPH["operators"][:2], last]}))
        start = ("-o", old) if count == 2 else ("--start", old)
        done = run("place", graph, *DEVICES, *start)
    line, *_ = done.stderr.splitlines()
    assert "2 operators of " in line
    assert "'z[0]', 'z[1]', as the placement has other numbers of instances" in line
    assert line.endswith(
        "to keep these, use the graph that states them, such as that of size --graph-out"
    )


def test_an_assignment_to_other_devices_than_the_default(folder: Path, capsys: Capture) -> None:
    (folder / "mapping.csv").write_text("operator,device\nx,a1\ny,a1\nz,a2\n")
    words = ("simulate", folder / "graph.json", folder / "mapping.csv")
    line = refused(capsys, *words)
    assert "assignment['x']: the cluster has no device 'a1'" in line
    assert "the devices are the default 5x2500: set --cluster FILE" in line
    assert "default" not in refused(capsys, *words, *DEVICES)


def test_an_export_is_read_back(folder: Path, capsys: Capture) -> None:
    graph, old = folder / "graph.json", folder / "old.json"
    json_of(capsys, "place", graph, *DEVICES, "-o", old)
    done = run("export", old, "--to", "csv", "-o", folder / "old.csv")
    assert done.returncode == 0
    found = json_of(capsys, "simulate", graph, folder / "old.csv", *DEVICES)
    assert found["throughput"] == json_of(capsys, "simulate", graph, old)["throughput"]


def test_other_numbers_of_the_same_operators(folder: Path, capsys: Capture) -> None:
    graph, old = folder / "graph.json", folder / "old.json"
    before = json_of(capsys, "place", graph, *DEVICES, "-o", old)
    changed = [{"name": name, "instructions": 1e6, "payload_bytes": 10} for name in "xyz"]
    graph.write_text(json.dumps({**GRAPH, "source_rate": 3000, "operators": changed}))
    done = run("simulate", graph, old, "--json")
    found = json.loads(done.stdout)
    assert found["relative_throughput"] == pytest.approx(1 / 3)
    assert found["devices"][0]["utilisation"] > before["devices"][0]["utilisation"]
    assert "placed for other numbers of the same operators; used by name" in done.stderr
    again = json_of(capsys, "place", graph, "--start", old, "--max-moves", 0)
    assert again["moves"] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("operator,device\n", "has no assignments"),
        ("device,operator\nd0,x\n", "line 1: the header must be operator,device"),
        (
            "operator;device\nx;d0\n",
            "line 1: columns are separated by semicolons; separate them by",
        ),
        ("operator,device\nx\n", "line 2: expected 2 columns (got 1)"),
        ("operator,device\nx,d0\nx,d1\n", "line 3: operator 'x' appears twice"),
        ("operator,device\nx,d0\ny,d0\n", "operator 'z' has no device"),
        ("operator,device\nx,d0\ny,d0\nz,d7\n", "the cluster has no device 'd7'"),
        ('operator,device\n"x,d0\n', "not CSV"),
    ],
)
def test_invalid_csv(text: str, message: str, folder: Path, capsys: Capture) -> None:
    (folder / "mapping.csv").write_text(text)
    line = refused(capsys, "simulate", folder / "graph.json", folder / "mapping.csv")
    assert message in line
    assert "mapping.csv" in line


def test_other_separators_are_named_whatever_the_name(folder: Path, capsys: Capture) -> None:
    (folder / "mapping.txt").write_text("operator\tdevice\nx\td0\n")
    line = refused(capsys, "simulate", folder / "graph.json", folder / "mapping.txt")
    assert "mapping.txt: line 1: columns are separated by tabs; separate them by commas" in line


def test_a_spreadsheet_is_named(folder: Path, capsys: Capture) -> None:
    with ZipFile(folder / "sheet.xlsx", "w") as file:
        file.writestr("xl/workbook.xml", "<workbook/>")
    for words in (("simulate", folder / "graph.json"), ("info",)):
        line = refused(capsys, *words, folder / "sheet.xlsx")
        assert "sheet.xlsx: is a zip archive, such as an .xlsx spreadsheet; save the sheet" in line


@pytest.mark.parametrize("assignment", [[], {"x": 1}, "d0"])
def test_invalid_assignments(assignment: Any, folder: Path, capsys: Capture) -> None:
    (folder / "assignment.json").write_text(json.dumps({"assignment": assignment}))
    line = refused(capsys, "simulate", folder / "graph.json", folder / "assignment.json")
    assert "assignment.json: assignment" in line
