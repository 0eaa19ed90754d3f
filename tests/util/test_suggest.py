"""Suggestions for files that are missing."""

from pathlib import Path

import pytest

from streamplace.util.suggest import near_file
from tests.support.cli import Capture, refused


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gaph.json", "graph.json"),
        ("graph.jsno", "graph.json"),
        ("jobs/job-1", "jobs/job-1.json"),
        ("GRAPH.NPZ", "graph.npz"),
        ("./gaph.json", "./graph.json"),
        ("jbos/job-1.json", "jobs/job-1.json"),
        ("jbos/jib-1.json", "jobs/job-1.json"),
    ],
)
def test_a_missing_file_has_a_similar_name(
    typed: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("jobs").mkdir()
    for name in ("graph.npz", "graph.json", "jobs/job-1.json"):
        Path(name).touch()
    assert near_file(typed) == f"; did you mean {meant!r}?"


@pytest.mark.parametrize("typed", ["other.json", "a.json", "jobs/graph.json", "x/y/graph.json"])
def test_equal_endings_do_not_make_files_similar(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("jobs").mkdir()
    for name in ("graph.json", "b.json"):
        Path(name).touch()
    assert near_file(typed) == ""


def test_a_path_of_many_folders_has_no_suggestion() -> None:
    assert near_file("no-such-folder/" * 200 + "graph.json") == ""


def test_a_missing_folder_to_write_into_has_a_similar_name(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    line = refused(capsys, "generate", "dream", "-o", "reslts/graphs.jsonl")
    assert line.endswith("cannot write: no such folder; did you mean 'results'?")


def test_a_link_to_a_missing_file_is_named(tmp_path: Path, capsys: Capture) -> None:
    link = tmp_path / "graph.json"
    link.symlink_to("nowhere.json")
    line = refused(capsys, "place", link)
    assert line.endswith("no such file; it is a link to 'nowhere.json', which is missing")
