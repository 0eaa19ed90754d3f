"""The optimum under `bottleneck`, by deciding repeatedly whether a better placement exists."""

from itertools import count

from streamplace.placers.exact.cp_sat import Model
from streamplace.placers.exact.decision import DecisionProblem, Outcome
from streamplace.placers.exact.incumbent import Incumbent
from streamplace.placers.search.annealing import Budget
from streamplace.scoring.rounding import ROUNDING

QUICK = 30_000  # nodes that settle most decision problems
BISECTIONS, SHALLOW = 8, 10_000  # decision problems that narrow the gap, and nodes for each
NODES, EFFORT = 300_000, 1.0  # first turn of the search and of CP-SAT (s); doubled every turn


def refute_all(incumbent: Incumbent, clock: Budget, workers: int, seed: int) -> None:
    """Raise the incumbent and lower the upper bound until they meet or time is up."""
    narrowed = False
    while not incumbent.closed and clock.seconds_left() > 0:
        decision = DecisionProblem(incumbent.problem, incumbent.rate_to_beat)
        outcome = decision.search(QUICK, clock)
        if outcome.open and not narrowed:
            narrowed = True
            if _narrow(incumbent, clock):
                continue
        if outcome.open:
            outcome = _decide(decision, clock, workers, seed)
        if outcome.open or not _settle(incumbent, decision, outcome):
            return


def _narrow(incumbent: Incumbent, clock: Budget) -> bool:
    """Bisect the gap with easier decision problems; return whether the incumbent improved."""
    improved, low = False, incumbent.reached
    for _ in range(BISECTIONS):
        if incumbent.bound <= low * (1.0 + ROUNDING):
            break
        middle = 0.5 * (low + incumbent.bound)
        decision = DecisionProblem(incumbent.problem, middle)
        outcome = decision.search(SHALLOW, clock)
        if outcome.open:
            low = middle
        elif _settle(incumbent, decision, outcome) and outcome.found:
            improved, low = True, incumbent.reached
    return improved


def _decide(decision: DecisionProblem, clock: Budget, workers: int, seed: int) -> Outcome:
    """Run the search and CP-SAT in turn, longer each time, until one decides or time is up."""
    model = Model(decision, workers, seed) if Model.is_small(decision) else None
    outcome = Outcome()
    for turn in count():
        outcome = decision.search(NODES << turn, clock)
        if outcome.open and model is not None:
            outcome = model.search(EFFORT * 2**turn, clock)
        if not outcome.open or clock.seconds_left() <= 0:
            return outcome
    return outcome


def _settle(incumbent: Incumbent, decision: DecisionProblem, outcome: Outcome) -> bool:
    """Apply the outcome of a decision problem and return whether it changed the incumbent."""
    if outcome.found is not None:
        return incumbent.offer(outcome.found)
    incumbent.none_reaches(decision.rate)
    return outcome.proven
