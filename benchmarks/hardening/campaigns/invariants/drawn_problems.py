"""Problems drawn by Hypothesis, and counts of the checks on them."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, HypothesisException

from benchmarks.hardening.campaigns.invariants.deviations import EXACT, Deviations
from benchmarks.reference.strategies import Case
from benchmarks.reference.whole_problems import whole_cases
from streamplace import Placement
from streamplace.files.placements import placement_to

NO_ERROR = "every problem is handled without an error"


class ViolationError(AssertionError):
    """A problem violates an invariant."""


@dataclass
class Checks:
    """Tallies of all invariants while problems are drawn.

    Parameters
    ----------
    tallies
        The tallies of the invariants, by name.
    watched
        The tallies of properties that are only counted, since they need not hold.
    counting
        False after a violation: Hypothesis then shrinks the problem, and these attempts must not
        count as further problems.
    """

    tallies: dict[str, Deviations] = field(default_factory=dict)
    watched: dict[str, Deviations] = field(default_factory=dict)
    counting: bool = True

    def record(self, what: str, deviation: float, tolerance: float = EXACT) -> None:
        """Count one check of an invariant.

        Parameters
        ----------
        deviation
            How far the invariant is from holding; 0 if it holds exactly.
        tolerance
            The largest deviation that counts as rounding.

        Raises
        ------
        ViolationError
            If the invariant is violated.
        """
        tally = self.tallies.setdefault(what, Deviations(what, tolerance))
        counter = tally if self.counting else Deviations(what, tolerance)
        if not counter.record(deviation):
            raise ViolationError(what, deviation)

    def skip(self, what: str, why: str) -> None:
        """Count a problem to which an invariant is not applied, and the reason."""
        if self.counting:
            self.tallies.setdefault(what, Deviations(what)).skip(why)

    def watch(self, what: str, deviation: float) -> None:
        """Count one check of a property that need not hold."""
        if self.counting:
            self.watched.setdefault(what, Deviations(what)).record(deviation)


Check = Callable[[Checks, Case, st.DataObject], None]
"""Checks one case and records the results; draws further random choices from the last argument."""


def draw_problems(checks: Checks, number: int, count: int, check: Check) -> None:
    """Draw a block of problems and check each one; the block ends at the first violation.

    Parameters
    ----------
    number
        The number of the block, which seeds Hypothesis.
    count
        The number of problems in the block.
    check
        The function that checks each problem.
    """
    checks.counting = True
    smallest: dict[str, str] = {}  # invariant -> the smallest problem found that violates it

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
    )
    @seed(number)
    @given(case=whole_cases(), data=st.data())
    def draw(case: Case, data: st.DataObject) -> None:
        try:
            _check_without_error(checks, case, data, check)
        except ViolationError as violation:
            checks.counting = False
            what, deviation = violation.args
            because = f" ({violation.__context__!r})" if violation.__context__ else ""
            smallest[what] = f"block {number}: off by {deviation:.2g}{because}: {_case_text(case)}"
            raise

    with suppress(ViolationError, Flaky):  # a violation that does not recur also counts
        draw()
    for what, fault in smallest.items():
        checks.tallies[what].add_fault(fault)


def _check_without_error(checks: Checks, case: Case, data: st.DataObject, check: Check) -> None:
    """Check a problem; an unexpected error is a violation."""
    try:
        check(checks, case, data)
    except (ViolationError, HypothesisException):
        raise
    except Exception:
        checks.record(NO_ERROR, inf)
    checks.record(NO_ERROR, 0.0)


def _case_text(case: Case) -> str:
    return json.dumps(placement_to(Placement(*case)))
