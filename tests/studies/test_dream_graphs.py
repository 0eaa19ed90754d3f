"""Tests for the graphs of the dream study, which are read once per process."""

import os
from pathlib import Path

import pytest

from streamplace.errors import FormatError
from streamplace.families import Recipe
from streamplace.files import write_dataset
from streamplace.studies.dream import study
from streamplace.studies.dream.study import generated, stored


def test_a_dataset_is_read_again_only_if_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "graphs.jsonl"
    write_dataset(path, generated(3, 1, range(3)))
    first = stored(str(path))
    assert stored(str(path)) is first
    write_dataset(path, generated(2, 5, range(2)))
    again = stored(str(path))
    assert [graph.sha256 for graph in again] == [g.sha256 for g in generated(2, 5, range(2))]


def test_a_file_that_is_added_to_a_folder_is_read(tmp_path: Path) -> None:
    write_dataset(tmp_path / "a.jsonl", generated(2, 1, range(2)))
    assert len(stored(str(tmp_path))) == 2
    write_dataset(tmp_path / "b.jsonl", generated(1, 2, range(1)))
    assert len(stored(str(tmp_path))) == 3


def test_generated_graphs_are_those_of_the_family() -> None:
    recipe = Recipe("dream", 5, seed=3)
    found = generated(5, 3, range(3, 9))
    assert [graph.sha256 for graph in found] == [recipe.graph(n).sha256 for n in (3, 4)]
    assert generated(5, 3, range(7, 9)) == []


def test_what_can_be_read_only_once_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=f"^stdin: {study.ONCE}$"):
        stored("-")
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(FormatError, match=r"pipe\.jsonl: must be a file or a folder"):
        stored(str(pipe))
