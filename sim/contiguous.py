"""The split of ordered items into contiguous pieces, one per device, with the smallest load.

A set of items is *closed* if it has every item that must precede one of its items. A piece is the
difference of two nested closed sets, and the pieces of a split follow one another, from the empty
set to the set of all items. The dynamic programme over closed sets is that of Tarnawski et al.
(2020), section 5; over the prefixes of one order, it is the classic one for chains.

What a piece costs depends on the piece alone. A message costs its sender once if any consumer is
outside the piece, and its receiver once if any consumer is inside and the producer is not.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel

Bools = NDArray[np.bool_]
LARGEST = np.finfo(np.float64).max
WIDER = 1.0 + 1e-9  # factor on the largest load wanted, so that rounding excludes no piece


class ItemMessages(NamedTuple):
    """M messages between items."""

    first: Ints  # (I + 1,) index of each item's first entry in `message`
    message: Ints  # messages that an item sends or consumes
    sends: Bools  # whether the item sends it
    consumers: Ints  # (M,) number of items that consume each message
    tuples: Floats  # (M,) tuples/s
    bits: Floats  # (M,) bit/s


class Rates(NamedTuple):
    """The load that messages cause on a device of each of C classes, and on its link."""

    cpu_s: Floats  # (C,) seconds of all cores together per message, at either end
    cpu_s_per_bit: Floats  # (C,) the same per bit
    link_s: Floats  # (C,) seconds that the device's link needs per message
    link_s_per_bit: Floats  # (C,) the same per bit
    receives: bool  # whether what a device receives takes a separate link


class Items(NamedTuple):
    """I items on C classes of devices with K limits."""

    load: Floats  # (I, C) load of each item's CPU work on a device of each class
    own: Floats  # (I, C) largest load of an operator on the cores that it can use
    allowed: Bools  # (I, C) whether the devices of each class may run the item
    needs: Floats  # (I, K) counts of each limit that items take
    room: Floats  # (C, K) counts of each limit that a device of each class has
    messages: ItemMessages
    rates: Rates


class Lattice(NamedTuple):
    """N closed sets of items, smaller ones first: the empty set is 0, that of all items N - 1."""

    first: Ints  # (N + 1,) index of each set's first entry in `item`
    item: Ints  # an item that can be added
    to: Ints  # the set that results


class Devices(NamedTuple):
    """S states of which devices are in use, and the moves between them."""

    states: int
    first: Ints  # (C + 1,) index of each class's first move
    before: Ints  # the state before a device of the class is used
    after: Ints  # the state after
    skips: bool  # whether each state may also pass to the next without a piece


class Split(NamedTuple):
    """The best split: N sets x S states."""

    load: Floats  # (N, S) smallest possible largest load, inf where there is no split
    source: Ints  # (N, S) the set before the last piece
    by: Ints  # (N, S) the move of that piece; -1 where a device is skipped or there is no piece
    steps: int  # number of pieces examined; -1 if the limit ended the search


class _Piece(NamedTuple):
    """The piece that is being examined, by depth of the search."""

    inside: Ints  # (M,) number of consumers of each message inside
    home: Bools  # (M,) whether the sender is inside
    load: Floats  # (I + 1, C)
    own: Floats  # (I + 1, C)
    alive: Bools  # (I + 1, C) whether a device of the class may have the piece
    used: Floats  # (I + 1, K)
    traffic: Floats  # (I + 1, 4) tuples/s and bit/s out, and in


@kernel
def split(items: Items, lattice: Lattice, devices: Devices, most: float, most_steps: int) -> Split:
    """Return the best splits into pieces whose largest load is at most `most`.

    Parameters
    ----------
    most_steps
        Number of pieces to examine before giving up.
    """
    sets, classes = lattice.first.shape[0] - 1, items.room.shape[0]
    best = np.full((sets, devices.states), np.inf)
    best[0, 0] = 0.0
    source = np.full(best.shape, -1, np.int32)
    by = np.full(best.shape, -1, np.int32)
    found = Split(best, source, by, 0)
    visited = np.full(sets, -1, np.int32)
    count = items.load.shape[0]
    piece = _Piece(
        np.zeros(items.messages.consumers.shape[0], np.int32),
        np.zeros(items.messages.consumers.shape[0], np.bool_),
        np.zeros((count + 1, classes)),
        np.zeros((count + 1, classes)),
        np.ones((count + 1, classes), np.bool_),
        np.zeros((count + 1, items.needs.shape[1])),
        np.zeros((count + 1, 4)),
    )
    at = np.zeros(count + 1, np.int32)  # the set at each depth
    edge = np.zeros(count + 1, np.int32)  # its next entry in `lattice.item`
    limit, steps = most * WIDER, 0
    for begin in range(sets):
        if devices.skips:
            _skip(best[begin], source[begin], by[begin], begin)
        # No split ends with this set, or only with a load that is too large.
        if not best[begin].min() <= min(limit, LARGEST):
            continue
        depth, at[0], edge[0] = 0, begin, lattice.first[begin]
        while depth >= 0:
            here = at[depth]
            if edge[depth] == lattice.first[here + 1]:
                if depth > 0:
                    _remove(items, piece, lattice.item[edge[depth - 1] - 1])
                depth -= 1
                continue
            u, to = lattice.item[edge[depth]], lattice.to[edge[depth]]
            edge[depth] += 1
            # A closed set can be reached in many orders of its items, which make the same piece.
            if visited[to] == begin:
                continue
            visited[to] = begin
            steps += 1
            if not _add(items, piece, depth, u, limit):
                _remove(items, piece, u)
                continue
            depth += 1
            at[depth], edge[depth] = to, lattice.first[to]
            _extend(items, devices, piece, depth, limit, begin, to, found)
        # Prefixes of orders take over.
        if steps > most_steps:
            return Split(best, source, by, -1)
    return Split(best, source, by, steps)


@bare
def _skip(best: Floats, source: Ints, by: Ints, begin: int) -> None:
    """Let each state of a set pass to the next one."""
    for k in range(best.shape[0] - 1):
        if best[k] < best[k + 1]:
            best[k + 1], source[k + 1], by[k + 1] = best[k], begin, -1


@bare
def _extend(
    items: Items,
    devices: Devices,
    piece: _Piece,
    depth: int,
    limit: float,
    begin: int,
    to: int,
    found: Split,
) -> None:
    """Extend the splits of set `begin` by the piece, which leads to set `to`."""
    for c in range(items.room.shape[0]):
        load = _load(items, piece, depth, c) if piece.alive[depth, c] else np.inf
        if load <= limit and load < np.inf:
            for i in range(devices.first[c], devices.first[c + 1]):
                worst = max(found.load[begin, devices.before[i]], load)
                after = devices.after[i]
                if worst < found.load[to, after]:
                    found.load[to, after], found.source[to, after] = worst, begin
                    found.by[to, after] = i


@bare
def _add(items: Items, piece: _Piece, depth: int, u: int, limit: float) -> bool:
    """Add item u to the piece; return whether a device of some class may have the result."""
    for j in range(4):
        piece.traffic[depth + 1, j] = piece.traffic[depth, j]
    for i in range(items.messages.first[u], items.messages.first[u + 1]):
        m = items.messages.message[i]
        _count(items, piece, depth + 1, m, -1.0)
        if items.messages.sends[i]:
            piece.home[m] = True
        else:
            piece.inside[m] += 1
        _count(items, piece, depth + 1, m, 1.0)
    fits = False
    for k in range(items.needs.shape[1]):
        piece.used[depth + 1, k] = piece.used[depth, k] + items.needs[u, k]
    for c in range(items.room.shape[0]):
        load = piece.load[depth, c] + items.load[u, c]
        own = max(piece.own[depth, c], items.own[u, c])
        alive = piece.alive[depth, c] and items.allowed[u, c] and load <= limit and own <= limit
        for k in range(items.needs.shape[1]):
            alive = alive and piece.used[depth + 1, k] <= items.room[c, k]
        piece.load[depth + 1, c], piece.own[depth + 1, c] = load, own
        piece.alive[depth + 1, c] = alive
        fits = fits or alive
    return fits


@bare
def _remove(items: Items, piece: _Piece, u: int) -> None:
    """Remove the last item from the counts; sums by depth need no change."""
    for i in range(items.messages.first[u], items.messages.first[u + 1]):
        if items.messages.sends[i]:
            piece.home[items.messages.message[i]] = False
        else:
            piece.inside[items.messages.message[i]] -= 1


@bare
def _count(items: Items, piece: _Piece, depth: int, m: int, sign: float) -> None:
    """Add what message m costs the piece to its traffic, or subtract it."""
    way = -1
    if piece.home[m]:
        way = 0 if piece.inside[m] < items.messages.consumers[m] else -1
    elif piece.inside[m] > 0:
        way = 2
    if way >= 0:
        piece.traffic[depth, way] += sign * items.messages.tuples[m]
        piece.traffic[depth, way + 1] += sign * items.messages.bits[m]


@bare
def _load(items: Items, piece: _Piece, depth: int, c: int) -> float:
    """Return the largest load of a device of class c and of its links."""
    sent, sent_bits = piece.traffic[depth, 0], piece.traffic[depth, 1]
    received, received_bits = piece.traffic[depth, 2], piece.traffic[depth, 3]
    rates = items.rates
    load: float = piece.load[depth, c] + rates.cpu_s[c] * (sent + received)
    load += rates.cpu_s_per_bit[c] * (sent_bits + received_bits)
    load = max(load, piece.own[depth, c])
    load = max(load, rates.link_s[c] * sent + rates.link_s_per_bit[c] * sent_bits)
    if rates.receives:
        load = max(load, rates.link_s[c] * received + rates.link_s_per_bit[c] * received_bits)
    return load
