"""Balance: the lowest largest utilisation among placements that carry everything offered."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from streamplace.errors import UsageError
from streamplace.placers.search.annealing import Budget
from streamplace.placers.search.chains import best_of_chains
from streamplace.placers.search.consolidate import consolidate, fewest_devices
from streamplace.placers.search.exhaustive import best_and_cheapest
from streamplace.problem.objective import MAX_RATE, MIN_VALUE, Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.quality import qualities
from streamplace.scoring.throughput import ceiling

Prefer = Literal["balance", "fewest"]
"""What is improved once everything offered is carried: the largest utilisation, or the number of
devices and then the traffic between them."""

AS_GOOD = 1.0 / 1.01  # share of the highest sustained rate that counts as equally good
CARRIED = 1.0 - 1e-9  # relative throughput from which everything counts as carried
SECONDS = 0.1  # of the search, at most
SHARE = 0.5  # of the remaining budget, at most; consolidation follows
STARTS = 4  # the search starts from this many of the best placements
FEW_PLACEMENTS = 5_000  # if there are at most this many placements, all of them are tried


def carries_all(problem: Problem, placements: Sequence[Placement]) -> bool:
    """Return whether a placement carries everything that the sources offer.

    The result is False for a custom objective.
    """
    if type(problem.objective) is not Throughput:
        return False
    return bool(qualities(problem, placements).max() >= CARRIED)


def balanced(
    problem: Problem, rng: np.random.Generator, placements: Sequence[Placement], budget: Budget
) -> Placement:
    """Return a placement whose largest utilisation is low, on few devices, with little traffic.

    Utilisations are those of the model ``bottleneck`` at the highest source rate. Of the placements
    whose largest utilisation is within 1% of the lowest one found, the result is the one with the
    fewest devices, then the least traffic. The search ends within 1% of the lower bound, or after
    0.1 s.
    """
    loaded = overloaded(problem)
    known = [Placement(loaded, placement.devices) for placement in placements]
    every = best_and_cheapest(loaded, AS_GOOD, FEW_PLACEMENTS)
    reached = qualities(loaded, known)
    if not every and reached.max() < AS_GOOD:
        rows = [known[i].devices for i in np.argsort(-reached, kind="stable")[:STARTS]]
        search = budget.share(SHARE).within(SECONDS)
        known.append(best_of_chains(loaded, rng, rows, search, wanted=AS_GOOD))
    known += every
    chosen = consolidate(loaded, rng, known, budget, _as_good(problem, loaded, known))
    return Placement(problem, chosen.devices)


def most_balanced(problem: Problem, placements: Sequence[Placement]) -> Placement:
    """Return the placement that `balanced` would choose, without a search for others."""
    loaded = overloaded(problem)
    carrying = np.flatnonzero(qualities(problem, placements) >= CARRIED).tolist()
    known = [Placement(loaded, placements[i].devices) for i in carrying]
    chosen = fewest_devices(loaded, known, AS_GOOD)
    return Placement(problem, chosen.devices)


def overloaded(problem: Problem) -> Problem:
    """Return the problem under ``bottleneck`` at the lowest rate that is above every bound.

    Relative throughput is then inverse to the largest utilisation, and at most 1. The rate is one
    that an objective can have, so that it is `MAX_RATE` if no bound is known or nothing limits the
    source rate.
    """
    full = ceiling(_linear(problem, problem.source_rate))
    return _linear(problem, min(max(full, MIN_VALUE), MAX_RATE))


def balances(prefer: Prefer | None, start: Placement | None) -> bool:
    """Return whether to balance: unless something else is preferred or there is a placement."""
    return prefer == "balance" or (prefer is None and start is None)


def check_prefer(placer: str, prefer: str | None) -> None:
    """Raise UsageError if a placer's preference is unknown."""
    choices = get_args(Prefer)
    if prefer is not None and prefer not in choices:
        message = f"prefer must be {' or '.join(choices)} (got {prefer!r})"
        raise UsageError(f"{placer}: {message}")


def _as_good(problem: Problem, loaded: Problem, known: Sequence[Placement]) -> float:
    """Return the share of the highest sustained rate that counts as equally good.

    It is higher than usual if the source rate itself would not be sustained otherwise.
    """
    highest = float(qualities(loaded, known).max()) * loaded.source_rate
    return max(AS_GOOD, min(1.0, problem.source_rate / highest))


def _linear(problem: Problem, rate: float) -> Problem:
    """Return the problem at a source rate, under the model whose loads are linear in the rate."""
    return problem.with_objective(problem.throughput_objective.with_changes(rate, "bottleneck"))
