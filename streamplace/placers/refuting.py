"""The optimum under `bottleneck`: claims that no placement is better, proven or disproven."""

from itertools import count

from streamplace.placers.annealing import Budget
from streamplace.placers.bracket import TOLERANCE, Bracket
from streamplace.placers.claim import Claim, Outcome
from streamplace.placers.cp_sat import Model

QUICK = 30_000  # nodes within which most claims are settled
BISECTIONS, SHALLOW = 8, 10_000  # claims made to narrow the bracket, and nodes for each
NODES, EFFORT = 300_000, 1.0  # of the first turn of each of the two provers; then twice that, …


def refute_all(bracket: Bracket, clock: Budget, workers: int, seed: int) -> None:
    """Close a bracket, or narrow it for as long as there is time."""
    narrowed = False
    while not bracket.closed and clock.seconds_left() > 0:
        claim = Claim(bracket.problem, bracket.better)
        outcome = claim.look(QUICK, clock)
        if outcome.open and not narrowed:
            narrowed = True
            if _narrow(bracket, clock):
                continue
        if outcome.open:
            outcome = _insist(claim, clock, workers, seed)
        if outcome.open or not _settle(bracket, claim, outcome):
            return


def _narrow(bracket: Bracket, clock: Budget) -> bool:
    """Settle easier claims, that nothing is better by far; return whether something was."""
    improved, low = False, bracket.reached
    for _ in range(BISECTIONS):
        if bracket.most <= low * (1.0 + TOLERANCE):
            break
        middle = 0.5 * (low + bracket.most)
        claim = Claim(bracket.problem, middle)
        outcome = claim.look(SHALLOW, clock)
        if outcome.open:
            low = middle
        elif _settle(bracket, claim, outcome) and outcome.found:
            improved, low = True, bracket.reached
    return improved


def _insist(claim: Claim, clock: Budget, workers: int, seed: int) -> Outcome:
    """Ask both provers in turn, for longer and longer, until one settles it or time is up."""
    model = Model(claim, workers, seed) if Model.is_small(claim) else None
    outcome = Outcome()
    for turn in count():
        outcome = claim.look(NODES << turn, clock)
        if outcome.open and model is not None:
            outcome = model.look(EFFORT * 2**turn, clock)
        if not outcome.open or clock.seconds_left() <= 0:
            return outcome
    return outcome


def _settle(bracket: Bracket, claim: Claim, outcome: Outcome) -> bool:
    """Take what came of a claim; return whether it changes anything."""
    if outcome.found is not None:
        return bracket.offer(outcome.found)
    bracket.none_reaches(claim.wanted)
    return outcome.proven
