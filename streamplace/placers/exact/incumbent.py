"""The incumbent: the best known placement of a problem, with an upper bound on all placements."""

from streamplace.placers.base import Found
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.rounding import ROUNDING
from streamplace.scoring.throughput import bound, throughput

# Far above the effect of summing loads in another order. If no placement reaches `rate_to_beat`,
# the bound is two of these margins above `reached`; this must be below ROUNDING to close the gap.
MARGIN = 0.4 * ROUNDING


class Incumbent:
    """Lower and upper bound on the best throughput, with the placement that reaches the lower one.

    Parameters
    ----------
    placement
        A feasible placement to start from.

    Attributes
    ----------
    reached, bound
        The throughput of `placement`, and the upper bound on any placement, in tuples/s.
    """

    def __init__(self, problem: Problem, placement: Placement) -> None:
        self.problem, self.placement = problem, placement
        self.reached = float(throughput(problem, placement.devices)[0])
        self.bound = bound(problem)

    @property
    def closed(self) -> bool:
        """Whether the bounds have met, so that no placement is better."""
        return self.bound <= self.reached * (1.0 + ROUNDING)

    @property
    def rate_to_beat(self) -> float:
        """Tuples/s that a placement has to reach to be better by more than rounding."""
        return self.reached * (1.0 + MARGIN)

    def offer(self, placement: Placement, reached: float | None = None) -> bool:
        """Keep a feasible placement if it is better, and return whether it is.

        Parameters
        ----------
        reached
            Its throughput in tuples/s, if known.
        """
        scored = (
            float(throughput(self.problem, placement.devices)[0]) if reached is None else reached
        )
        better = scored > self.reached
        if better:
            self.placement, self.reached = placement, scored
        return better

    def none_reaches(self, rate: float) -> None:
        """Record that no placement reaches `rate` tuples/s, up to rounding."""
        self.bound = min(self.bound, rate * (1.0 + MARGIN))

    def proof(self) -> Found:
        """Return the current placement and bound."""
        return Found(self.placement, max(self.bound, self.reached), self.closed)
