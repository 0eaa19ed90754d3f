"""The costs of items on classes of devices, as arrays for `streamplace.sim.contiguous`."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable
from streamplace.scoring.compiled import compiled
from streamplace.sim.contiguous import Devices, ItemMessages, Items, Rates
from streamplace.sim.flow import NONE, Flow
from streamplace.sim.search import Instance
from streamplace.sim.search.instance import own_loads, unit_loads
from streamplace.util.arrays import Floats, Ints

# Of the streams of one message: a size and a stream are an entry, quadratically many. A guess.
MOST_SIZES = 32
# Of devices in use, each a row of the programme; beyond, devices are used in one order. A guess.
MAX_STATES = 256


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
        """(C,) the first device of each class, as an example of all."""
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
        return _in_one_order(fastest.tolist())
    return _in_any_order(devices)


def _in_any_order(devices: list[list[int]]) -> Classes:
    """Return classes of which any may be used next; states count the devices used of each."""
    states = prod(len(of_class) + 1 for of_class in devices)
    before: list[int] = []
    of_move: list[int] = []
    after: list[int] = []
    first, stride = [0], 1
    for c, of_class in enumerate(devices):
        free = [s for s in range(states) if s // stride % (len(of_class) + 1) < len(of_class)]
        before += free
        after += [s + stride for s in free]
        of_move += [c] * len(free)
        first.append(len(before))
        stride *= len(of_class) + 1
    columns: list[Ints] = [np.array(one, dtype=np.int32) for one in (first, before, after, of_move)]
    return Classes(devices, Devices(states, columns[0], columns[1], columns[2], False), columns[3])


def _in_one_order(devices: list[int]) -> Classes:
    """Return a class per device; states count the devices used or left out so far."""
    each = np.arange(len(devices) + 1, dtype=np.int32)
    moves = Devices(len(each), each, each[:-1], each[1:], True)
    return Classes([[d] for d in devices], moves, each[:-1])


def costs_of(
    problem: Problem, item_of: Ints, classes: Classes, *, limited: bool, by_size: bool
) -> Items:
    """Return the costs of items.

    Parameters
    ----------
    item_of
        (V,) item of each operator; the operators of a unit are in one item.
    limited
        Whether masks, limits and operators that must be apart count. Those that must be in
        different groups of devices are then on different devices.
    by_size
        Whether a message that several streams share is as large as the largest of those that leave
        or enter a piece; otherwise, as the largest of all.
    """
    flow, feasibility = compiled(problem).flow, problem.feasibility
    instance, firsts = compiled(problem).instance, classes.firsts
    count = int(item_of.max()) + 1
    item_of_unit = item_of[feasibility.first_of]
    shape = (count, len(firsts))
    own = np.zeros(shape)
    np.maximum.at(own, item_of_unit, own_loads(instance)[:, firsts])
    allowed = np.ones(shape, dtype=np.bool_)
    needs, room = np.zeros((count, 0)), np.zeros((len(firsts), 0))
    if limited:
        np.logical_and.at(allowed, item_of_unit, feasibility.allowed[:, firsts])
        apart = np.zeros(
            (feasibility.unit_count, len(feasibility.excluding) + len(feasibility.separating))
        )
        for k, group in enumerate((*feasibility.excluding, *feasibility.separating)):
            apart[list(group), k] = 1.0  # a device has room for one of them
        needs = _sums(item_of_unit, np.hstack([feasibility.needs, apart]), count)
        room = np.hstack([feasibility.room[firsts], np.ones((len(firsts), apart.shape[1]))])
    return Items(
        load=_sums(item_of_unit, unit_loads(instance)[:, firsts], count),
        own=own,
        allowed=allowed,
        needs=needs,
        room=np.ascontiguousarray(room, dtype=np.float64),
        messages=_messages(flow, item_of, count, by_size),
        rates=_rates(flow, instance, firsts),
    )


def _sums(item_of_unit: Ints, rows: Floats, count: int) -> Floats:
    sums = np.zeros((count, rows.shape[1]))
    np.add.at(sums, item_of_unit, rows)
    return sums


def _messages(flow: Flow, item_of: Ints, count: int, by_size: bool) -> ItemMessages:
    """Return the messages between items.

    With multicast, a message is what an operator sends to other items, as large as its largest
    stream; otherwise, it is what one item sends to one other. By size, what its largest streams
    have beyond the smaller ones is a message of its own to their consumers, and so on.
    """
    home, to = item_of[flow.source], item_of[flow.target]
    leaving = np.flatnonzero((home != to) & (flow.stream_tuples > 0))
    tuples, bits = flow.stream_tuples[leaving], flow.stream_bits[leaving]
    home, to = home[leaving].astype(np.int64), to[leaving].astype(np.int64)
    shares = flow.multicast != NONE
    sender = flow.source[leaving].astype(np.int64) if shares else home * count + to
    if shares and by_size:
        parts = [_steps(sender, size) for size in (tuples, bits)]
        stream = np.concatenate([each for each, _, _ in parts])
        tuples = np.concatenate([parts[0][2], np.zeros(len(parts[1][0]))])
        bits = np.concatenate([np.zeros(len(parts[0][0])), parts[1][2]])
        level = np.concatenate([parts[0][1], len(leaving) + parts[1][1]])
        home, to = home[stream], to[stream]
        sender = sender[stream] * (2 * len(leaving) + 1) + level
    _, first, message = np.unique(sender, return_index=True, return_inverse=True)
    message = message.reshape(-1)
    together = np.maximum if shares else np.add
    most_tuples, most_bits = np.zeros(len(first)), np.zeros(len(first))
    together.at(most_tuples, message, tuples)
    together.at(most_bits, message, bits)
    served = np.unique(message * count + to)  # each consumer of each message once
    ends = np.concatenate([home[first], served % count])
    order = np.argsort(ends, kind="stable")
    return ItemMessages(
        first=np.searchsorted(ends[order], np.arange(count + 1)).astype(np.int32),
        message=np.concatenate([np.arange(len(first)), served // count])[order].astype(np.int32),
        sends=order < len(first),
        consumers=np.bincount(served // count, minlength=len(first)).astype(np.int32),
        tuples=most_tuples,
        bits=most_bits,
    )


def _steps(sender: NDArray[np.integer[Any]], size: Floats) -> tuple[Ints, Ints, Floats]:
    """Return the steps from size to size of the streams of each sender.

    The result is a stream, a number of a step among those of its sender, and the height of the
    step: a stream has all steps up to its size. Only the largest sizes of a sender have steps of
    their own, up to `MOST_SIZES`.
    """
    streams: list[int] = []
    levels: list[int] = []
    heights: list[float] = []
    order = np.lexsort((-size, sender))
    for one in np.split(order, np.flatnonzero(np.diff(sender[order])) + 1) if len(order) else ():
        sizes = np.unique(size[one])[-MOST_SIZES:]
        for level, (height, top) in enumerate(zip(np.diff(sizes, prepend=0.0), sizes, strict=True)):
            reached = one[size[one] >= top] if level else one
            streams += reached.tolist()
            levels += [level] * len(reached)
            heights += [float(height)] * len(reached)
    return np.array(streams, np.int64), np.array(levels, np.int64), np.array(heights)


def _rates(flow: Flow, instance: Instance, firsts: Ints) -> Rates:
    """Return the costs of messages on a device of each class, over its mean link."""
    links = [_links_of(flow, int(d)) for d in firsts]
    scale = 1.0 / instance.reference

    def mean(column: Floats) -> Floats:
        return np.array([column[one].mean() * scale if len(one) else 0.0 for one in links])

    return Rates(
        cpu_s=mean(flow.overhead_s) / flow.cores[firsts],
        cpu_s_per_bit=flow.overhead_s_per_bit[firsts] / flow.cores[firsts] * scale,
        link_s=mean(flow.gap_s),
        link_s_per_bit=mean(flow.seconds_per_bit),
        receives=flow.nic,
    )


def _links_of(flow: Flow, d: int) -> Ints:
    """Return the links from and to a device."""
    if flow.nic:
        return np.array([d, flow.devices + d], dtype=np.int32)
    others = np.delete(np.arange(flow.devices, dtype=np.int32), d)
    return np.concatenate([d * flow.devices + others, others * flow.devices + d])
