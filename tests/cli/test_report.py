"""The command `report`: one page from one or several placements."""

import json
from pathlib import Path

import pytest

from tests.support.cli import Capture, json_of, refused, run, succeeds
from tests.support.input_files import InputFiles
from tests.support.paths import DATA


def test_one_page_of_several_placements(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    other, page = tmp_path / "single.json", tmp_path / "report.html"
    succeeds(capsys, "place", inputs.graph, "--devices", "2x5", "--placer", "single", "-o", other)
    answer = json_of(capsys, "report", inputs.placement, other, "-o", page)
    assert answer["file"] == str(page)
    assert [row["file"] for row in answer["placements"]] == [str(inputs.placement), str(other)]
    assert [row["placer"] for row in answer["placements"]] == ["round-robin", "single"]
    assert answer["placements"][1]["relative_throughput"] == pytest.approx(1 / 1.2)
    assert 0 < answer["placements"][1]["gap"] < 1
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert '"title":"single.json"' in text  # a report is passed on: no folders of this machine
    assert str(tmp_path) not in text


def test_to_stdout_and_from_stdin(inputs: InputFiles, capsys: Capture) -> None:
    assert succeeds(capsys, "report", inputs.placement, "-o", "-").startswith("<!DOCTYPE html>")
    read = run("report", "-", "-o", "-", input=inputs.placement.read_text())
    assert '"title":"stdin"' in read.stdout
    both = refused(capsys, "report", inputs.placement, "-o", "-", "--json")
    assert "both want stdout" in both


def test_what_is_no_placement_is_refused(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    page = tmp_path / "report.html"
    assert "graph.json" in refused(capsys, "report", inputs.graph, "-o", page)
    assert "a CEPSim placement holds no graph" in refused(
        capsys, "report", inputs.cepsim, "-o", page
    )
    faults = set(DATA.glob("placement-*.json")) - {DATA / "placement-of-another-graph.json"}
    for fault in sorted(faults):
        said = refused(capsys, "report", inputs.placement, fault, "-o", page)
        assert fault.name in said
    assert "no such file" in refused(capsys, "report", tmp_path / "none.json", "-o", page)
    assert not page.exists()


def test_where_it_cannot_be_written(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    assert "is a folder" in refused(capsys, "report", inputs.placement, "-o", tmp_path)
    there = tmp_path / "none" / "report.html"
    assert "no such folder" in refused(capsys, "report", inputs.placement, "-o", there)
    assert "Missing option '-o'" in refused(capsys, "report", inputs.placement)
    assert "Missing argument" in refused(capsys, "report", "-o", there)


def test_a_placer_that_is_no_text_is_refused(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    value = json.loads(inputs.placement.read_text()) | {"placer": 7}
    file = tmp_path / "p.json"
    file.write_text(json.dumps(value))
    assert "placer: must be a string" in refused(capsys, "report", file, "-o", tmp_path / "r.html")


def test_files_of_one_name_are_told_apart(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """Titles show the folders that differ, and no others."""
    files = [tmp_path / folder / "run" / "p.json" for folder in ("A", "B")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(inputs.placement.read_text())
    text = succeeds(capsys, "report", *files, inputs.placement, files[0], "-o", "-")
    for title in ("A/run/p.json", "B/run/p.json", inputs.placement.name):
        assert f'"title":"{title}"' in text
    assert str(tmp_path) not in text


def test_its_input_is_not_overwritten(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    before, link = inputs.placement.read_bytes(), tmp_path / "link.html"
    link.symlink_to(inputs.placement)
    for output in (inputs.placement, link):
        said = refused(capsys, "report", inputs.placement, "-o", output)
        assert "would write over" in said
    assert inputs.placement.read_bytes() == before


def test_what_was_written_is_told_on_stderr(inputs: InputFiles, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    answer = run("report", inputs.placement, "-o", page)
    assert (answer.stdout, answer.stderr.splitlines()[-1]) == ("", f"wrote {page}")
    quiet = run("report", inputs.placement, "-o", page, "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", "")
