"""Invariants of every problem: conservation, bounds, and changes that must not affect a score."""

from collections.abc import Iterator

from benchmarks.hardening.campaigns.invariants.deviations import Deviations
from benchmarks.hardening.campaigns.invariants.drawn_problems import Checks, draw_problems
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
PAIRS = 50_000  # pairs of a problem and a placement, for the comparisons with other scorers
BLOCK = 500  # problems that one run of Hypothesis draws


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Yield one row per invariant."""
    yield from of_problems(max(1, round(PROBLEMS * share)), seed)
    pairs = max(1, round(PAIRS * share))
    for tally in against_oracle(pairs, seed):
        yield tally.row()
    yield against_page(pairs, seed).row()
    yield from of_makespans(max(1, round(PASSES * share)), seed)
    yield page_schedules.against_page(pairs, seed).row()


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
    return f"{tally.violations:,} of {tally.tried:,} times, by at most {tally.largest:.1%}"
