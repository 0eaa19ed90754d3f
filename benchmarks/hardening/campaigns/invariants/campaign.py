"""Invariants of every problem: conservation, bounds, and changes that must not affect a score."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from benchmarks.hardening.campaigns.invariants.deviations import Deviations
from benchmarks.hardening.campaigns.invariants.drawn_problems import Checks, draw_problems
from benchmarks.hardening.campaigns.invariants.limits import against_all_placements
from benchmarks.hardening.campaigns.invariants.makespans import page_schedules
from benchmarks.hardening.campaigns.invariants.makespans.rows import of_makespans
from benchmarks.hardening.campaigns.invariants.oracle_comparison import against_oracle
from benchmarks.hardening.campaigns.invariants.page_comparison import against_page
from benchmarks.hardening.campaigns.invariants.problem_checks import (
    LOWERED_BY_SHARING,
    NEVER_HURTS,
    check,
)
from benchmarks.hardening.harness.rows import Row

PROBLEMS = 20_000
PASSES = 20_000  # problems under the makespan objective
LIMITED = 200  # problems for each kind of limit, each solved by every verb
PAIRS = 50_000  # pairs of a problem and a placement, for the comparisons with other scorers
BLOCK = 500  # problems that one run of Hypothesis draws


def run(share: float = 1.0, seed: int = 0, only: Sequence[str] | None = None) -> Iterator[Row]:
    """Yield one row per invariant."""
    for name in only or PARTS:
        yield from PARTS[name](share, seed)


def of_problems(count: int, seed: int) -> Iterator[Row]:
    """Yield one row per invariant of problems that Hypothesis draws."""
    checks = Checks()
    for block, begin in enumerate(range(0, count, BLOCK)):
        draw_problems(checks, seed * PROBLEMS + block, min(BLOCK, count - begin), check)
    for tally in checks.tallies.values():
        if tally.what == NEVER_HURTS:
            lowered = checks.watched.get(LOWERED_BY_SHARING, Deviations(LOWERED_BY_SHARING))
            tally.figures[LOWERED_BY_SHARING] = _text(lowered)
        yield tally.row()


def _text(tally: Deviations) -> str:
    lost = tally.largest / (1 + tally.largest)  # deviations are relative to the lower throughput
    return f"{tally.violations:,} of {tally.tried:,} times, by at most {lost:.1%}"


def _scaled(count: int, share: float) -> int:
    return max(1, round(count * share))


PARTS: dict[str, Callable[[float, int], Iterable[Row]]] = {
    "throughput": lambda share, seed: of_problems(_scaled(PROBLEMS, share), seed),
    "oracle": lambda share, seed: (
        tally.row() for tally in against_oracle(_scaled(PAIRS, share), seed)
    ),
    "page": lambda share, seed: [against_page(_scaled(PAIRS, share), seed).row()],
    "limits": lambda share, seed: against_all_placements(_scaled(LIMITED, share), seed),
    "makespans": lambda share, seed: of_makespans(_scaled(PASSES, share), seed),
    "page-schedules": lambda share, seed: [
        page_schedules.against_page(_scaled(PAIRS, share), seed).row()
    ],
}
"""Name -> the function of a share and a seed that checks some of the invariants."""
