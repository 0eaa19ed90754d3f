"""The command `report`: a page of one or several placements."""

import json
from pathlib import Path

import pytest

from tests.support.cli import Capture, json_of, printed, refused, run, succeeds
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
    assert '"title":"single.json"' in text  # no folders, since reports are shared
    assert str(tmp_path) not in text
    names = {"graph": Path(inputs.graph).name}  # of files only: --devices is none
    assert json.loads(other.read_text())["inputs"] == names
    assert f'"inputs":["{names["graph"]}"]' in text


def test_a_report_to_stdout_and_from_stdin(inputs: InputFiles, capsys: Capture) -> None:
    assert succeeds(capsys, "report", inputs.placement, "-o", "-").startswith("<!DOCTYPE html>")
    read = run("report", "-", "-o", "-", input=inputs.placement.read_text())
    assert '"title":"stdin"' in read.stdout
    both = refused(capsys, "report", inputs.placement, "-o", "-", "--json")
    assert "--json requires -o FILE" in both


def test_files_that_are_not_placements_are_refused(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    page = tmp_path / "report.html"
    assert "graph.json" in refused(capsys, "report", inputs.graph, "-o", page)
    assert "a CEPSim placement holds no graph" in refused(
        capsys, "report", inputs.cepsim, "-o", page
    )
    faults = set(DATA.glob("placement-*.json")) - {DATA / "placement-of-another-graph.json"}
    for fault in sorted(faults):
        message = refused(capsys, "report", inputs.placement, fault, "-o", page)
        assert fault.name in message
    assert "no such file" in refused(capsys, "report", tmp_path / "none.json", "-o", page)
    assert not page.exists()


def test_outputs_that_cannot_be_written(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    assert "is a folder" in refused(capsys, "report", inputs.placement, "-o", tmp_path)
    target = tmp_path / "none" / "report.html"
    assert "no such folder" in refused(capsys, "report", inputs.placement, "-o", target)
    assert "missing option '-o' (see streamplace report --help)" in refused(
        capsys, "report", inputs.placement
    )
    assert "missing argument 'PLACEMENT…'" in refused(capsys, "report", "-o", target)


@pytest.mark.parametrize("name", ["r.pdf", "r.html.gz", "html", "r"])
def test_only_html_is_written(
    name: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / name
    message = f"-o {file}: a report is HTML; its name must end in .html or .htm"
    assert message in refused(capsys, "report", inputs.placement, "-o", file)
    assert not file.exists()
    for suffix in ("htm", "HTML"):
        succeeds(capsys, "report", inputs.placement, "-o", tmp_path / f"r.{suffix}")
        assert (tmp_path / f"r.{suffix}").read_text().startswith("<!DOCTYPE html>")


def test_a_placer_that_is_not_a_string_is_refused(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    value = json.loads(inputs.placement.read_text()) | {"placer": 7}
    file = tmp_path / "p.json"
    file.write_text(json.dumps(value))
    assert "placer: must be a string" in refused(capsys, "report", file, "-o", tmp_path / "r.html")


def test_titles_of_files_with_the_same_name(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """Titles show only the folders that differ."""
    files = [tmp_path / folder / "run" / "p.json" for folder in ("A", "B")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(inputs.placement.read_text())
    text = succeeds(capsys, "report", *files, inputs.placement, files[0], "-o", "-")
    for title in ("A/run/p.json", "B/run/p.json", inputs.placement.name):
        assert f'"title":"{title}"' in text
    assert str(tmp_path) not in text


def test_the_written_file_is_named_on_stderr(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    page = tmp_path / "r.html"
    out, notes = printed(capsys, "report", inputs.placement, "-o", page)
    assert (out, notes.splitlines()[-1]) == ("", f"wrote {page}")
    assert printed(capsys, "report", inputs.placement, "-o", page, "--quiet") == ("", "")


def test_a_placement_is_shown_under_the_makespan(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """The options set another objective; without them it is that of the placement."""
    page = tmp_path / "report.html"
    options = ("--objective", "makespan", "--batch", 50, "--order", "b-level")
    answer = json_of(capsys, "report", inputs.placement, *options, "-o", page)
    score = json_of(capsys, "simulate", inputs.graph, inputs.placement, *options)
    [row] = answer["placements"]
    keys = ("objective", "batch", "order", "makespan_s", "bound_s", "gap", "slr")
    assert {key: row[key] for key in keys} == {key: score[key] for key in keys}
    assert row["drawn"]
    assert '"objective":"makespan"' in page.read_text()
    [other] = json_of(capsys, "report", inputs.placement, "-o", page)["placements"]
    assert "makespan_s" not in other
    assert '"objective":"makespan"' not in page.read_text()


def test_figures_of_a_total_cost(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    page, options = tmp_path / "report.html", ("--objective", "total-cost", "--batch", 50)
    [row] = json_of(capsys, "report", inputs.placement, *options, "-o", page)["placements"]
    score = json_of(capsys, "simulate", inputs.graph, inputs.placement, *options)
    keys = ("objective", "batch", "total_cost_s", "makespan_s", "bound_s", "gap")
    assert {key: row[key] for key in keys} == {key: score[key] for key in keys}
    assert row["batch"] == 50


def test_an_unknown_placer_is_null(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    """As in the file that an import writes."""
    stored = json.loads(inputs.placement.read_text()) | {"placer": ""}
    (tmp_path / "imported.json").write_text(json.dumps(stored))
    words = ("report", tmp_path / "imported.json", "-o", tmp_path / "report.html")
    assert json_of(capsys, *words)["placements"][0]["placer"] is None


def test_published_semantics_on_the_page(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    options = ("--objective", "makespan", "--semantics", "placeto")
    page = tmp_path / "report.html"
    [row] = json_of(capsys, "report", inputs.placement, *options, "-o", page)["placements"]
    score = json_of(capsys, "simulate", inputs.graph, inputs.placement, *options)
    assert row["makespan_s"] == score["makespan_s"]


def test_noise_has_no_bound_on_the_page(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    options = ("--objective", "makespan", "--noise", "0.2", "--repeats", 3)
    page = tmp_path / "report.html"
    [row] = json_of(capsys, "report", inputs.placement, *options, "-o", page)["placements"]
    assert (row["bound_s"], row["gap"]) == (None, None)


@pytest.mark.parametrize("options", [("--batch", "5"), ("--semantics", "giph")])
def test_options_of_makespans_need_the_objective(
    options: tuple[str, str], inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    page = tmp_path / "report.html"
    refusal = refused(capsys, "report", inputs.placement, *options, "-o", page)
    assert f"{options[0]} requires --objective makespan" in refusal
    assert not page.exists()


def test_an_unknown_objective_of_the_file_is_refused_under_any_other(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    value = json.loads(inputs.placement.read_text())
    value["problem"]["objective"] = "makespann"
    bad, page = tmp_path / "bad.json", tmp_path / "report.html"
    bad.write_text(json.dumps(value))
    line = refused(capsys, "report", bad, "--objective", "throughput", "-o", page)
    assert "bad.json: problem.objective: unknown objective 'makespann'" in line
