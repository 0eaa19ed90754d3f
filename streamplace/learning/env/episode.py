"""An episode: a problem and its partial placement."""

import numpy as np
from numpy.typing import NDArray

from streamplace.learning.env.observation import Observed, final_observation, lookahead, observation
from streamplace.learning.policy.device_scorer.features import encode
from streamplace.problem.problem import Problem
from streamplace.sim.lookahead import collate, nothing_placed, place_next
from streamplace.util.arrays import Bools, Ints


class Episode:
    """A placement that is made operator by operator.

    Attributes
    ----------
    devices
        (V,) device of each operator, -1 if it is not placed yet.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._encoded = encode(problem)
        self._order = self._encoded.orders[0]  # level by level
        self._lookahead = collate([self._encoded.lookahead])
        self._partial = nothing_placed(self._lookahead, np.zeros(1, dtype=np.int32))
        self._device_of_unit = np.full(problem.feasibility.unit_count, -1, dtype=np.int32)
        self._used = np.zeros_like(problem.feasibility.room)
        self.devices: Ints = np.full(len(problem.graph.names), -1, dtype=np.int32)
        self._placed, self._infeasible = 0, False
        self._mask: Bools = np.zeros(len(problem.cluster.devices), dtype=np.bool_)
        self._look_ahead()

    @property
    def over(self) -> bool:
        """Whether every operator is placed, or the placement became infeasible."""
        return self._infeasible or self._placed == len(self._order)

    @property
    def done(self) -> bool:
        """Whether every operator is placed, and the placement is feasible."""
        return self.over and not self._infeasible

    def mask(self) -> NDArray[np.bool_]:
        """Return a mask of the devices offered for the next operator, (D,); false when over."""
        return self._mask

    def observed(self) -> Observed:
        """Return the observation before the next operator is placed."""
        if self.over:
            return final_observation(len(self._used))
        return observation(self._encoded, self._order[self._placed], self._candidates, self._mask)

    def place_next(self, device: int) -> str | None:
        """Place the next operator; return why the episode ends as infeasible, else None."""
        v = int(self._order[self._placed])
        name, where = self.problem.graph.names[v], self.problem.cluster.names[device]
        if not self._allowed(v)[device]:
            broken = "violates a constraint, or exceeds its memory or resources"
            return self._fail(f"operator {name!r} on device {where!r} {broken}")
        one = np.array([v], dtype=np.int32), np.array([device], dtype=np.int32)
        place_next(self._lookahead, self._partial, *one)
        unit = int(self.problem.feasibility.unit_of[v])
        if self._device_of_unit[unit] < 0:
            self._device_of_unit[unit] = device
            self._used[device] += self.problem.feasibility.needs[unit]
        self.devices[v] = device
        self._placed += 1
        self._look_ahead()
        if self._placed < len(self._order):
            following = self.problem.graph.names[int(self._order[self._placed])]
            return None if self._mask.any() else self._fail(f"no device is left for {following!r}")
        violation = self.problem.feasibility.violation(self.devices)
        return None if violation is None else self._fail(violation)

    def _fail(self, reason: str) -> str:
        self._infeasible = True
        self._mask = np.zeros_like(self._mask)
        return reason

    def _look_ahead(self) -> None:
        """Compute the candidate features of every device for the next operator, and the mask."""
        if self._placed == len(self._order):
            self._mask = np.zeros_like(self._mask)
            return
        v = int(self._order[self._placed])
        self._candidates, offered = lookahead(self._lookahead, self._partial, v)
        self._mask = self._allowed(v) & offered

    def _allowed(self, v: int) -> Bools:
        """Return a mask of the devices on which an operator violates no constraint so far, (D,)."""
        feasibility = self.problem.feasibility
        unit = int(feasibility.unit_of[v])
        if self._device_of_unit[unit] >= 0:
            settled: Bools = np.arange(len(self._used)) == self._device_of_unit[unit]
            return settled
        fits = (self._used + feasibility.needs[unit] <= feasibility.room).all(axis=1)
        allowed: Bools = feasibility.allowed[unit] & fits
        for group in feasibility.excluding:
            if unit in group:
                taken = self._device_of_unit[[other for other in group if other != unit]]
                allowed[taken[taken >= 0]] = False
        group_of = self.problem.cluster.group_of
        for group in feasibility.separating:
            if unit in group:
                taken = self._device_of_unit[[other for other in group if other != unit]]
                allowed &= ~np.isin(group_of, group_of[taken[taken >= 0]])
        return allowed
