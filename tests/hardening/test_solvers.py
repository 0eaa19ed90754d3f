"""Solvers take graphs of every odd shape; and what they must not do is noticed."""

import numpy as np
import pytest

from benchmarks.hardening.solvers import run
from benchmarks.hardening.solvers.jobs import LARGE_EVERY, NUMBERS, NoJobError, job
from benchmarks.hardening.solvers.parent import NOT_GIVEN, Account, account
from benchmarks.hardening.solvers.shapes import SHAPES
from benchmarks.hardening.solvers.wrappers import fault, wrappers
from streamplace import Constraints, Placement, Problem
from streamplace.placers.registry import PLACERS
from tests.hardening.bad_solvers import BAD
from tests.placers.jobs import pipeline

SHARE = 0.012  # 60 graphs
KINDS = ("crashes", "hangs", "invalid", "errors", "bytes on stdout", "on stderr")
GIVEN = 6


def test_all_of_them_are_well() -> None:
    rows = list(run(SHARE))
    assert [row.what.removeprefix("odd graphs: ") for row in rows] == wrappers()
    for row in rows:
        assert row.tried == 60
        assert row.good, f"{row}: {row.faults}"
        assert int(row.figures["placed"]) > 30


def test_all_that_wraps_anything_is_there() -> None:
    plain = {"single", "round-robin", "random"}
    assert {name.partition(":")[0] for name in wrappers()} >= set(PLACERS) - plain


def given(name: str, limit_s: float = 60.0) -> Account:
    return account(f"tests.hardening.bad_solvers::{name}", GIVEN, 0, limit_s)


@pytest.mark.parametrize(
    ("name", "kind", "count", "said"),
    [
        ("aborts", "crashes", 1, "exit code -6"),
        ("leaves", "crashes", 1, "exit code 0"),
        ("is_killed", "crashes", 1, "exit code -11"),
        ("prints", "bytes on stdout", 12, "printed 12 and 0 bytes"),
        ("complains", "on stderr", 12, "printed 0 and 12 bytes"),
        ("raises", "errors", 1, "ZeroDivisionError: by nothing"),
        ("is_wrong", "invalid", 1, "an operator is nowhere"),
    ],
)
def test_what_goes_wrong_is_noticed(name: str, kind: str, count: int, said: str) -> None:
    """The problem is named, and those after it are tried all the same."""
    row = given(name).row(name)
    assert dict(row.wrong) == dict.fromkeys(KINDS, 0) | {kind: count}
    assert row.tried == GIVEN
    assert len(row.faults) == 1
    assert f"problem {BAD} of seed 0" in row.faults[0]
    assert said in row.faults[0]


def test_what_takes_too_long_is_killed() -> None:
    row = given("hangs", limit_s=6.0).row("hangs")
    assert (row.tried, row.wrong["hangs"], row.wrong["crashes"]) == (GIVEN, 1, 0)
    assert f"problem {BAD} of seed 0" in row.faults[0]


def test_a_process_that_ends_badly_is_a_crash() -> None:
    row = given("ends_badly").row("ends badly")
    assert row.wrong["crashes"] == 1
    assert "exit code 7" in row.faults[0]


def test_what_is_refused_is_well() -> None:
    row = given("refuses").row("refuses")
    assert row.good
    assert (row.figures["refused"], row.figures["placed"]) == ("1", str(GIVEN - 1))


def test_what_no_solver_is_given_does_not_count() -> None:
    found = given("is_given_none")
    row = found.row("is given none")
    assert (row.tried, row.good, row.figures["placed"]) == (GIVEN, True, str(GIVEN))
    assert found.came[NOT_GIVEN] == 1


def test_what_never_starts_is_no_count() -> None:
    with pytest.raises(RuntimeError, match="does not start: exit code 1 ImportError: no such lib"):
        given("never_starts")


def test_a_placement_that_breaks_a_rule_is_invalid() -> None:
    rules = Constraints(colocate=[["a", "b"]])
    placement = Placement(Problem(pipeline(1.0, 1.0), "2x1000", constraints=rules), [0, 1])
    assert fault(placement) == "operator 'a' is apart from those it is colocated with"
    assert fault(Placement(placement.problem, [1, 1])) is None
    assert fault([0, 1]) == "returned a list"


def test_problems_are_odd_in_every_way() -> None:
    """All shapes and all kinds of work; one operator and ten thousand; the same again."""
    sizes, rules, refused = set(), 0, 0
    for number in range(len(SHAPES) * len(NUMBERS)):
        try:
            problem = job(number, 0)
        except NoJobError:
            refused += 1
            continue
        sizes.add(len(problem.graph.names))
        rules += bool(problem.constraints)
        assert problem.graph.sha256 == job(number, 0).graph.sha256
    assert sizes >= {1, 2, 40}
    assert 0 < refused < 60
    assert rules > 10
    large = [_size(number) for number in range(LARGE_EVERY - 1, 12 * LARGE_EVERY, LARGE_EVERY)]
    assert np.nanmax(large) == 10_000
    assert np.isnan(large).sum() < 6


def _size(number: int) -> float:
    try:
        return float(len(job(number, 0).graph.names))
    except NoJobError:
        return np.nan
