"""Units of committed studies that are run again."""

import json
import math
from pathlib import Path

import pytest

from benchmarks import studies_again
from benchmarks.studies_again import (
    FOLDERS,
    NAMES,
    Kept,
    Repetition,
    compare,
    deviations,
    differences,
    drawn_from,
    is_rounding,
    studies,
)
from streamplace.papers.ni2020.study.outcome import WEIGHTS
from streamplace.papers.ni2020.study.study import DreamStudy
from streamplace.papers.studies.run import PLAN
from streamplace.papers.studies.study import Row, Study, Unit
from tests.support.cli import Capture
from tests.support.released_data import SHARED, needs_dream


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"a": 1, "cpu_s": 3.0}, {"a": 1, "cpu_s": 9.0}, 0.0),
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.5]}, 0.2),
        ({"a": "x", "b": None}, {"a": "x", "b": None}, 0.0),
        ({"a": "x"}, {"a": "y"}, math.inf),
        ({"a": 1}, {"b": 1}, math.inf),
        ({"a": [1]}, {"a": [1, 1]}, math.inf),
        ({"a": None}, {"a": 1.0}, math.inf),
    ],
)
def test_the_largest_difference_of_two_rows(one: Row, other: Row, expected: float) -> None:
    assert max(differences(one, other), default=0.0) == pytest.approx(expected)


def test_a_number_that_is_none_is_not_explained_by_rounding() -> None:
    found = deviations([{"a": math.inf}, {"a": math.nan}, {"a": 1.0}], [{"a": 1.0}, {"a": 1.0}])
    assert [is_rounding(each) for each in found] == [False, False, False]


WITH_DATA = ("doppler", "hsdag")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in (*WITH_DATA, "dream")])
def test_committed_studies_have_the_plan_of_this_version(name: str, capsys: Capture) -> None:
    study = studies(Path("nowhere"))[name]
    assert "nowhere: no such folder" in capsys.readouterr().err
    check_draw(name, study)


@pytest.mark.long
@needs_dream
@pytest.mark.parametrize("name", WITH_DATA)
def test_committed_studies_of_released_data_have_the_plan_of_this_version(name: str) -> None:
    check_draw(name, studies(SHARED)[name])


@pytest.mark.long
@needs_dream
def test_the_committed_plan_of_dream_is_that_of_this_version(tmp_path: Path) -> None:
    for file in WEIGHTS.values():  # those of the plan are not part of the repository
        (tmp_path / file).write_bytes(b"")
    graphs = str(SHARED / "dream" / "graphs.jsonl.gz")
    planned = dict(DreamStudy(graphs=graphs, weights=str(tmp_path)).plan().settings)
    kept = json.loads((FOLDERS / "dream" / PLAN).read_text())["settings"]
    assert planned.pop("weights_sha256").keys() == kept.pop("weights_sha256").keys()
    assert planned == kept


def check_draw(name: str, study: Study) -> None:
    """Check that some units are drawn, but not more than there is time for."""
    work = drawn_from(name, study, 100.0)
    assert 0 < len(work.units) < work.planned
    assert sum(kept.seconds for kept in work.kept) <= 100.0


def test_a_row_counts_what_differs(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    new: dict[str, list[Row]] = {"a": [{"x": 1.0}, {"x": 2.0}], "b": [{"x": 3.0}]}
    monkeypatch.setattr(studies_again, "rows_of", lambda study, unit: new[unit.key])
    study = studies(Path("nowhere"))["orders"]
    kept = (Kept([{"x": 1.0}, {"x": 2.5}], 1.0), Kept([{"x": 3.0}, {"x": 4.0}], 1.0))
    compare("orders", Repetition(study, (Unit("a"), Unit("b")), kept, 9), jobs=1)
    out, err = capsys.readouterr()
    assert out == "| orders | 2 | 9 | 4 | 2 | 2 | inf |\n"
    assert "orders: a: 0.2" in err
    assert "orders: b: inf" in err
