"""Plots and tables that commands write."""

from pathlib import Path

import pytest

from tests.support.cli import Capture, json_of, printed, refused, succeeds
from tests.support.input_files import InputFiles

TABLES = {
    "compare.json",
    "table.csv",
    "graphs.csv",
    "table.md",
    "table.tex",
    "command.json",
}
LOG = '{"step": 1, "reward": -1.5, "loss": 0.5}\n{"step": 2, "validation": -1.0}\n{"st'


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ([], "png"),
        (["--plots", "svg"], "svg"),
        (["--plots", "none"], ""),
    ],
)
def test_files_of_compare(
    options: list[str], kind: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    words = ("compare", inputs.graph, "--placers", "metis,single", "--source-rate", "1e3,1e6")
    succeeds(capsys, *words, "--jobs", "1", "-o", tmp_path / "new/out", *options)
    names = ("differences", "throughput", "devices")
    pictures = {f"{name}.{kind}" for name in names if kind}
    assert {path.name for path in (tmp_path / "new/out").iterdir()} == TABLES | pictures


def test_compare_removes_pictures_of_an_earlier_format(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    words = ("compare", inputs.graph, "--placers", "single", "--jobs", "1", "-o", tmp_path / "out")
    assert "removed" not in printed(capsys, *words)[1]
    notes = printed(capsys, *words, "--plots", "svg")[1]
    removed = [line for line in notes.splitlines() if line.startswith("removed")]
    assert removed == [
        f"removed {tmp_path / 'out' / name}.png, a file of an earlier comparison"
        for name in ("throughput", "devices")
    ]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == TABLES | {"throughput.svg", "devices.svg"}


def test_bad_kinds_and_folders_are_refused_before_the_work(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    words = ("compare", tmp_path / "absent.json")
    assert "--plots requires -o" in refused(capsys, *words, "--plots", "png")
    assert "--plots: unknown choice 'gif'; choose from" in refused(
        capsys, *words, "-o", tmp_path / "x", "--plots", "gif"
    )
    assert "is not a folder" in refused(capsys, *words, "-o", inputs.graph)
    assert list(tmp_path.iterdir()) == []


def test_curves_of_runs(tmp_path: Path, capsys: Capture) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.jsonl").write_text(LOG)
    picture = tmp_path / "x.svg"
    words = ("curves", tmp_path / "a", tmp_path / "b", "-o", picture)
    found = json_of(capsys, *words)
    assert found["file"] == str(picture)
    assert found["runs"][1] == {
        "run": str(tmp_path / "b"),
        "steps": 2,
        "step": 2.0,
        "reward": -1.5,
        "loss": 0.5,
        "validation": -1.0,
    }
    assert picture.exists()


def test_curves_refuses_bad_arguments(tmp_path: Path, capsys: Capture) -> None:
    assert "no log.jsonl: no training run has started in this folder" in refused(
        capsys, "curves", tmp_path, "-o", tmp_path / "x.png"
    )
    assert "'x.gif': unknown picture format 'gif'; choose from png, svg, pdf" in refused(
        capsys, "curves", tmp_path / "absent", "-o", "x.gif"
    )
    assert "RUN" in refused(capsys, "curves")
    assert list(tmp_path.iterdir()) == []
