"""The share of the random problems of long tests, and the parts of their files."""

from pathlib import Path

import pytest

from tests.support.part import Part
from tests.support.share import Share


def test_a_share_is_drawn_from_all_parts_and_is_always_the_same() -> None:
    drawn = Share(0.2).of(range(1000))
    assert drawn == Share(0.2).of(range(1000)) == sorted(set(drawn))
    assert len(drawn) == 200
    for rest in range(5):  # as many of every fifth, within chance
        assert 20 <= sum(seed % 5 == rest for seed in drawn) <= 60
    assert Share(0.2).least(1000) == 200


def test_everything_can_be_drawn_and_something_always_is() -> None:
    assert Share().of("abc") == ["a", "b", "c"]
    assert len(Share(0.01).of(range(5))) == 1


def test_a_quick_test_draws_everything(share: Share) -> None:
    assert share == Share(1.0)


@pytest.mark.long
def test_a_long_test_draws_the_share_of_the_run(share: Share, pytestconfig: pytest.Config) -> None:
    assert share == Share(pytestconfig.getoption("--share"))


@pytest.mark.parametrize("wrong", [0.0, -1.0, 1.5, float("nan")])
def test_an_impossible_share_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="share must be above 0 and at most 1"):
        Share(wrong)


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
