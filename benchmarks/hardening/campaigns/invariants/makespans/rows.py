"""The invariants of makespans on random problems, one row per invariant."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf

import numpy as np

from benchmarks.hardening.campaigns.invariants.deviations import EXACT, Deviations
from benchmarks.hardening.campaigns.invariants.makespans import (
    proven_placements,
    refined_placements,
    schedule_rules,
    score_invariance,
)
from benchmarks.hardening.campaigns.invariants.makespans.numbered_passes import (
    LARGE,
    constrained,
    drawn,
    noisy,
    without_ties,
)
from benchmarks.hardening.campaigns.invariants.makespans.plain_comparison import differs_from_plain
from benchmarks.hardening.campaigns.invariants.makespans.proven_placements import PLACERS
from benchmarks.hardening.campaigns.invariants.placer_invariance import moved_by
from benchmarks.hardening.harness.rows import Row
from streamplace import Placement
from streamplace.scoring.makespan_score import MakespanScore
from streamplace.scoring.registry import makespan_score

NO_ERROR = "makespans: every problem is handled without an error"
PLAIN = "makespans: schedules against the plain engine"
BOUND = "makespans: bound within the makespan"
INPUTS = "makespans: operators start after their inputs have arrived"
MESSAGES = "makespans: every message is sent and arrives once"
CORES = "makespans: operators use at most the cores of their device"
CHANNELS = "makespans: messages do not share channels"
SAME_PLACEMENT = "makespans: placers, other names, other order of streams, repeats"
PLAIN_LARGE = 10  # of so many large problems, the plain engine, which is slow, schedules one
CHECKED_WITH_PLACERS = 20  # of so many problems, placers place one
Checked = Iterator[tuple[str, float]]
"""Names of invariants and deviations from them."""


@dataclass
class Tallies:
    """The tallies of invariants, by name."""

    of: dict[str, Deviations] = field(default_factory=dict)

    def record(self, what: str, deviation: float, where: str, tolerance: float = EXACT) -> None:
        """Count one check of an invariant, and describe the problem that violates it."""
        tally = self.of.setdefault(what, Deviations(what, tolerance))
        if not tally.record(deviation):
            tally.add_fault(where)


def of_makespans(count: int, seed: int) -> Iterator[Row]:
    """Yield one row per invariant of the problems of numbers 0 to `count` - 1."""
    tallies = Tallies()
    tolerances = {change.what: change.tolerance for change in score_invariance.CHANGES}
    for number in range(count):
        where = f"numbered_passes.drawn({number}, {seed})"
        try:
            for what, deviation in checked(number, seed):
                tallies.record(what, deviation, where, tolerances.get(what, EXACT))
        except Exception as error:
            tallies.record(NO_ERROR, inf, f"{where}: {error!r}")
        else:
            tallies.record(NO_ERROR, 0.0, where)
    for tally in tallies.of.values():
        yield tally.row()


def checked(number: int, seed: int) -> Checked:
    """Yield the deviation from every invariant of the problem of a number."""
    form, placement = drawn(number, seed)
    score = makespan_score(placement)
    if number % LARGE or number % (LARGE * PLAIN_LARGE) == 0:
        yield PLAIN, differs_from_plain(form, score)
    yield from obeyed(score)
    rng = np.random.default_rng((seed, number))
    yield from unchanged(placement, number, rng)
    yield from unchanged_in_another_order(placement, without_ties(number, seed), rng)
    problem = constrained(placement.problem, rng)
    if number % CHECKED_WITH_PLACERS == 1:
        for name in PLACERS:
            yield SAME_PLACEMENT, moved_by(name, problem, rng)
        yield from refined_placements.checks_of(problem, rng)
    if number % CHECKED_WITH_PLACERS < CHECKED_WITH_PLACERS // 4 and proven_placements.is_small(
        problem
    ):
        yield from proven_placements.checks_of(problem)


def obeyed(score: MakespanScore) -> Checked:
    """Yield the deviations from the rules that every schedule obeys."""
    yield INPUTS, schedule_rules.late_inputs(score)
    yield MESSAGES, schedule_rules.wrong_messages(score)
    yield CORES, schedule_rules.overused_cores(score)
    yield CHANNELS, schedule_rules.shared_channels(score)
    yield BOUND, max(0.0, (score.bound_s or 0.0) - score.makespan_s)


def unchanged(placement: Placement, number: int, rng: np.random.Generator) -> Checked:
    """Yield the differences of a score after each change that must not affect it."""
    one = noisy(placement, number)
    score = makespan_score(one)
    for change in score_invariance.CHANGES:
        other = change.change(one, rng)
        yield change.what, score_invariance.difference(score, other, change)


def unchanged_in_another_order(
    placement: Placement, untied: Placement, rng: np.random.Generator
) -> Checked:
    """Yield the differences after a change of the order of operators, which breaks ties."""
    score, change = makespan_score(untied), score_invariance.REORDERED
    yield change.what, score_invariance.difference(score, change.change(untied, rng), change)
    other = change.change(placement, rng)
    different = score_invariance.bounds_differ(makespan_score(placement), other)
    yield score_invariance.BOUNDS_REORDERED, different
