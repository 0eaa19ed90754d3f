"""Closed form without network backpressure, as in CEPSim and the published numbers.

Sources run at r = R * min(1, 1 / largest utilisation of a device or operator). Every link scales
the flows on it by s = min(1, 1 / utilisation offered to it). The offered utilisation depends on the
scales of upstream links, so s solves a system of equations. Throughput is R * (tuples/s reaching
the sinks) / (tuples/s reaching them if nothing is throttled).

Operators that join their inputs process what the slowest input brings; the rest of the others is
lost, as is what full links do not carry. Streams that share a message are scaled together.

Damped iteration can oscillate for any damping when three links feed back on each other, and it
needs a tiny damping factor when a link is crossed thousands of times, even if a solution exists.
With u = log s, the equations s = min(1, 1 / offered(s)) become u + max(0, log offered(exp u)) = 0.
The left side is convex in u, since offered is a sum of products of s, so Newton's method converges
well, but each step is costly. Where operators join their inputs, the flow is a minimum of such
sums, so that convergence is not certain.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.closed_form.bottleneck import add_streams, add_utilisations, utilisations
from streamplace.sim.crossed import (
    STAGES,
    Crossed,
    nothing_crossed,
    number_links,
    number_streams,
    passed,
)
from streamplace.sim.flow import NONE, Columns, Floats, Flow, Ints, checked
from streamplace.sim.jit import bare, bare_entry, kernel
from streamplace.sim.work import largest_own, taken, taken_at_first

STEPS = 100  # of Newton's method, which needs few where it converges at all
HALVINGS = 40  # of a step that makes the residual larger: 2^-40 of it is no step any more
MOST_SLOPES = 20_000_000  # operators x links; a larger matrix takes too much memory and time
# Largest |s - min(1, 1 / offered utilisation)| of a solution: little above rounding.
RESIDUAL = 1e-12
# Damped rounds, against equations that no damping settles; Newton's method follows.
ROUNDS = 100_000
# Adaptive damping comes first; at the edge of stability, it can oscillate for ever; see `solve`.
QUICK_ROUNDS = 200  # between two checks of progress with adaptive damping
# exp(-60) is below any residual, so that a fixed damping that converges at all has done so.
SETTLING = 60  # rounds * damping between two checks of progress with fixed damping
# Factor by which the residual must shrink between checks, or damping is halved; a guess.
PROGRESS = 0.5


def solve_by_newton(flow: Flow, placement: Ints, residual: float) -> Floats | None:
    """Return the tuples/s of each operator, (V,), or None if the method does not converge.

    Parameters
    ----------
    placement
        (V,) int32 device indices.
    residual
        Largest |s - min(1, 1 / offered utilisation)| of a solution.
    """
    columns = flow.columns
    crossed = nothing_crossed(columns)
    links = number_links(placement, columns, crossed)
    if flow.operators * links > MOST_SLOPES:
        return None
    busiest = max(utilisations(flow, placement)[0].max(), largest_own(placement, columns))
    start = 1.0 / max(1.0, busiest)

    def evaluate(log_scale: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        scale = np.exp(log_scale)
        rate, offered, slope = _linearise(columns, start, crossed, scale)
        left = log_scale + np.log(np.maximum(1.0, offered))
        passed = 1.0 / np.maximum(1.0, offered)
        slope *= scale * np.where(offered > 1.0, passed, 0.0)[:, None]
        return rate, left, scale - passed, slope

    log_scale = np.zeros(links)
    rate, left, error, slope = evaluate(log_scale)
    for _ in range(STEPS):
        if np.abs(error).max() <= residual:
            return rate
        try:
            step = np.linalg.solve(np.eye(links) + slope, -left)
        except np.linalg.LinAlgError:
            return None
        for halved in range(HALVINGS):
            tried = np.minimum(0.0, log_scale + step * 0.5**halved)
            found = evaluate(tried)
            if np.abs(found[1]).max() < np.abs(left).max():
                break
        else:
            return None
        log_scale, (rate, left, error, slope) = tried, found
    return None


@kernel
def _linearise(
    flow: Columns,
    start: float,
    crossed: Crossed,
    scale: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Return tuples/s (V,), offered utilisations (N,) and their derivatives by the scales (N, N).

    Link 0 stands for streams within a device; nothing is offered to it.
    """
    links = scale.shape[0]
    rate, rate_slope = np.empty(flow.work.shape[0]), np.zeros((flow.work.shape[0], links))
    for v in range(rate.shape[0]):
        rate[v] = taken_at_first(flow, v, start)
    offered, slope = np.zeros(links), np.zeros((links, links))
    for e in range(flow.source.shape[0]):
        a, b = flow.source[e], flow.target[e]
        tuples = rate[a] * flow.selectivity[e]
        tuples_slope = rate_slope[a] * flow.selectivity[e]
        for stage in range(STAGES):
            link, seconds = passed(crossed, e, stage)
            if link > 0:
                offered[link] += tuples * seconds
                slope[link] += tuples_slope * seconds
                tuples_slope *= scale[link]
                tuples_slope[link] += tuples
                tuples *= scale[link]
        if not flow.joins:
            rate_slope[b] += tuples_slope
        elif tuples < rate[b]:
            rate_slope[b] = tuples_slope
        rate[b] = taken(flow, rate[b], tuples)
    return rate, offered, slope


class Equations(NamedTuple):
    """The state of the solver of the link equations, by link number as in `Crossed`."""

    scale: Floats  # (links,) share of the offered flow that a link passes on
    change: Floats  # (links,) from this scale to the one implied by the offered utilisation
    rate: Floats  # (V,) tuples/s


class ConvergenceError(ArithmeticError):
    """The link equations could not be solved, so the throughput is unknown."""


def throughput(flow: Flow, placements: NDArray[np.integer]) -> Floats:
    """Return the throughput of each placement, (K,) tuples/s at the sources.

    Parameters
    ----------
    placements
        (K, V) device indices; (V,) counts as K = 1.

    Raises
    ------
    ValueError
        If `placements` does not fit the flow or names an unknown device, or no tuple ever reaches
        a sink.
    ConvergenceError
        If the residual exceeds 1e-12 after 100,000 rounds, and Newton's method fails too.
    """
    if flow.nominal_sink_tuples <= 0:
        raise ValueError("no tuple reaches a sink, so throughput is undefined")
    rows = checked(flow, placements)
    reached = np.empty(len(rows))
    done = 0
    while done < len(rows):
        solved: int = _sink_tuples(rows[done:], flow.columns, flow.sinks, reached[done:])
        done += solved
        if done < len(rows):
            reached[done] = _last_resort(flow, rows[done], done)
            done += 1
    return flow.source_rate * np.minimum(1.0, reached / flow.nominal_sink_tuples)


def _last_resort(flow: Flow, placement: Ints, number: int) -> float:
    """Return the tuples/s that reach the sinks by Newton's method, after damped rounds failed."""
    rate = solve_by_newton(flow, placement, RESIDUAL)
    if rate is None:
        raise ConvergenceError(
            f"placement {number}: link equations not solved to {RESIDUAL:g} in {ROUNDS} rounds"
        )
    return float(rate[flow.sinks].sum())


@kernel
def _sink_tuples(placements: Ints, flow: Columns, sinks: Ints, reached: Floats) -> int:
    """Fill in the tuples/s that reach the sinks; return the number solved before a failure."""
    load = np.empty(flow.capacity.shape[0] + flow.gap_s.shape[0])
    crossed, equations = nothing_crossed(flow), unsolved(flow)
    for k in range(placements.shape[0]):
        placement = placements[k]
        load[:] = 0.0
        if flow.multicast != NONE:
            add_utilisations(placement, flow, load)
            links = number_links(placement, flow, crossed)
        else:
            add_streams(placement, flow, load)
            links = number_streams(placement, flow, crossed)
        start = 1.0 / max(1.0, load[: flow.capacity.shape[0]].max())
        if flow.limits_operators:
            start = min(start, 1.0 / max(1.0, largest_own(placement, flow)))
        if not solve(flow, start, links, crossed, equations):
            return k
        total = 0.0
        for v in sinks:
            total += equations.rate[v]
        reached[k] = total
    return len(placements)


@kernel
def unsolved(flow: Columns) -> Equations:
    """Return arrays for `solve` to fill."""
    most = 4 if flow.up.shape[0] > 0 else 2
    links = min(most * flow.source.shape[0], flow.gap_s.shape[0]) + 1
    return Equations(np.ones(links), np.empty(links), np.empty(flow.work.shape[0]))


@bare_entry
def solve(flow: Columns, start: float, links: int, crossed: Crossed, room: Equations) -> bool:
    """Solve for the scales of the links numbered below `links`, and for the resulting flows.

    In damped rounds, a growing residual halves the damping factor and a falling one raises it
    slowly. That can oscillate forever at the edge of stability. Without progress, the damping
    factor is therefore fixed, and halved whenever progress stops again.
    """
    scale, change = room.scale, room.change
    scale[:links] = 1.0
    damping, fixed, left = 0.5, 1.0, QUICK_ROUNDS
    last, best, before = np.inf, np.inf, np.inf
    for _ in range(ROUNDS):
        residual = look(flow, start, links, crossed, room)
        if residual <= RESIDUAL:
            return True
        best = min(best, residual)
        left -= 1
        if left == 0:
            if best > PROGRESS * before:
                fixed *= 0.5
                damping = fixed
            before, best = best, np.inf
            left = QUICK_ROUNDS if fixed == 1.0 else int(SETTLING / fixed)
        # Raised slowly, since each overshooting costs several rounds; the factors are guesses.
        if fixed == 1.0:
            damping = damping * 0.5 if residual > last else min(1.0, damping * 1.1)
        last = residual
        for i in range(1, links):
            scale[i] += damping * change[i]
    return False


@bare
def look(flow: Columns, start: float, links: int, crossed: Crossed, room: Equations) -> float:
    """Compute the flows and the change of scale that they imply; return the largest change."""
    if flow.up.shape[0] > 0:
        return _look_through_uplinks(flow, start, links, crossed, room)
    if flow.joins:  # a constant argument, so that a loop without joins has no branch for them
        return _look_at_links(flow, True, start, links, crossed, room)
    return _look_at_links(flow, False, start, links, crossed, room)


@bare
def _look_at_links(
    flow: Columns, joins: bool, start: float, links: int, crossed: Crossed, room: Equations
) -> float:
    """Do the same as `look` where no links are shared."""
    scale, change, rate = room
    sends, receives = crossed.sends, crossed.receives
    for i in range(links):
        change[i] = 0.0
    for v in range(rate.shape[0]):
        rate[v] = taken_at_first(flow, v, start) if joins else flow.source_tuples[v] * start
    for e in range(flow.source.shape[0]):
        tuples = rate[flow.source[e]] * flow.selectivity[e]
        change[sends[e]] += tuples * crossed.send_s[e]
        tuples *= scale[sends[e]]
        if flow.nic:
            change[receives[e]] += tuples * crossed.receive_s[e]
            tuples *= scale[receives[e]]
        before = rate[flow.target[e]]
        rate[flow.target[e]] = taken(flow, before, tuples) if joins else before + tuples
    return _changes(links, room)


@bare
def _look_through_uplinks(
    flow: Columns, start: float, links: int, crossed: Crossed, room: Equations
) -> float:
    """Do the same as `look` where groups of devices share links."""
    scale, change, rate = room
    for i in range(links):
        change[i] = 0.0
    for v in range(rate.shape[0]):
        rate[v] = taken_at_first(flow, v, start)
    for e in range(flow.source.shape[0]):
        tuples = rate[flow.source[e]] * flow.selectivity[e]
        for stage in range(STAGES):
            link, seconds = passed(crossed, e, stage)
            change[link] += tuples * seconds
            tuples *= scale[link]
        rate[flow.target[e]] = taken(flow, rate[flow.target[e]], tuples)
    return _changes(links, room)


@bare
def _changes(links: int, room: Equations) -> float:
    """Turn offered utilisations into changes of scale; return the largest one."""
    scale, change = room.scale, room.change
    residual = 0.0
    for i in range(1, links):
        change[i] = 1.0 / max(1.0, change[i]) - scale[i]
        residual = max(residual, abs(change[i]))
    return residual
