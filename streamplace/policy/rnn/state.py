"""The decoding state of the RNN placer: the devices chosen so far, and those that are offered."""

import numpy as np
import torch
from torch import Tensor

from sim.schedule.offers import nothing_placed_in, offer, put_in
from streamplace.policy.one_order import OneOrderState
from streamplace.policy.rnn.features import RnnBatch
from streamplace.util.arrays import Ints


class RnnState(OneOrderState):
    """Partial placements, and the devices that constraints leave; see `OneOrderState`."""

    def __init__(self, batch: RnnBatch, samples: int, devices: int, forced: Ints | None) -> None:
        super().__init__(batch, samples, devices, forced)
        self._rules = [one.rules for one in batch.encoded]
        self._placed = [nothing_placed_in(rules, samples) for rules in self._rules]

    def offered(self, t: int) -> Tensor:
        """Return the devices, (R', D) bool, that the operators of a step may go to.

        At least one device of each row is offered.
        """
        now = self.problems[t]
        offered = np.empty((now, self.samples, self._devices), np.bool_)
        for p in range(now):
            offer(self._rules[p], self._placed[p], int(self.order[p, t]), offered[p])
        return torch.from_numpy(offered.reshape(self.rows[t], -1)).to(self.batch.device)

    def take(self, t: int, chosen: Tensor) -> Tensor:
        """Place a step's operators on chosen or forced devices, (R',), and return these devices."""
        taken = super().take(t, chosen)
        for p, v in enumerate(self.order[: self.problems[t], t].tolist()):
            put_in(self._rules[p], self._placed[p], v, self.placements[p, :, v])
        return taken
