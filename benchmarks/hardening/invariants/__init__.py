"""What holds for every problem: conservation, bounds, and what must not change a score."""

from collections.abc import Iterator

from benchmarks.hardening.invariants.checking import HURTS_NOBODY, SHARED, check
from benchmarks.hardening.invariants.drawing import Checks, draw_problems
from benchmarks.hardening.invariants.oracle import against_oracle
from benchmarks.hardening.invariants.page import against_page
from benchmarks.hardening.invariants.tallies import Deviations
from benchmarks.hardening.rows import Row

PROBLEMS = 20_000
PAIRS = 50_000  # of a problem and a placement
BLOCK = 500  # problems a run of Hypothesis


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Yield a row an invariant."""
    yield from of_problems(max(1, round(PROBLEMS * share)), seed)
    pairs = max(1, round(PAIRS * share))
    for tally in against_oracle(pairs, seed):
        yield tally.row()
    yield against_page(pairs, seed).row()


def of_problems(count: int, seed: int) -> Iterator[Row]:
    """Yield a row an invariant of problems that Hypothesis draws."""
    checks = Checks()
    for block, begin in enumerate(range(0, count, BLOCK)):
        draw_problems(checks, seed * PROBLEMS + block, min(BLOCK, count - begin), check)
    for tally in checks.tallies.values():
        if tally.what == HURTS_NOBODY:
            tally.figures[SHARED] = _told(checks.watched.get(SHARED, Deviations(SHARED)))
        yield tally.row()


def _told(tally: Deviations) -> str:
    return f"{tally.violations:,} of {tally.tried:,} times, by at most {tally.largest:.1%}"
