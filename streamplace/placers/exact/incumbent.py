"""The incumbent: the best placement known of a problem, and what none exceeds."""

from streamplace.placers.base import Proof
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.throughput import bound, throughput

TOLERANCE = 1e-9  # relative: placements that differ by less are equally good
ROUNDING = 0.4 * TOLERANCE  # far more than what summing loads in another order changes


class Incumbent:
    """Closes in on the optimum from both sides.

    Parameters
    ----------
    placement
        A feasible one to begin with.
    """

    def __init__(self, problem: Problem, placement: Placement) -> None:
        self.problem, self.placement = problem, placement
        self.reached = float(throughput(problem, placement.devices)[0])
        self.most = bound(problem)

    @property
    def closed(self) -> bool:
        """Whether nothing better is left."""
        return self.most <= self.reached * (1.0 + TOLERANCE)

    @property
    def better(self) -> float:
        """Tuples/s that a placement has to reach to be better by more than rounding."""
        return self.reached * (1.0 + ROUNDING)

    def offer(self, placement: Placement, reached: float | None = None) -> bool:
        """Take a feasible placement if it is better; return whether it was.

        Parameters
        ----------
        reached
            Its throughput, if that is known.
        """
        scored = (
            float(throughput(self.problem, placement.devices)[0]) if reached is None else reached
        )
        better = scored > self.reached
        if better:
            self.placement, self.reached = placement, scored
        return better

    def none_reaches(self, rate: float) -> None:
        """Note that no placement reaches so many tuples/s, up to rounding."""
        self.most = min(self.most, rate * (1.0 + ROUNDING))

    def proof(self) -> Proof:
        """Return what is known now."""
        return Proof(self.placement, max(self.most, self.reached), self.closed)
