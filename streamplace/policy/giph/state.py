"""The state of one walk: a placement, its graph of pairs, and the moves that it allows."""

import numpy as np

from sim.schedule.rules import NOWHERE, Placed, nothing_placed, put_all
from streamplace.policy.giph.encode import EncodedProblem
from streamplace.policy.giph.kernels.gp_net import GpNet, gp_net, relocate
from streamplace.policy.giph.kernels.moves import movable, move_unit, offered
from streamplace.util.arrays import Bools, Ints


class WalkState:
    """A placement that changes by one relocation at a time.

    Operators on devices that they may not use start on the first device that they may.

    Attributes
    ----------
    one
        The problem.
    devices
        (V,) the current placement.
    net
        Its graph of pairs.
    last
        The unit that moved last, or -1.
    """

    def __init__(self, one: EncodedProblem, devices: Ints) -> None:
        self.one = one
        self.devices = one.on_pairs(devices)
        self.net: GpNet = gp_net(one.pairs, self.devices)
        self.last = NOWHERE
        self._placed: Placed = nothing_placed(one.rules)
        put_all(one.rules, self._placed, self.devices)

    def movable(self) -> Bools:
        """Return the pairs that the next step may choose, (N,).

        These are not the pivots, nor pairs of the unit that moved last, nor pairs that a constraint
        rules out.
        """
        return movable(self.one.pairs, self.one.rules, self._placed, self.net.pivot, self.last)

    def offered(self) -> Bools:
        """Return the pairs that are part of the graph, (N,)."""
        if not self.one.sizes.merges_idle:
            return np.ones(len(self.one.pairs.operator), np.bool_)
        return offered(self.one.pairs, self.one.kind, self.devices)

    def move(self, v: int, device: int) -> None:
        """Move the unit of an operator to a device."""
        unit = int(self.one.rules.unit_of[v])
        move_unit(self.one.rules, self._placed, unit, device)
        for u in self.one.members(unit):
            self.devices[u] = device
            relocate(self.one.pairs, self.net, u, device)
        self.last = unit

    def stay(self) -> None:
        """Take a step without a move, after which every unit may move again."""
        self.last = NOWHERE
