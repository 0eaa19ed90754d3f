"""What holds for every problem: conservation, bounds, and what must not change a score."""

from collections.abc import Iterator

from benchmarks.hardening.invariants.checking import check
from benchmarks.hardening.invariants.drawing import Checks, draw_problems
from benchmarks.hardening.rows import Row

PROBLEMS = 20_000
BLOCK = 500  # problems a run of Hypothesis


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Yield a row an invariant."""
    yield from of_problems(max(1, round(PROBLEMS * share)), seed)


def of_problems(count: int, seed: int) -> Iterator[Row]:
    """Yield a row an invariant of problems that Hypothesis draws."""
    checks = Checks()
    for block, begin in enumerate(range(0, count, BLOCK)):
        draw_problems(checks, seed * PROBLEMS + block, min(BLOCK, count - begin), check)
    for tally in checks.tallies.values():
        yield tally.row()
