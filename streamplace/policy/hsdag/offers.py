"""What a step decides: groups, the devices offered to each, and their costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.columns import by_operator
from streamplace.policy.decoding import Sampler
from streamplace.policy.hsdag.features import EncodedProblem
from streamplace.policy.hsdag.kernels.loads import Draws, Groups
from streamplace.util.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Offer:
    """G groups of the vertices of a problem.

    Attributes
    ----------
    group_of
        (n,) the group of each vertex.
    """

    one: EncodedProblem
    group_of: Ints

    @cached_property
    def count(self) -> int:
        """The number of groups, G."""
        return int(self.group_of.max()) + 1

    @cached_property
    def allowed(self) -> Bools:
        """(G, D) the devices that are offered: those of all members or, without one, of any."""
        shape = (self.count, self.one.allowed.shape[1])
        of_all, of_any = np.ones(shape, np.bool_), np.zeros(shape, np.bool_)
        np.logical_and.at(of_all, self.group_of, self.one.allowed)
        np.logical_or.at(of_any, self.group_of, self.one.allowed)
        offered: Bools = np.where(of_all.any(axis=1, keepdims=True), of_all, of_any)
        return offered

    @cached_property
    def cost(self) -> Floats:
        """(G, D) cost of each group on each device, see `EncodedProblem.cost`."""
        cost = np.zeros((self.count, self.one.cost.shape[1]))
        np.add.at(cost, self.group_of, self.one.cost)
        return cost

    @property
    def groups(self) -> Groups:
        """The groups as the kernel that places them one by one takes them."""
        quotient = self.one.graph.quotient(self.group_of)
        both = np.concatenate([quotient.ends, quotient.ends[:, ::-1]])
        first, order = by_operator(both[:, 0], self.count)
        with np.errstate(over="ignore", invalid="ignore"):  # where messages are all the cost
            message = np.concatenate([quotient.traffic, quotient.traffic]) * self.one.message
        message = np.nan_to_num(message)  # groups without traffic send no message
        heaviest = np.argsort(-self.cost.mean(axis=1), kind="stable")
        return Groups(
            heaviest.astype(np.int32),
            self.cost,
            self.allowed,
            first,
            np.ascontiguousarray(both[order, 1], np.int32),
            message[order],
        )

    @cached_property
    def first_operators(self) -> Ints:
        """(G,) the first operator of each group."""
        group_of = self.group_of[self.one.grouping.group_of]
        return np.unique(group_of, return_index=True)[1].astype(np.int32)

    def expanded(self, of_groups: Ints) -> Ints:
        """Return the device of each operator, (V,), from those of the groups, (G,)."""
        return of_groups[self.group_of[self.one.grouping.group_of]].astype(np.int32)


def drawn(offers: Sequence[Offer], samples: int, sampler: Sampler) -> list[Draws]:
    """Return the random numbers of a step, for the offers of S samples of each problem."""
    greedy = sampler.greedy or sampler.generator is None
    made = []
    for first in range(0, len(offers), samples):
        part = offers[first : first + samples]
        groups, devices = max(offer.count for offer in part), part[0].allowed.shape[1]
        noise, explores = (each.numpy() for each in sampler.ahead(samples, groups, devices))
        made += [
            Draws(noise[s, : o.count], explores[s, : o.count], float(sampler.temperature), greedy)
            for s, o in enumerate(part)
        ]
    return made


def padded(values: np.ndarray, devices: int) -> np.ndarray:
    """Return values of groups and devices, (G, D, …), with zeros for further devices."""
    if values.shape[1] in (0, devices):
        return values
    widths = [(0, 0), (0, devices - values.shape[1]), *[(0, 0)] * (values.ndim - 2)]
    return np.pad(values, widths)
