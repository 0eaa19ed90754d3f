"""Solvers on a share of the unusual problems, and faults of solvers are counted."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.hardening.campaigns.solvers import campaign, hang_detection
from benchmarks.hardening.campaigns.solvers.campaign import run
from benchmarks.hardening.campaigns.solvers.graph_shapes import SHAPES
from benchmarks.hardening.campaigns.solvers.hang_detection import LIMITS, Limits
from benchmarks.hardening.campaigns.solvers.unusual_problems import (
    LARGE_EVERY,
    NUMBERS,
    NoProblemError,
    unusual_problem,
)
from benchmarks.hardening.campaigns.solvers.wrapper_results import (
    KINDS,
    MAX_DRAWN,
    WrapperResults,
    run_wrapper,
)
from benchmarks.hardening.campaigns.solvers.wrappers import (
    answer_fault,
    is_installed,
    library_of,
    wrappers,
)
from benchmarks.partitioners import kahip_weights
from streamplace import Constraints, Placement, Problem
from streamplace.placers.registry import PLACERS
from tests.support.graphs import chain_graph
from tests.support.hardening.faulty_solvers import BAD

SHARE = 0.005  # 25 graphs
GOAL = 6


def test_every_wrapper_passes() -> None:
    """Every counted graph has reached the library, and most have been placed."""
    rows = list(run(SHARE))
    names = [row.what.removeprefix("unusual graphs: ").partition(",")[0] for row in rows]
    assert names == [name.partition(",")[0] for name in wrappers()]
    for row in rows:
        if row.what.endswith(", not installed"):
            assert (row.tried, row.good) == (0, False)
            continue
        assert row.tried == 25
        assert row.good, f"{row}: {row.faults}"
        assert int(row.figures["placed"]) > 12


def test_every_wrapping_placer_is_tried() -> None:
    plain = {"auto", "single", "round-robin", "random"}
    assert {name.partition(":")[0] for name in wrappers()} >= set(PLACERS) - plain


def test_a_missing_library_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "wrappers", lambda: ["KaHIP fast", "Mt-KaHyPar"])
    module = import_module("benchmarks.hardening.campaigns.solvers.wrappers")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    rows = list(run(SHARE))
    assert [row.what for row in rows] == [
        "unusual graphs: KaHIP fast, not installed",
        "unusual graphs: Mt-KaHyPar, not installed",
    ]
    assert [(row.tried, row.good) for row in rows] == [(0, False)] * 2


@pytest.mark.parametrize("name", [name for name in wrappers() if is_installed(name)])
def test_every_library_function_exists(name: str) -> None:
    """Every place of a library contains a function that the counter can replace."""
    for place in library_of(name):
        module, _, path = place.partition(":")
        *owners, last = path.split(".")
        owner = import_module(module)
        for part in owners:
            owner = getattr(owner, part)
        assert callable(getattr(owner, last))


def run_faulty(name: str, limits: Limits = LIMITS) -> WrapperResults:
    return run_wrapper(f"tests.support.hardening.faulty_solvers::{name}", GOAL, 0, limits)


@pytest.mark.parametrize(
    ("name", "kind", "count", "message"),
    [
        ("aborts", "crashes", 1, "exit code -6"),
        ("exits", "crashes", 1, "exit code 0"),
        ("is_killed", "crashes", 1, "exit code -11"),
        ("prints", "bytes on stdout", 12, "printed 12 and 0 bytes"),
        ("complains", "bytes on stderr", 12, "printed 0 and 12 bytes"),
        ("raises", "errors", 1, "ZeroDivisionError: by nothing"),
        ("places_wrongly", "invalid", 1, "an operator is nowhere"),
    ],
)
def test_faulty_solvers_are_noticed(name: str, kind: str, count: int, message: str) -> None:
    """The row names the problem, and later problems are still tried."""
    row = run_faulty(name).row()
    assert dict(row.wrong) == dict.fromkeys(KINDS, 0) | {kind: count}
    assert row.tried == GOAL
    assert len(row.faults) == 1
    assert f"problem {BAD} of seed 0" in row.faults[0]
    assert message in row.faults[0]


@pytest.mark.parametrize(
    ("name", "limits"),
    [("hangs", Limits(asleep_s=10.0)), ("computes", Limits(cpu_s=10.0))],
)
def test_a_solver_that_does_not_end_is_killed(name: str, limits: Limits) -> None:
    row = run_faulty(name, limits).row()
    assert (row.tried, row.wrong["hangs"], row.wrong["crashes"]) == (GOAL, 1, 0)
    assert f"problem {BAD} of seed 0" in row.faults[0]


@pytest.mark.parametrize(
    ("cpu_per_wall_s", "limits", "hangs"),
    [
        (0.1, Limits(cpu_s=5.0, asleep_s=3.0), False),  # shares a processor, or waits for it
        (0.005, Limits(cpu_s=5.0, asleep_s=3.0), True),
        (0.005, Limits(cpu_s=5.0, asleep_s=60.0), False),
        (1.0, Limits(cpu_s=5.0, asleep_s=3.0), True),
    ],
)
def test_hangs_are_detected_from_cpu_time_and_sleep(
    cpu_per_wall_s: float, limits: Limits, hangs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A simulated process is watched for 20 seconds of a simulated clock."""
    clock = [0.0]
    monkeypatch.setattr(hang_detection, "cpu_s", lambda pid: cpu_per_wall_s * clock[0])
    monkeypatch.setattr(hang_detection, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    detector = hang_detection.HangDetector(0, limits)
    found = False
    while clock[0] < 20.0:
        clock[0] += 0.5
        found = found or detector.hangs()
    assert found is hangs


def test_a_process_that_ends_badly_is_a_crash() -> None:
    row = run_faulty("ends_badly").row()
    assert row.wrong["crashes"] == 1
    assert "exit code 7" in row.faults[0]


def test_refusals_are_not_faults() -> None:
    row = run_faulty("refuses").row()
    assert row.good
    assert (row.figures["refused"], row.figures["placed"]) == ("1", str(GOAL - 1))
    assert row.figures["library failed"] == "0"


def test_failures_of_a_library_are_counted_separately() -> None:
    """A clear error is not a fault, but the graph does not count as placed."""
    row = run_faulty("reports_failure").row()
    assert row.good
    assert (row.tried, row.figures["library failed"]) == (GOAL, "1")
    assert (row.figures["refused"], row.figures["placed"]) == ("0", str(GOAL - 1))


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("draws_no_problem", "not tried: not a valid problem"),
        ("refuses_before_the_call", "not tried: refused without the library"),
        ("places_without_the_library", "not tried: placed without the library"),
    ],
)
def test_problems_that_never_reach_the_library_do_not_count(name: str, figure: str) -> None:
    """Another problem is drawn instead."""
    row = run_faulty(name).row()
    assert (row.tried, row.good, row.figures["placed"]) == (GOAL, True, str(GOAL))
    assert row.figures[figure] == "1"


def test_a_wrapper_that_never_calls_its_library_is_not_good() -> None:
    """The number of problems that it tries is limited."""
    row = run_faulty("never_calls").row()
    assert (row.tried, row.wrong["too few"], row.good) == (0, GOAL, False)
    assert row.figures["not tried: placed without the library"] == str(MAX_DRAWN * GOAL)


def test_a_wrapper_that_places_nothing_is_not_good() -> None:
    row = run_faulty("places_none").row()
    assert (row.tried, row.good) == (GOAL, False)
    assert dict(row.wrong) == dict.fromkeys(KINDS, 0) | {"too few placed": GOAL // 2}


@pytest.mark.parametrize("placed", [0, 1, GOAL // 2 - 1, GOAL // 2, GOAL])
def test_at_least_half_of_the_problems_must_be_placed(placed: int) -> None:
    """A single placed problem would not show that a wrapper works."""
    found = WrapperResults("x", "x", 0, GOAL)
    for number in range(GOAL):
        found.reach(number)
        outcome = "placed" if number < placed else "refused"
        message = {"message": "", "failed": False, "seconds": 0.0, "out": 0, "err": 0}
        found.note(number, {"outcome": outcome, **message})
    assert found.row().wrong["too few placed"] == max(0, GOAL // 2 - placed)


def test_a_solver_that_never_starts_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="does not start: exit code 1 ImportError: no such lib"):
        run_faulty("never_starts")


def test_a_placement_that_breaks_a_rule_is_invalid() -> None:
    rules = Constraints(colocate=[["a", "b"]])
    placement = Placement(Problem(chain_graph(1.0, 1.0), "2x1000", constraints=rules), [0, 1])
    reason = "is not on the device of the operators that it is colocated with"
    assert answer_fault(placement) == f"operator 'a' {reason}"
    assert answer_fault(Placement(placement.problem, [1, 1])) is None
    assert answer_fault([0, 1]) == "returned a list"


def test_problems_cover_all_shapes_and_numbers() -> None:
    """They have all shapes, all kinds of work and 1 to 10,000 operators, and are reproducible."""
    sizes, rules, refused = set(), 0, 0
    for number in range(len(SHAPES) * len(NUMBERS)):
        try:
            problem = unusual_problem(number, 0)
        except NoProblemError:
            refused += 1
            continue
        sizes.add(len(problem.graph.names))
        rules += bool(problem.constraints)
        assert problem.graph.sha256 == unusual_problem(number, 0).graph.sha256
    assert sizes >= {1, 2, 40}
    assert 0 < refused < 60
    assert rules > 10
    large = [_size(number) for number in range(LARGE_EVERY - 1, 12 * LARGE_EVERY, LARGE_EVERY)]
    assert np.nanmax(large) == 10_000
    assert np.isnan(large).sum() < 6


def _size(number: int) -> float:
    try:
        return float(len(unusual_problem(number, 0).graph.names))
    except NoProblemError:
        return np.nan


def test_weights_for_kahip_are_positive_and_not_too_large() -> None:
    weights = np.array([0, 3 << 28, 1 << 28])
    assert kahip_weights(weights).tolist() == [1, 750_000, 250_000]
    assert kahip_weights(np.array([0, 7, 5])).tolist() == [1, 7, 5]
    assert kahip_weights(np.full(10_000, 1 << 15)).tolist() == [1_000] * 10_000
