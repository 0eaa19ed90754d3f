"""The decoding state of the RNN placer: the devices chosen so far, and those that are offered."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from sim.schedule.offers import nothing_placed_in, offer, put_in
from streamplace.policy.one_order import OneOrderState
from streamplace.policy.rnn.features import RnnBatch
from streamplace.util.arrays import Ints


class RnnState(OneOrderState):
    """Partial placements, and the devices that constraints leave; see `OneOrderState`.

    The N decisions of all R rows are ordered by step.
    """

    def __init__(self, batch: RnnBatch, samples: int, devices: int, forced: Ints | None) -> None:
        super().__init__(batch, samples, devices, forced)
        self._rules = [one.rules for one in batch.encoded]
        self._placed = [nothing_placed_in(rules, samples) for rules in self._rules]
        self._offered: list[Tensor] = []
        self._taken: list[Tensor] = []

    def offered(self, t: int) -> Tensor:
        """Return the devices, (R', D) bool, that the operators of a step may go to.

        At least one device of each row is offered.
        """
        now = self.problems[t]
        offered = np.empty((now, self.samples, self._devices), np.bool_)
        for p in range(now):
            offer(self._rules[p], self._placed[p], int(self.order[p, t]), offered[p])
        self._offered.append(self.batch.tensor(offered.reshape(self.rows[t], -1)))
        return self._offered[-1]

    def take(self, t: int, chosen: Tensor) -> Tensor:
        """Place a step's operators on chosen or forced devices, (R',), and return these devices."""
        self._taken.append(super().take(t, chosen))
        for p, v in enumerate(self.order[: self.problems[t], t].tolist()):
            put_in(self._rules[p], self._placed[p], v, self.placements[p, :, v])
        return self._taken[-1]

    @property
    def all_offered(self) -> Tensor:
        """(N, D) bool, the devices that were offered."""
        return torch.cat(self._offered)

    @property
    def all_taken(self) -> Tensor:
        """(N,) the devices that were taken."""
        return torch.cat(self._taken)

    @property
    def decided(self) -> Tensor:
        """(T, R) bool, whether a row has an operator left at a step."""
        counts = torch.tensor(self.rows, device=self.batch.device)
        return torch.arange(self.rows[0], device=self.batch.device) < counts.unsqueeze(1)

    @property
    def all_last(self) -> Tensor:
        """(R, T, D) the device of the step before each step, one-hot; zeros at the start."""
        steps, rows = len(self.rows), self.rows[0]
        last = torch.zeros(steps, rows, self._devices, device=self.batch.device)
        for t, taken in enumerate(self._taken[:-1]):
            last[t + 1, : len(taken)] = one_hot(taken, self._devices).to(last.dtype)
        return last.transpose(0, 1)
