"""Tests for the files of a study's folder: spoilt ones are refused in one line, nothing is lost."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.errors import FormatError
from streamplace.papers.studies.run import (
    PLAN,
    REPORT,
    RESULTS,
    check_plan,
    outcome_of,
    plan_text,
    read_results,
    result_line,
    run_study,
)
from streamplace.papers.studies.study import Row
from tests.support.studies import Squares

SETTINGS = {"graphs": 3, "orders": ["a", "b"]}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
rows = st.lists(st.dictionaries(st.text(), values, max_size=4), max_size=3)


def test_an_outcome_shows_the_units_that_are_done() -> None:
    study = Squares(4)
    done = {f"number {i}": [{"i": i, "square": float(i * i)}] for i in (3, 1)}
    (table,) = outcome_of(study, study.plan(), done, Path(RESULTS)).tables
    assert table.rows == [("1", [1.0]), ("3", [9.0])]


@given(st.dictionaries(st.text(max_size=5), rows, min_size=1, max_size=4))
def test_written_results_are_read(tmp_path_factory: pytest.TempPathFactory, found: Any) -> None:
    path = tmp_path_factory.mktemp("study") / RESULTS
    text = "".join(result_line(key, value, 0.1234) for key, value in found.items())
    path.write_bytes(text.encode())
    assert read_results(path, found) == (found, text.encode())


def test_every_truncation_leaves_the_complete_lines(tmp_path: Path) -> None:
    path = tmp_path / RESULTS
    units: dict[str, list[Row]] = {"one": [{"a": 1.5}], "two": [{"b": None}]}
    lines = [result_line(key, rows, 1.0).encode() for key, rows in units.items()]
    whole = b"".join(lines)
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        found, complete = read_results(path, units)
        assert complete == (lines[0] if size >= len(lines[0]) else b"")
        assert [*found] == [*units][: bool(complete)]


def test_every_change_of_a_digit_or_letter_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / RESULTS
    line = result_line("one", [{"system": "METIS", "mean": [0.125, 1e4]}], 2.5)
    for at, old in enumerate(line[:-1]):
        if old.isalnum():
            path.write_text(line[:at] + ("7" if old != "7" else "3") + line[at + 1 :])
            with pytest.raises(FormatError, match=r"results\.jsonl: line 1: .*remove the line"):
                read_results(path, ["one"])


@pytest.mark.parametrize("middle", [slice(0, 20), slice(20, -1), slice(0, -2)])
def test_a_line_that_was_cut_off_in_the_middle_is_named_and_kept(
    middle: slice, tmp_path: Path
) -> None:
    run_study(Squares(4), tmp_path, jobs=1)
    results = tmp_path / RESULTS
    lines = results.read_text().splitlines(keepends=True)
    lines[1] = lines[1][middle] + "\n"
    results.write_text(spoilt := "".join(lines))
    with pytest.raises(FormatError, match=r"results\.jsonl: line 2: is not a result of this"):
        run_study(Squares(4), tmp_path, jobs=1)
    assert results.read_text() == spoilt
    results.write_text("".join(lines[:1] + lines[2:]))
    assert run_study(Squares(4), tmp_path, jobs=1).findings == ("The sum is 14.",)


def test_lines_without_a_checksum_are_read_in_folders_of_version_1(tmp_path: Path) -> None:
    run_study(Squares(2), tmp_path, jobs=1)
    results, plan = tmp_path / RESULTS, tmp_path / PLAN
    entries = [json.loads(line) for line in results.read_text().splitlines()]
    for entry in entries:
        del entry["sha256"]
    results.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    with pytest.raises(FormatError, match="line 1: has changed since it was written"):
        run_study(Squares(2), tmp_path, jobs=1)
    plan.write_text(json.dumps({**json.loads(plan.read_text()), "version": 1}))
    assert run_study(Squares(2), tmp_path, jobs=1).findings == ("The sum is 1.",)


@pytest.mark.parametrize("row", [{}, 3, None, {"i": 1, "square": "x"}, {"i": 1}])
def test_results_with_other_values_are_refused_in_one_line_and_kept(
    row: Any, tmp_path: Path
) -> None:
    run_study(Squares(3), tmp_path, jobs=1)
    results = tmp_path / RESULTS
    lines = results.read_text().splitlines(keepends=True)
    lines[1] = result_line("number 1", [row], 0.0)
    results.write_text(changed := "".join(lines))
    with pytest.raises(
        FormatError, match=r"results\.jsonl: holds results that do not fit"
    ) as caught:
        run_study(Squares(3), tmp_path, jobs=1)
    assert len(str(caught.value).splitlines()) == 1
    assert results.read_text() == changed
    results.write_text(lines[0] + lines[2])
    assert run_study(Squares(3), tmp_path, jobs=1).findings == ("The sum is 5.",)


@pytest.mark.parametrize("name", [RESULTS, REPORT])
def test_files_that_are_not_a_studys_are_not_overwritten(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(FormatError, match=rf"holds {name} but no study\.json"):
        run_study(Squares(2), tmp_path, jobs=1)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 9}, "has version 9, but this streamplace reads 2"),
        ({"settings": None}, "settings: must be an object"),
        ({"settings": {**SETTINGS, "more": None}}, "more was null and is now none"),
        ({"settings": {"graphs": 3}}, r'orders was none and is now \["a", "b"\]'),
        ({"settings": {**SETTINGS, "graphs": 4}}, "graphs was 4 and is now 3"),
        ({"study": ["x\ny"]}, r'holds the study \["x\\ny"\]'),
        ({"format": "streamplace-trace"}, "is not the plan of a study"),
    ],
)
def test_other_plans_are_refused_in_one_line(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / PLAN
    path.write_text(plan_text("orders", SETTINGS))
    assert check_plan(path, "orders", SETTINGS) == 2
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(FormatError, match=message) as refused:
        check_plan(path, "orders", SETTINGS)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
@pytest.mark.parametrize("name", [PLAN, RESULTS])
def test_special_files_are_refused(name: str, tmp_path: Path) -> None:
    run_study(Squares(2), tmp_path, jobs=1)
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(FormatError, match=rf"{name}: is a device file"):
        run_study(Squares(2), tmp_path, jobs=1)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(FormatError, match=rf"{name}: cannot read: Is a directory"):
        run_study(Squares(2), tmp_path, jobs=1)
