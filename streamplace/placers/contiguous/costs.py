"""The costs of items on classes of devices, as arrays for `sim.contiguous`."""

from dataclasses import dataclass
from math import prod

import numpy as np

from sim.contiguous import Devices, Items
from sim.flow import NONE, Flow
from sim.search import Instance
from sim.search.instance import own_loads, unit_loads
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.compiled import compiled
from streamplace.util.arrays import Floats, Ints

MAX_STATES = 256  # of devices in use; beyond, devices are used in one order


@dataclass(frozen=True)
class Classes:
    """The classes of devices that a split distinguishes.

    Parameters
    ----------
    devices
        The devices of each class, in the order of their use.
    moves
        States of which devices are in use.
    class_of_move
        (N,) the class of each move.
    """

    devices: list[list[int]]
    moves: Devices
    class_of_move: Ints

    @property
    def firsts(self) -> Ints:
        """(C,) the first device of each class, which stands for the others."""
        return np.array([devices[0] for devices in self.devices])


def classes_of(problem: Problem, items: int, most: int) -> Classes:
    """Return the classes of devices, of which at most `items` each, and `most` in all, are used.

    Interchangeable devices are one class. If there are so many classes that the numbers of devices
    in use are too many to combine, each device is a class, and they are used fastest first.
    """
    kind = interchangeable(problem)
    fastest = problem.cluster.fastest_first[:most]
    names = list(dict.fromkeys(kind[fastest].tolist()))
    devices = [[d for d in fastest.tolist() if kind[d] == k][:items] for k in names]
    sizes = [len(of_class) + 1 for of_class in devices]
    if len(sizes) > 1 and prod(sizes) > MAX_STATES:
        devices = [[d] for d in fastest.tolist()]
        count = len(devices)
        one_each = np.arange(count, dtype=np.int32)
        first = np.arange(count + 1, dtype=np.int32)
        return Classes(devices, Devices(count + 1, first, one_each, one_each + 1, True), one_each)
    before, after, of_class, first_move = [], [], [], [0]
    stride = 1
    for c, size in enumerate(sizes):
        for state in range(prod(sizes)):
            if state // stride % size < size - 1:
                before.append(state)
                after.append(state + stride)
                of_class.append(c)
        first_move.append(len(before))
        stride *= size
    columns = [np.array(column, dtype=np.int32) for column in (first_move, before, after)]
    moves = Devices(prod(sizes), *columns, False)
    return Classes(devices, moves, np.array(of_class, dtype=np.int32))


def costs_of(problem: Problem, item_of: Ints, classes: Classes, *, limited: bool) -> Items:
    """Return the costs of items.

    Parameters
    ----------
    item_of
        (V,) item of each operator; the operators of a unit are in one item.
    limited
        Whether masks and limits count.
    """
    flow, rules = compiled(problem).flow, problem.feasibility
    instance, firsts = compiled(problem).instance, classes.firsts
    count = int(item_of.max()) + 1
    item_of_unit = item_of[rules.first_of]
    shape = (count, len(firsts))
    own = np.zeros(shape)
    np.maximum.at(own, item_of_unit, own_loads(instance)[:, firsts])
    allowed = np.ones(shape, dtype=np.bool_)
    needs = np.zeros((count, 0))
    if limited:
        np.logical_and.at(allowed, item_of_unit, rules.allowed[:, firsts])
        needs = _sums(item_of_unit, rules.needs, count)
    return Items(
        load=_sums(item_of_unit, unit_loads(instance)[:, firsts], count),
        own=own,
        allowed=allowed,
        needs=needs,
        room=np.ascontiguousarray(rules.room[firsts, : needs.shape[1]], dtype=np.float64),
        **_messages(flow, item_of, count),
        **_rates(flow, instance, firsts),
    )


def _sums(item_of_unit: Ints, rows: Floats, count: int) -> Floats:
    sums = np.zeros((count, rows.shape[1]))
    np.add.at(sums, item_of_unit, rows)
    return sums


def _messages(flow: Flow, item_of: Ints, count: int) -> dict[str, Ints | Floats]:
    """Return the messages between items.

    With multicast, a message is what an operator sends to other items, as large as its largest
    stream; otherwise, it is what one item sends to one other.
    """
    home, to = item_of[flow.source], item_of[flow.target]
    leaving = np.flatnonzero((home != to) & (flow.stream_tuples > 0))
    home, to = home[leaving].astype(np.int64), to[leaving].astype(np.int64)
    sender = home * count + to if flow.multicast == NONE else flow.source[leaving].astype(np.int64)
    _, first, message = np.unique(sender, return_index=True, return_inverse=True)
    message = message.reshape(-1)
    together = np.add if flow.multicast == NONE else np.maximum
    tuples, bits = np.zeros(len(first)), np.zeros(len(first))
    together.at(tuples, message, flow.stream_tuples[leaving])
    together.at(bits, message, flow.stream_bits[leaving])
    served = np.unique(message * count + to)  # each consumer of each message once
    ends = np.concatenate([home[first], served % count])
    order = np.argsort(ends, kind="stable")
    return {
        "first": np.searchsorted(ends[order], np.arange(count + 1)).astype(np.int32),
        "message": np.concatenate([np.arange(len(first)), served // count])[order].astype(np.int32),
        "sends": order < len(first),
        "consumers": np.bincount(served // count, minlength=len(first)).astype(np.int32),
        "tuples": tuples,
        "bits": bits,
    }


def _rates(flow: Flow, instance: Instance, firsts: Ints) -> dict[str, Floats | bool]:
    """Return the costs of messages on a device of each class, over its mean link."""
    devices = flow.devices
    if flow.nic:
        links = [np.array([d, devices + d]) for d in firsts]
    else:
        others = [np.delete(np.arange(devices), d) for d in firsts]
        links = [np.append(d * devices + o, o * devices + d) for d, o in zip(firsts, others)]
    scale = 1.0 / instance.reference

    def mean(column: Floats) -> Floats:
        return np.array([column[one].mean() if len(one) else 0.0 for one in links]) * scale

    return {
        "cpu_s": mean(flow.overhead_s) / flow.cores[firsts],
        "cpu_s_per_bit": flow.overhead_s_per_bit[firsts] / flow.cores[firsts] * scale,
        "link_s": mean(flow.gap_s),
        "link_s_per_bit": mean(flow.seconds_per_bit),
        "receives": flow.nic,
    }
