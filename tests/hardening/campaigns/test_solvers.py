"""Solvers on a share of odd problems; and faults of solvers are counted."""

from importlib import import_module

import numpy as np
import pytest

from benchmarks.hardening.campaigns.solvers import campaign
from benchmarks.hardening.campaigns.solvers.account import KINDS, MOST_DRAWN, Account, run_wrapper
from benchmarks.hardening.campaigns.solvers.campaign import run
from benchmarks.hardening.campaigns.solvers.graph_shapes import SHAPES
from benchmarks.hardening.campaigns.solvers.hang_detection import LIMITS, Limits
from benchmarks.hardening.campaigns.solvers.odd_problems import (
    LARGE_EVERY,
    NUMBERS,
    NoProblemError,
    odd_problem,
)
from benchmarks.hardening.campaigns.solvers.wrappers import (
    answer_fault,
    is_installed,
    library_of,
    wrappers,
)
from streamplace import Constraints, Placement, Problem
from streamplace.placers.registry import PLACERS
from tests.support.graphs import chain_graph
from tests.support.hardening.faulty_solvers import BAD, SLOW_S

SHARE = 0.005  # 25 graphs
GIVEN = 6


def test_every_wrapper_is_good() -> None:
    """Every counted graph has reached the library, and most were placed."""
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


def test_every_wrapping_placer_is_tried() -> None:
    plain = {"single", "round-robin", "random"}
    assert {name.partition(":")[0] for name in wrappers()} >= set(PLACERS) - plain


def test_a_missing_library_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "wrappers", lambda: ["KaHIP fast", "Mt-KaHyPar"])
    module = import_module("benchmarks.hardening.campaigns.solvers.wrappers")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    rows = list(run(SHARE))
    assert [row.what for row in rows] == [
        "odd graphs: KaHIP fast, not installed",
        "odd graphs: Mt-KaHyPar, not installed",
    ]
    assert [(row.tried, row.good) for row in rows] == [(0, False)] * 2


@pytest.mark.parametrize("name", [name for name in wrappers() if is_installed(name)])
def test_every_library_function_exists(name: str) -> None:
    """Every place of a library holds a function that can be replaced."""
    for place in library_of(name):
        module, _, path = place.partition(":")
        *owners, last = path.split(".")
        owner = import_module(module)
        for part in owners:
            owner = getattr(owner, part)
        assert callable(getattr(owner, last))


def given(name: str, limits: Limits = LIMITS) -> Account:
    return run_wrapper(f"tests.support.hardening.faulty_solvers::{name}", GIVEN, 0, limits)


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
def test_faulty_solvers_are_noticed(name: str, kind: str, count: int, said: str) -> None:
    """The row names the problem, and later problems are tried all the same."""
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
def test_too_much_sleep_or_computing_is_a_hang(name: str, limits: Limits) -> None:
    row = given(name, limits).row()
    assert (row.tried, row.wrong["hangs"], row.wrong["crashes"]) == (GIVEN, 1, 0)
    assert f"problem {BAD} of seed 0" in row.faults[0]


def test_waiting_for_a_processor_is_not_hanging() -> None:
    """Wall time does not matter while the process computes now and then."""
    row = given("is_slow", Limits(cpu_s=5.0, asleep_s=3.0)).row()
    assert row.good
    assert float(row.figures["slowest"].removesuffix(" s")) >= SLOW_S  # told to two digits


def test_a_process_that_ends_badly_is_a_crash() -> None:
    row = given("ends_badly").row()
    assert row.wrong["crashes"] == 1
    assert "exit code 7" in row.faults[0]


def test_refusals_are_no_faults() -> None:
    row = given("refuses").row()
    assert row.good
    assert (row.figures["refused"], row.figures["placed"]) == ("1", str(GIVEN - 1))
    assert row.figures["its library failed"] == "0"


def test_failures_of_a_library_are_counted_apart() -> None:
    """A clean error is no fault, but the graph does not count as placed."""
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
def test_problems_that_never_reach_the_library_do_not_count(name: str, figure: str) -> None:
    """Another problem is drawn instead."""
    row = given(name).row()
    assert (row.tried, row.good, row.figures["placed"]) == (GIVEN, True, str(GIVEN))
    assert row.figures[figure] == "1"


def test_a_wrapper_that_never_calls_its_library_is_not_good() -> None:
    """The number of problems that it is given is bounded."""
    row = given("never_asks").row()
    assert (row.tried, row.wrong["too few"], row.good) == (0, GIVEN, False)
    assert row.figures["placed without it"] == str(MOST_DRAWN * GIVEN)


def test_a_wrapper_that_places_nothing_is_not_good() -> None:
    row = given("places_none").row()
    assert (row.tried, row.good) == (GIVEN, False)
    assert dict(row.wrong) == dict.fromkeys(KINDS, 0) | {"too few placed": GIVEN // 2}


@pytest.mark.parametrize("placed", [0, 1, GIVEN // 2 - 1, GIVEN // 2, GIVEN])
def test_at_least_half_of_the_problems_must_be_placed(placed: int) -> None:
    """A single placed problem would not show that a wrapper works."""
    found = Account("x", "x", 0, GIVEN)
    for number in range(GIVEN):
        found.reach(number)
        came = "placed" if number < placed else "refused"
        said = {"said": "", "failed": False, "seconds": 0.0, "out": 0, "err": 0}
        found.note(number, {"came": came, **said})
    assert found.row().wrong["too few placed"] == max(0, GIVEN // 2 - placed)


def test_a_solver_that_never_starts_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="does not start: exit code 1 ImportError: no such lib"):
        given("never_starts")


def test_a_placement_that_breaks_a_rule_is_invalid() -> None:
    rules = Constraints(colocate=[["a", "b"]])
    placement = Placement(Problem(chain_graph(1.0, 1.0), "2x1000", constraints=rules), [0, 1])
    assert answer_fault(placement) == "operator 'a' is not with the operators it is colocated with"
    assert answer_fault(Placement(placement.problem, [1, 1])) is None
    assert answer_fault([0, 1]) == "returned a list"


def test_problems_cover_all_shapes_and_numbers() -> None:
    """They cover all shapes, all kinds of work, and 1 to 10,000 operators, and are repeatable."""
    sizes, rules, refused = set(), 0, 0
    for number in range(len(SHAPES) * len(NUMBERS)):
        try:
            problem = odd_problem(number, 0)
        except NoProblemError:
            refused += 1
            continue
        sizes.add(len(problem.graph.names))
        rules += bool(problem.constraints)
        assert problem.graph.sha256 == odd_problem(number, 0).graph.sha256
    assert sizes >= {1, 2, 40}
    assert 0 < refused < 60
    assert rules > 10
    large = [_size(number) for number in range(LARGE_EVERY - 1, 12 * LARGE_EVERY, LARGE_EVERY)]
    assert np.nanmax(large) == 10_000
    assert np.isnan(large).sum() < 6


def _size(number: int) -> float:
    try:
        return float(len(odd_problem(number, 0).graph.names))
    except NoProblemError:
        return np.nan
