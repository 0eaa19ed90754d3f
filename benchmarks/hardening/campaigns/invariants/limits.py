"""What verbs claim under every kind of limit, against all placements of small problems."""

from collections.abc import Iterator

from benchmarks.hardening.campaigns.invariants.deviations import Deviations
from benchmarks.hardening.harness.rows import Row
from benchmarks.reference.limit_problems import LIMITS
from benchmarks.reference.limit_verbs import VERBS


def against_all_placements(count: int, seed: int) -> Iterator[Row]:
    """Yield a row per verb, of so many random problems for each kind of limit."""
    for verb, check in VERBS.items():
        tally = Deviations(f"{len(LIMITS)} kinds of limits against all placements: {verb}")
        for limit in LIMITS:
            for number in range(seed * count, (seed + 1) * count):
                try:
                    check(limit, number)
                except Exception as error:  # any other than the one expected is a violation, too
                    tally.record(1.0)
                    tally.add_fault(f"{limit} {number}: {type(error).__name__}: {error}")
                else:
                    tally.record(0.0)
        yield tally.row()
