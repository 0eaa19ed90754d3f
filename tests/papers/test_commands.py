"""The commands `study …`: folders, options and inputs that are refused in one line."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from streamplace.papers.commands import study
from streamplace.papers.studies.claims import Claims
from streamplace.papers.studies.run import PLAN, REPORT
from streamplace.papers.studies.study import Outcome
from tests.support.cli import Capture, printed, refused
from tests.support.input_files import GRAPH

STUDIES = (("dream", "--quick"), ("orders", "--quick"), ("hsdag", "--quick"))
TOO_LONG = "n" * 300


@pytest.mark.parametrize("words", STUDIES, ids=" ".join)
@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("file", "cannot create folder"),
        ("file/below", "cannot create folder"),
        (TOO_LONG, "File name too long"),
        ("a\0b", "is not a folder name"),
        ("/proc/study", ""),
    ],
)
def test_a_folder_that_cannot_be_made(
    words: tuple[str, ...], where: str, message: str, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "file").write_text("kept")
    line = refused(capsys, "study", *words, "-o", tmp_path / where)
    assert message in line
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("words", STUDIES, ids=" ".join)
def test_a_folder_of_something_else(
    words: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / REPORT).write_text("mine")
    assert f"holds {REPORT} but no {PLAN}" in refused(capsys, "study", *words, "-o", tmp_path)
    (tmp_path / PLAN).write_text("{")
    assert f"{PLAN}: line 1" in refused(capsys, "study", *words, "-o", tmp_path)
    (tmp_path / PLAN).write_text(json.dumps({"format": "streamplace-study", "version": 2}))
    assert "holds the study null" in refused(capsys, "study", *words, "-o", tmp_path)
    assert (tmp_path / REPORT).read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("orders", "--quick"), "missing option '-o'"),
        (("orders", "-o", ""), "must not be empty"),
        (("orders", "-o", "x", "--objective", "memory"), "'memory'"),
        (("orders", "-o", "x", "--plots", "gif"), "'gif'"),
        (("orders", "-o", "x", "--jobs", "0"), "--jobs"),
        (("dream", "-o", "x", "--seed", "-1"), "--seed"),
        (("dream", "-o", "x", "--graphs", "absent.jsonl"), "absent.jsonl: no such file"),
        (("dream", "-o", "x", "--graphs", "-"), "stdin: must be a file or a folder"),
        (("dream", "-o", "x", "--graphs", "."), ": holds no graph"),
        (("dream", "-o", "x", "--weights", "absent"), "absent: has no b.safetensors"),
        (("dream", "-o", "x", "--weights", TOO_LONG), "has no b.safetensors"),
        (("dream", "-o", "x", "--weights", "a\0b"), ""),
        (("dreams", "-o", "x"), "did you mean"),
    ],
)
def test_options_that_are_refused(
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refused(capsys, "study", *words)
    assert not [*tmp_path.iterdir()]


def test_a_missing_backend_leaves_no_folder(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    words = ("orders", "--quick", "--backend", "ray", "-o", tmp_path / "study")
    assert "pip install '.[ray]'" in refused(capsys, "study", *words)
    assert [*tmp_path.iterdir()] == []


def test_the_dataset_is_not_overwritten(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text(json.dumps(GRAPH) + "\n")
    before = file.read_bytes()
    line = refused(capsys, "study", "dream", "--graphs", file, "-o", tmp_path)
    assert "holds results.jsonl but no study.json" in line
    assert [path.name for path in tmp_path.iterdir()] == ["results.jsonl"]
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("pictures", "plots", "kinds"),
    [
        ({"curves": Path.touch}, "png", "results, tables and plots"),
        ({"curves": Path.touch}, "none", "results and tables"),
        ({}, "png", "results and tables"),
    ],
)
def test_the_last_line_names_what_was_written(
    pictures: dict[str, Callable[[Path], None]],
    plots: str,
    kinds: str,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome = Outcome("title", (), (), pictures)
    monkeypatch.setattr("streamplace.papers.commands.run_study", lambda *_, **__: outcome)
    words = ("orders", "--quick", "--plots", plots, "-o", "folder")
    assert printed(capsys, "study", *words)[1].endswith(f"{kinds} are in folder\n")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("orders",), "10 units to run, about 44 min of CPU time; --quick runs a small share"),
        (("orders", "--seeds", "1"), "of CPU time with the seeds of the plan; --quick runs"),
        (("giph",), "and --only CLAIM one claim of --list"),
        (("giph", "--objective", "throughput"), "--quick runs a small share of the plan\n"),
        (("orders", "--quick"), None),
        (("orders", "--only", "table-iii-1"), "10 units to run; --list says how much CPU time"),
    ],
)
def test_a_whole_plan_says_how_long_it_takes(
    words: tuple[str, ...],
    expected: str | None,
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def begun(*_: object, starting: Callable[[int], None], **__: object) -> Outcome:
        starting(10)
        return Outcome("title", (), ())

    monkeypatch.setattr("streamplace.papers.commands.run_study", begun)
    monkeypatch.chdir(tmp_path)
    _, err = printed(capsys, "study", *words, "-o", "folder")
    assert ("to run" in err) == (expected is not None)
    assert expected is None or expected in err


@pytest.mark.parametrize("paper", ["ni2020", "orders", "giph", "doppler", "hsdag"])
def test_help_of_only_names_no_row_of_another_study(paper: str) -> None:
    claims = Claims.of(paper)
    (only,) = [one for one in study.commands[claims.study].params if one.name == "only"]
    rows = re.findall(r"\b[a-z]+-[\w-]*\d\b", str(only.to_info_dict()["help"]))
    assert {*rows} <= {*claims.runnable}
