"""Solvers take graphs of every odd shape; and what they must not do is noticed."""

from importlib import import_module

import numpy as np
import pytest

from benchmarks.hardening import solvers
from benchmarks.hardening.solvers import run
from benchmarks.hardening.solvers.jobs import LARGE_EVERY, NUMBERS, NoJobError, job
from benchmarks.hardening.solvers.parent import KINDS, MOST_DRAWN, Account, account
from benchmarks.hardening.solvers.patience import LIMITS, Limits
from benchmarks.hardening.solvers.shapes import SHAPES
from benchmarks.hardening.solvers.wrappers import fault, is_installed, library_of, wrappers
from streamplace import Constraints, Placement, Problem
from streamplace.placers.registry import PLACERS
from tests.hardening.bad_solvers import BAD, SLOW_S
from tests.placers.jobs import pipeline

SHARE = 0.005  # 25 graphs
GIVEN = 6


def test_all_of_them_are_well() -> None:
    """Every graph that is counted has reached the library, and most of them were placed."""
    rows = list(run(SHARE))
    names = [row.what.removeprefix("odd graphs: ").partition(",")[0] for row in rows]
    assert names == [name.partition(",")[0] for name in wrappers()]
    for row in rows:
        if row.what.endswith(", not installed"):
            assert (row.tried, row.good) == (0, False)
            continue
        assert row.tried == 25
        assert row.good, f"{row}: {row.faults}"
        assert int(row.figures["placed"]) > 12


def test_all_that_wraps_anything_is_there() -> None:
    plain = {"single", "round-robin", "random"}
    assert {name.partition(":")[0] for name in wrappers()} >= set(PLACERS) - plain


def test_what_is_not_installed_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "wrappers", lambda: ["KaHIP fast", "Mt-KaHyPar"])
    module = import_module("benchmarks.hardening.solvers.wrappers")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    rows = list(run(SHARE))
    assert [row.what for row in rows] == [
        "odd graphs: KaHIP fast, not installed",
        "odd graphs: Mt-KaHyPar, not installed",
    ]
    assert [(row.tried, row.good) for row in rows] == [(0, False)] * 2


@pytest.mark.parametrize("name", [name for name in wrappers() if is_installed(name)])
def test_what_is_counted_is_there(name: str) -> None:
    """Every place where calls are counted holds a function that can be replaced."""
    for place in library_of(name):
        module, _, path = place.partition(":")
        *owners, last = path.split(".")
        owner = import_module(module)
        for part in owners:
            owner = getattr(owner, part)
        assert callable(getattr(owner, last))


def given(name: str, limits: Limits = LIMITS) -> Account:
    return account(f"tests.hardening.bad_solvers::{name}", GIVEN, 0, limits)


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
    row = given(name).row()
    assert dict(row.wrong) == dict.fromkeys(KINDS, 0) | {kind: count}
    assert row.tried == GIVEN
    assert len(row.faults) == 1
    assert f"problem {BAD} of seed 0" in row.faults[0]
    assert said in row.faults[0]


@pytest.mark.parametrize(
    ("name", "limits"),
    [("hangs", Limits(asleep_s=5.0)), ("computes", Limits(cpu_s=5.0))],
)
def test_what_sleeps_or_computes_too_long_is_killed(name: str, limits: Limits) -> None:
    row = given(name, limits).row()
    assert (row.tried, row.wrong["hangs"], row.wrong["crashes"]) == (GIVEN, 1, 0)
    assert f"problem {BAD} of seed 0" in row.faults[0]


def test_what_waits_for_a_processor_does_not_hang() -> None:
    """However long it takes by the clock, as long as it computes now and then."""
    row = given("is_slow", Limits(cpu_s=5.0, asleep_s=3.0)).row()
    assert row.good
    assert float(row.figures["slowest"].removesuffix(" s")) >= SLOW_S  # told to two digits


def test_a_process_that_ends_badly_is_a_crash() -> None:
    row = given("ends_badly").row()
    assert row.wrong["crashes"] == 1
    assert "exit code 7" in row.faults[0]


def test_what_is_refused_is_well() -> None:
    row = given("refuses").row()
    assert row.good
    assert (row.figures["refused"], row.figures["placed"]) == ("1", str(GIVEN - 1))
    assert row.figures["its library failed"] == "0"


def test_a_library_that_fails_is_told_apart() -> None:
    """One clean error: well, but not a graph that somebody placed."""
    row = given("tells_of_failure").row()
    assert row.good
    assert (row.tried, row.figures["its library failed"]) == (GIVEN, "1")
    assert (row.figures["refused"], row.figures["placed"]) == ("0", str(GIVEN - 1))


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("is_given_none", "drawn besides: no problem"),
        ("refuses_before", "refused before"),
        ("does_without", "placed without it"),
    ],
)
def test_what_never_reaches_the_library_does_not_count(name: str, figure: str) -> None:
    """Another problem is drawn in its place."""
    row = given(name).row()
    assert (row.tried, row.good, row.figures["placed"]) == (GIVEN, True, str(GIVEN))
    assert row.figures[figure] == "1"


def test_a_wrapper_that_never_calls_its_library_is_not_well() -> None:
    """It is given no more problems than a bound."""
    row = given("never_asks").row()
    assert (row.tried, row.wrong["too few"], row.good) == (0, GIVEN, False)
    assert row.figures["placed without it"] == str(MOST_DRAWN * GIVEN)


def test_a_wrapper_that_places_nothing_is_not_well() -> None:
    row = given("places_none").row()
    assert (row.tried, row.good) == (GIVEN, False)
    assert dict(row.wrong) == dict.fromkeys(KINDS, 0) | {"too few placed": GIVEN // 2}


@pytest.mark.parametrize("placed", [0, 1, GIVEN // 2 - 1, GIVEN // 2, GIVEN])
def test_half_of_what_reaches_a_library_is_placed_at_least(placed: int) -> None:
    """One placed of many would not show that a wrapper works."""
    found = Account("x", "x", 0, GIVEN)
    for number in range(GIVEN):
        found.reach(number)
        came = "placed" if number < placed else "refused"
        said = {"said": "", "failed": False, "seconds": 0.0, "out": 0, "err": 0}
        found.note(number, {"came": came, **said})
    assert found.row().wrong["too few placed"] == max(0, GIVEN // 2 - placed)


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
