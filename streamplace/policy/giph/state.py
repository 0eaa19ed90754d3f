"""The state of one walk: a placement, its graph of pairs, and the moves that it allows."""

import numpy as np

from sim.schedule.rules import NOWHERE, Placed, Rules, nothing_placed
from streamplace.policy.giph.encode import EncodedProblem
from streamplace.policy.giph.kernels.gp_net import GpNet, gp_net, relocate
from streamplace.policy.giph.kernels.moves import lift, movable, offered, settle
from streamplace.policy.giph.kernels.view import View, view_of
from streamplace.util.arrays import Bools, Floats, Ints

__all__ = ["NOWHERE", "WalkState"]


class WalkState:
    """A placement that changes by one relocation at a time.

    Attributes
    ----------
    devices
        (V,) the current placement.
    last
        The unit that moved last, or -1.
    """

    def __init__(self, one: EncodedProblem, devices: Ints) -> None:
        self._one = one
        self.devices = np.array(devices, dtype=np.int32)
        self.last = NOWHERE
        self._net: GpNet = gp_net(one.pairs, self.devices)
        self._rules: Rules = one.rules
        self._placed: Placed = nothing_placed(one.rules)
        settle(self._rules, self._placed, self.devices)

    @property
    def net(self) -> GpNet:
        """The graph of pairs."""
        return self._net

    def movable(self) -> Bools:
        """Return the pairs that the next step may choose, (N,).

        These are not the pivots, nor pairs of the unit that moved last, nor pairs that a constraint
        rules out.
        """
        return movable(self._one.pairs, self._rules, self._placed, self._net.pivot, self.last)

    def offered(self) -> Bools:
        """Return the pairs that are part of the graph, (N,)."""
        if not self._one.merges_idle:
            return np.ones(len(self._one.pairs.operator), np.bool_)
        return offered(self._one.pairs, self._one.kind, self.devices)

    def view(self, potential: Floats, is_offered: Bools) -> View:
        """Return the graph that the network reads; see `kernels.view.view_of`."""
        return view_of(self._one.pairs, self._net, potential, is_offered)

    def move(self, v: int, device: int) -> None:
        """Move the unit of an operator to a device."""
        unit = int(self._rules.unit_of[v])
        lift(self._rules, self._placed, unit, device)
        for u in self._one.members(unit):
            self.devices[u] = device
            relocate(self._one.pairs, self._net, u, device)
        self.last = unit

    def stay(self) -> None:
        """Take a step without a move, after which every unit may move again."""
        self.last = NOWHERE
