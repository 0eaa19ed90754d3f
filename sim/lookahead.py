"""Features of placing the next operator on each device, for many placements at once.

A constructive placer needs, for each operator in turn, the effect of placing it on each device.
Problems (a graph on a cluster at a source rate) are concatenated in a `LookaheadBatch`, so that one
call handles a whole batch of partial placements. Utilisations are divided by the problem's
`reference`, a lower bound on the largest utilisation of any placement, so that they are comparable
between problems of any size and source rate: 1 is perfect balance.
"""

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.links import ends_of, uplinks_of
from streamplace.sim.lookahead_batch import Bools, LookaheadBatch, LookaheadProblem, collate
from streamplace.sim.lookahead_loads import (
    PartialPlacements,
    change_loads,
    nothing_placed,
    scratch_of,
    work_in_batch,
)
from streamplace.sim.messages import Messages

__all__ = [
    "CANDIDATE_FEATURES",
    "LINEAR",
    "F",
    "LookaheadBatch",
    "LookaheadProblem",
    "PartialPlacements",
    "all_squashed",
    "candidate_features",
    "collate",
    "nothing_placed",
    "place_next",
    "squashed",
]

Single = NDArray[np.float32]

CANDIDATE_FEATURES = (
    "own",  # utilisation that the operator's CPU work adds
    "now",  # utilisation of the device without the operator
    "then",  # utilisation of the device with the operator, overheads included
    "above mean",  # `then` minus the mean of all devices, with the operator's work spread over all
    "above least",  # `now` minus that of the least used device
    "highest",  # largest utilisation among the devices and links that the choice loads
    "link",  # largest utilisation among the links that the choice loads
    "worst",  # largest utilisation so far
    "rise",  # increase of `worst` by the choice
    "local",  # traffic to operators on this device, as utilisation of an average link
    "heaviest local",  # the heaviest stream of `local`
    "crossing",  # traffic to operators on other devices
    "ahead",  # traffic to operators not placed yet
    "open",  # traffic between the device's operators and those not placed yet
    "open then",  # `open` after placing the operator here
    "busiest",  # largest utilisation of the device's links so far
    "capacity",  # capacity of the device relative to the mean
    "bandwidth",  # mean seconds per bit of the device's links over the mean of all links
    "empty",  # 1 if no operator is on the device
    "crowd",  # share of the placed operators that are on the device
    "last",  # 1 if the previous operator in the order is on the device
    "left",  # CPU work of operators not placed yet over the total capacity
    "placed",  # share of operators placed
    "devices",  # 1 / number of devices
    "then, offered",  # `then` in units of the problem's `unit`, which shows overload
    "link, offered",  # `link` in the same units
    "worst device, offered",  # largest device utilisation with the operator placed, in these units
    "worst, offered",  # largest utilisation so far, in these units
)
F = len(CANDIDATE_FEATURES)
# Overloads reach thousands, and would drown all other features of a network. A guess; not tuned.
LINEAR = 2.0  # features up to this value are unchanged; larger ones grow logarithmically


@kernel
def candidate_features(
    problems: LookaheadBatch,
    partial: PartialPlacements,
    operator: Ints,
    features: Single,
    offered: Bools,
) -> None:
    """Compute the features of every device for the next operator of the first R' placements.

    Parameters
    ----------
    operator
        (R',) the operator to place next, numbered within its problem.
    features
        (R', D, F), filled with `CANDIDATE_FEATURES`; 0 for devices that the problem lacks.
    offered
        (R', D), filled with whether the operator may go to each device. Among empty
        interchangeable devices, only the first is offered. At least one device is offered.
    """
    room = scratch_of(problems, partial)
    for r in range(operator.shape[0]):
        _offer(problems, partial, r, operator[r], offered[r])
        _describe(problems, partial, room, r, operator[r], features[r])


@bare
def _describe(
    problems: LookaheadBatch,
    partial: PartialPlacements,
    room: Messages,
    r: int,
    v: int,
    features: Single,
) -> None:
    """Fill in the features, (D, F), of operator v in row r, ordered as `CANDIDATE_FEATURES`."""
    p = partial.problem[r]
    first, g = problems.first_device[p], problems.first_operator[p] + v
    devices = problems.first_device[p + 1] - first
    operators = problems.first_operator[p + 1] - problems.first_operator[p]
    scale, unit = 1.0 / problems.reference[p], 1.0 / problems.unit[p]
    capacity, least, used = 0.0, np.inf, 0.0
    for d in range(devices):
        capacity += problems.capacity[first + d]
        least = min(least, partial.device[r, d])
        used += partial.device[r, d]
    mean = used / devices + problems.work[g] / capacity
    left = (partial.left[r] - problems.work[g]) / capacity
    ahead = _traffic_ahead(problems, partial, r, v)
    features[:] = 0.0
    for d in range(devices):
        highest, highest_device, on_links, local, heaviest, crossing = change_loads(
            problems, partial, room, r, v, d, 1.0
        )
        then = partial.device[r, d]
        change_loads(problems, partial, room, r, v, d, -1.0)
        now = partial.device[r, d]
        out = features[d]
        work = work_in_batch(problems, g, first + d)
        out[0] = squashed(work / problems.capacity[first + d] * scale)
        out[1] = squashed(now * scale)
        out[2] = squashed(then * scale)
        out[3] = squashed((then - mean) * scale)
        out[4] = squashed((now - least) * scale)
        out[5] = squashed(highest * scale)
        out[6] = squashed(on_links * scale)
        out[7] = squashed(partial.worst[r] * scale)
        out[8] = squashed(max(0.0, highest - partial.worst[r]) * scale)
        out[9] = squashed(local * scale)
        out[10] = squashed(heaviest * scale)
        out[11] = squashed(crossing * scale)
        out[12] = squashed(ahead * scale)
        out[13] = squashed(partial.open[r, d] * scale)
        out[14] = squashed((partial.open[r, d] - local + ahead) * scale)
        out[15] = squashed(partial.busiest[r, d] * scale)
        out[16] = squashed(problems.capacity[first + d] * devices / capacity)
        out[17] = squashed(problems.bandwidth[first + d])
        out[18] = 1.0 if partial.operators_on[r, d] == 0 else 0.0
        out[19] = partial.operators_on[r, d] / max(1, partial.placed[r])
        out[20] = 1.0 if partial.last[r] == d else 0.0
        out[21] = squashed(left * scale)
        out[22] = partial.placed[r] / operators
        out[23] = 1.0 / devices
        out[24] = squashed(then * unit)
        out[25] = squashed(on_links * unit)
        out[26] = squashed(max(highest_device, partial.worst_device[r]) * unit)
        out[27] = squashed(partial.worst[r] * unit)


@kernel
def place_next(
    problems: LookaheadBatch, partial: PartialPlacements, operator: Ints, chosen: Ints
) -> None:
    """Place the next operator, (R',), of the first R' placements on the chosen devices, (R',)."""
    room = scratch_of(problems, partial)
    for r in range(operator.shape[0]):
        v, d = operator[r], chosen[r]
        p = partial.problem[r]
        ahead = _traffic_ahead(problems, partial, r, v)
        highest, highest_device, _, _, _, _ = change_loads(problems, partial, room, r, v, d, 1.0)
        _close(problems, partial, r, v, d)
        partial.open[r, d] += ahead
        g = problems.first_operator[p] + v
        partial.on[r, v] = partial.together[r, problems.leader[g]] = d
        partial.worst[r] = max(partial.worst[r], highest)
        partial.worst_device[r] = max(partial.worst_device[r], highest_device)
        partial.left[r] -= problems.work[g]
        partial.used[r, d] += problems.needs[g]
        partial.operators_on[r, d] += 1
        partial.placed[r] += 1
        partial.last[r] = d


@kernel
def squashed(x: float) -> float:
    """Return x if |x| is at most `LINEAR`, otherwise a logarithmic continuation of it."""
    bent = x
    if x > LINEAR:
        bent = LINEAR + LINEAR * np.log(x / LINEAR)
    elif x < -LINEAR:
        bent = -LINEAR - LINEAR * np.log(-x / LINEAR)
    return bent


@kernel
def all_squashed(x: Floats) -> Floats:
    """Return `squashed` of every element of an array, (N,)."""
    made = np.empty_like(x)
    for i in range(x.shape[0]):
        made[i] = squashed(x[i])
    return made


@bare
def _traffic_ahead(problems: LookaheadBatch, partial: PartialPlacements, r: int, v: int) -> float:
    """Return the traffic between operator v and operators not placed yet."""
    o = problems.first_operator[partial.problem[r]]
    ahead = 0.0
    for i in range(problems.first_end[o + v], problems.first_end[o + v + 1]):
        if partial.on[r, problems.other[i]] < 0:
            ahead += problems.traffic[problems.stream[i]]
    return ahead


@bare
def _close(problems: LookaheadBatch, partial: PartialPlacements, r: int, v: int, b: int) -> None:
    """Update the devices at the other ends of the streams of v, which is now on device b.

    These streams are no longer open, and the links they cross may be the busiest.
    """
    p = partial.problem[r]
    o, first = problems.first_operator[p], problems.first_device[p]
    devices = problems.first_device[p + 1] - first
    for i in range(problems.first_end[o + v], problems.first_end[o + v + 1]):
        a = partial.on[r, problems.other[i]]
        if a < 0:
            continue
        partial.open[r, a] = max(0.0, partial.open[r, a] - problems.traffic[problems.stream[i]])
        if a == b:
            continue
        x, y = (b, a) if problems.outward[i] else (a, b)
        sends, receives = ends_of(problems.nic[p], devices, x, y)
        link, busiest = partial.link[r], partial.busiest[r]
        if problems.egress[p]:
            busiest[x] = max(busiest[x], link[x])
        else:
            busiest[x] = max(busiest[x], link[sends])
            busiest[y] = max(busiest[y], link[receives])
        if problems.uplinked[p]:
            up, down = uplinks_of(problems, first + x, first + y)
            if up >= 0:
                busiest[x] = max(busiest[x], link[up])
            if down >= 0:
                busiest[y] = max(busiest[y], link[down])


@bare
def _offer(
    problems: LookaheadBatch, partial: PartialPlacements, r: int, v: int, offered: Bools
) -> None:
    """Fill in the devices, (D,), that operator v of row r may go to."""
    p = partial.problem[r]
    g, first = problems.first_operator[p] + v, problems.first_device[p]
    devices = problems.first_device[p + 1] - first
    offered[:] = False
    settled = partial.together[r, problems.leader[g]]
    if settled >= 0:
        offered[settled] = True
        return
    any_offered = False
    for d in range(devices):
        if not problems.allowed[problems.first_allowed[g] + d]:
            continue
        if not _has_room(problems, partial, r, g, d):
            continue
        if partial.operators_on[r, d] == 0 and _has_empty_equal(problems, partial, r, first, d):
            continue
        offered[d] = any_offered = True
    if not any_offered:  # no device has room; the placement is repaired later
        for d in range(devices):
            offered[d] = problems.allowed[problems.first_allowed[g] + d]


@bare
def _has_room(problems: LookaheadBatch, partial: PartialPlacements, r: int, g: int, d: int) -> bool:
    """Return whether operator g of the batch fits on device d of row r's problem."""
    first = problems.first_device[partial.problem[r]]
    for k in range(problems.room.shape[1]):
        if partial.used[r, d, k] + problems.needs[g, k] > problems.room[first + d, k]:
            return False
    return True


@bare
def _has_empty_equal(
    problems: LookaheadBatch, partial: PartialPlacements, r: int, first: int, d: int
) -> bool:
    """Return whether an earlier device of the same kind as d is empty."""
    for equal in range(d):
        if (
            problems.kind[first + equal] == problems.kind[first + d]
            and partial.operators_on[r, equal] == 0
        ):
            return True
    return False
