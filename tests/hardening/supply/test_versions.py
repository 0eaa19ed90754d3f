"""Test runs with other dependency versions: failures and missing results are counted."""

from pathlib import Path

import pytest

from benchmarks.hardening.supply import versions


def test_tests_that_fail_with_other_versions_are_noticed(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert versions._results(report)[2] == ["pytest did not finish"]
    report.write_text(
        '<testsuites><testsuite><testcase classname="a" name="b"/>'
        '<testcase classname="a" name="c"><failure message="no"/></testcase>'
        '<testcase classname="a" name="d"><skipped/></testcase></testsuite></testsuites>'
    )
    assert versions._results(report) == (1, 1, ["a::c: no"])


@pytest.mark.parametrize(("collected", "missing"), [(4, 0), (5, 1), (3853, 3849), (0, 0)])
def test_a_run_that_is_cut_off_is_not_good(
    collected: int, missing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Collected tests without a result count as faults, and so does an empty collection."""
    monkeypatch.setattr(versions, "requirements", list)
    row = versions.Outcome(collected, 3, 1, [], {}).row("oldest")
    assert row.wrong == {"failures": 0, "never run": missing, "never collected": not collected}
    assert row.good is (collected == 4)


@pytest.mark.parametrize(
    ("output", "count"),
    [
        ("tests/a.py: 3\n4462 tests collected in 20.31s\n", 4462),
        ("1 test collected in 0.1s", 1),
        ("3/8 tests collected (5 deselected) in 0.1s", 3),
        ("no tests collected in 0.1s", 0),
        ("12 tests collected, 1 error in 0.1s", 12),
    ],
)
def test_the_number_of_collected_tests_is_parsed(output: str, count: int) -> None:
    assert versions._collected(output) == count
