"""The parts of the long tests, one of which a run of continuous integration takes."""

from pathlib import Path

import pytest

from tests.support.part import Part

FILES = [Path(f"tests/{folder}/test_{i}.py") for folder in "abc" for i in range(100)]


def test_every_file_belongs_to_exactly_one_part() -> None:
    parts = [{file for file in FILES if Part(k, 3).has(file)} for k in (1, 2, 3)]
    assert sum(map(len, parts)) == len(FILES)
    assert set.union(*parts) == set(FILES)
    assert min(map(len, parts)) >= 60


def test_the_only_part_has_all_files() -> None:
    assert all(Part().has(file) for file in FILES)
    assert Part.parse("1/1") == Part()


@pytest.mark.parametrize("wrong", ["", "1", "0/3", "4/3", "-1/3", "1/0", "1/3/5", "a/b", "1.0/3"])
def test_an_impossible_part_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="part must be K/N with 1 <= K <= N"):
        Part.parse(wrong)
