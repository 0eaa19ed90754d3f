"""Compiled parts of HSDAG: the parser, fractal dimensions, loads of devices, sparse products."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import inner, kernel

Single = NDArray[np.float32]
Bools = NDArray[np.bool_]

LOADS = 7
"""Numbers that the policy reads of a group on a device."""

NONE = -1


class Weights(NamedTuple):
    """A symmetric matrix by rows; the diagonal is apart."""

    own: Single  # (n,) the diagonal
    first: Ints  # (n + 1,) index of each row's first entry
    other: Ints  # (2M,) column of each entry
    weight: Single  # (2M,)


@kernel
def smoothed(weights: Weights, values: Single) -> Single:
    """Return the product of a matrix, (n, n), with values, (n, H)."""
    n, length = values.shape
    result = np.empty((n, length), np.float32)
    for v in range(n):
        for k in range(length):
            result[v, k] = weights.own[v] * values[v, k]
        for i in range(weights.first[v], weights.first[v + 1]):
            weight, other = weights.weight[i], weights.other[i]
            for k in range(length):
                result[v, k] += weight * values[other, k]
    return result


class Groups(NamedTuple):
    """G groups and what they cost on D devices."""

    order: Ints  # (G,) the groups in the order in which they are placed
    cost: Floats  # (G, D)
    allowed: Bools  # (G, D) the devices that are offered
    first: Ints  # (G + 1,) index of each group's first neighbour
    other: Ints  # (2Q,) neighbours
    message: Floats  # (2Q,) cost of what passes between the two if their devices differ


class Layers(NamedTuple):
    """The parameters of the head, with H hidden values."""

    of_group: Single  # (G, H) what the hidden layer has of each group
    of_loads: Single  # (LOADS, H)
    outward: Single  # (H,)


class Draws(NamedTuple):
    """The random numbers of a step, see `Sampler.ahead`."""

    noise: Single  # (G, D)
    explores: Bools  # (G,)
    temperature: float
    greedy: bool


@kernel
def place_groups(groups: Groups, layers: Layers, draws: Draws, chosen: Ints, read: Single) -> None:
    """Choose a device for each group, one after the other.

    Parameters
    ----------
    chosen
        (G,) devices; those that are at least 0 on entry are taken as they are.
    read
        (G, D, LOADS) set to what the policy reads of each device when it places the group, all as
        log(1 + x): the load so far, the cost of the group there, their sum, the largest load of any
        device then, the messages of the group that stay on the device, those that leave it, and
        all messages of the device then.
    """
    count, devices = groups.cost.shape
    load, sent = np.zeros(devices), np.zeros(devices)
    near = np.zeros((count, devices))  # messages of each group with groups on each device
    placed = np.full(count, -1)
    for i in range(count):
        g = groups.order[i]
        of_placed, highest = near[g].sum(), load.max()
        best, best_value = -1, -np.inf
        for d in range(devices):
            with_group, leaving = load[d] + groups.cost[g, d], of_placed - near[g, d]
            read[g, d, 0] = np.log1p(load[d])
            read[g, d, 1] = np.log1p(groups.cost[g, d])
            read[g, d, 2] = np.log1p(with_group)
            read[g, d, 3] = np.log1p(max(highest, with_group))
            read[g, d, 4] = np.log1p(near[g, d])
            read[g, d, 5] = np.log1p(max(0.0, leaving))
            read[g, d, 6] = np.log1p(max(0.0, sent[d] + leaving))
            if not groups.allowed[g, d]:
                continue
            value = draws.noise[g, d]
            if not draws.explores[g]:
                logit = _logit(layers, g, read[g, d])
                value = logit if draws.greedy else logit / draws.temperature + value
            if best < 0 or value > best_value:
                best, best_value = d, value
        if chosen[g] < 0:
            chosen[g] = best
        here = chosen[g]
        placed[g] = here
        load[here] += groups.cost[g, here]
        for j in range(groups.first[g], groups.first[g + 1]):
            other, message = groups.other[j], groups.message[j]
            near[other, here] += message
            if placed[other] >= 0 and placed[other] != here:
                sent[here] += message
                sent[placed[other]] += message


@inner
def _logit(layers: Layers, g: int, loads: Single) -> float:
    total = 0.0
    for h in range(layers.outward.shape[0]):
        value = layers.of_group[g, h]
        for k in range(LOADS):
            value += loads[k] * layers.of_loads[k, h]
        if value > 0.0:
            total += value * layers.outward[h]
    return total


class Successors(NamedTuple):
    """The directed edges of a graph by their source."""

    first: Ints  # (n + 1,) index of each vertex's first edge
    target: Ints  # (E,)


@kernel
def parse(
    ends: Ints,
    by_score: Ints,
    graph_of: Ints,
    least: Ints,
    weight: Floats,
    heaviest: float,
    successors: Successors,
    acyclic: bool,
) -> Ints:
    """Return the group of each of n vertices, (n,), numbered by their first vertices.

    Each vertex keeps its incident edge of the highest score, its dominant edge, and the connected
    components of the edges that are kept are the groups. They are joined one by one, the edge of
    the highest score first, so that joining can stop.

    Parameters
    ----------
    ends
        (M, 2) vertices at the ends of each undirected edge.
    by_score
        (M,) the edges in the order of their scores, the highest first.
    graph_of
        (n,) the graph of each vertex, in ascending order.
    least
        (K,) the number of groups of each graph from which on no more groups are joined.
    weight, heaviest
        (n,) weight of each vertex, and the largest weight of two groups that are joined. A vertex
        whose edge is skipped for it keeps the next one that is not.
    successors
        The directed edges, which only `acyclic` needs.
    acyclic
        Whether an edge is skipped if a cycle of groups would go through its joined groups.
    """
    n = graph_of.shape[0]
    root = np.arange(n, dtype=np.int32)
    later = np.arange(n, dtype=np.int32)  # circular lists of the members of each group
    carried = weight.copy()
    is_met = np.zeros(n, np.bool_)
    reached = np.full(n, NONE, np.int32)
    stack = np.empty(n, np.int32)
    count = np.zeros(least.shape[0], np.int64)
    for v in range(n):
        count[graph_of[v]] += 1
    for i in range(by_score.shape[0]):
        a, b = ends[by_score[i], 0], ends[by_score[i], 1]
        if is_met[a] and is_met[b]:
            continue
        first, second = _root(root, a), _root(root, b)
        if first != second and carried[first] + carried[second] > heaviest:
            continue
        is_met[a] = is_met[b] = True
        graph = graph_of[a]
        if first == second or count[graph] <= least[graph]:
            continue
        if acyclic and (
            _leads_back(successors, root, later, first, second, reached, stack, 2 * i)
            or _leads_back(successors, root, later, second, first, reached, stack, 2 * i + 1)
        ):
            continue
        root[max(first, second)] = min(first, second)
        carried[min(first, second)] = carried[first] + carried[second]
        later[first], later[second] = later[second], later[first]
        count[graph] -= 1
    return _numbers_of_groups(root)


@inner
def _root(root: Ints, v: int) -> int:
    while root[v] != v:
        root[v] = root[root[v]]
        v = root[v]
    return v


@inner
def _leads_back(
    successors: Successors,
    root: Ints,
    later: Ints,
    begin: int,
    end: int,
    reached: Ints,
    stack: Ints,
    mark: int,
) -> bool:
    """Return whether a path leads from a group to another one through a third.

    Parameters
    ----------
    begin, end
        The roots of the groups.
    reached, stack
        Working memory, (n,); groups that this call reaches are marked with `mark`.
    """
    stack[0] = begin
    reached[begin] = mark
    size = 1
    while size:
        size -= 1
        group = stack[size]
        v = group
        while True:
            for e in range(successors.first[v], successors.first[v + 1]):
                other = _root(root, successors.target[e])
                if other == end:
                    if group != begin:
                        return True
                elif reached[other] != mark:
                    reached[other] = mark
                    stack[size] = other
                    size += 1
            v = later[v]
            if v == group:
                break
    return False


@inner
def _numbers_of_groups(root: Ints) -> Ints:
    """Return the numbers of the groups, whose roots are their first vertices."""
    number = np.empty(root.shape[0], np.int32)
    count = 0
    for v in range(root.shape[0]):
        first = _root(root, v)
        if first == v:
            number[v] = count
            count += 1
        else:
            number[v] = number[first]
    return number


def by_score(scores: Floats) -> Ints:
    """Return the edges in the order of their scores, (M,), the highest first; ties by number."""
    order: Ints = np.argsort(-scores, kind="stable").astype(np.int32)
    return order


@kernel
def fractal_dimensions(successors: Successors) -> Floats:
    """Return the fractal dimension of each of n vertices, (n,).

    It is the slope of log N(v, r) over log r by least squares, over all distances r > 0 of a vertex
    from v along the edges, where N(v, r) is the number of vertices within r, without v. Vertices
    that cannot be reached do not count. The slope is 0 where there are fewer than two distances.
    """
    n = successors.first.shape[0] - 1
    result = np.zeros(n)
    reached = np.full(n, -1)
    queue = np.empty(n, np.int64)
    for v in range(n):
        reached[v] = v
        queue[0] = v
        begin, end, radius = 0, 1, 0
        points, x, y, xx, xy = 0, 0.0, 0.0, 0.0, 0.0
        while begin < end:
            layer_end = end
            for i in range(begin, layer_end):
                for e in range(successors.first[queue[i]], successors.first[queue[i] + 1]):
                    other = successors.target[e]
                    if reached[other] != v:
                        reached[other] = v
                        queue[end] = other
                        end += 1
            begin = layer_end
            radius += 1
            if end > layer_end:
                log_r, log_n = np.log(radius), np.log(end - 1)
                points += 1
                x, y = x + log_r, y + log_n
                xx, xy = xx + log_r * log_r, xy + log_r * log_n
        if points > 1:
            result[v] = (points * xy - x * y) / (points * xx - x * x)
    return result
