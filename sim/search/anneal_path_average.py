"""Simulated annealing of path-average throughput.

Every trial needs a solution of the link equations. Three shortcuts make that cheap: a change that
overloads a device too much is rejected before solving; if no link is overloaded, the solution is
known; otherwise a few rounds starting from the last solution are accurate enough. A new best
placement is always solved in full.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.closed_form.path_average import Equations, look, solve, unsolved
from streamplace.sim.crossed import Crossed, nothing_crossed, number_links
from streamplace.sim.flow import Columns, Floats, Ints
from streamplace.sim.jit import bare, inner, kernel
from streamplace.sim.search.anneal import AFRESH, EVERY, Schedule
from streamplace.sim.search.instance import Instance
from streamplace.sim.search.moves import drawn, remember, settle, try_move, weigh
from streamplace.sim.search.rng import Word, uniform
from streamplace.sim.search.state import Move, SearchState

ROUNDS = 20  # rounds from the last solution before solving in full; a guess, not tuned
NEAR = 1e-4  # sufficient residual for trials, far below what temperatures tell apart
BETTER = 1.0 + 1e-9  # smallest factor that counts; less may be the residual of an old solution


class Links(NamedTuple):
    """The link equations of the placement being tried."""

    flow: Columns
    sinks: Ints
    nominal: float  # tuples/s that reach the sinks if nothing is throttled
    at: Ints  # (V,) device of each operator
    crossed: Crossed
    equations: Equations
    last: Floats  # (L,) link scales of the last solution


@kernel
def anneal_path_average(
    instance: Instance,
    flow: Columns,
    sinks: Ints,
    now: SearchState,
    state: Word,
    schedule: Schedule,
    enough: float,
) -> tuple[float, int]:
    """Anneal a search state in place; its `best` is the placement with the highest throughput.

    Parameters
    ----------
    flow, sinks
        Flow from which `instance` was made, and its sinks; the reference must be a utilisation of
        that flow.
    enough
        Relative throughput at which to stop.

    Returns
    -------
    tuple
        Relative throughput of the best placement, 0 if its equations were not solved, and the
        number of steps done.
    """
    links = _links(instance, flow, sinks, now)
    top = value = max(0.0, _solved(links, _start(instance, now, False)))
    _take(links)
    remember(now)
    temperature = schedule.hot
    cooling = (schedule.cold / schedule.hot) ** (EVERY / max(1.0, np.float64(schedule.steps)))
    for step in range(schedule.steps):
        if top >= enough:
            return top, step
        if step % EVERY == 0:
            temperature *= cooling
            if step % AFRESH == AFRESH - EVERY:
                weigh(instance, now)
        trial = drawn(instance, now, state, step, schedule.swaps, schedule.joins)
        if trial.b < 0:
            continue
        wanted = value * np.exp(temperature * np.log(1.0 - uniform(state)))
        try_move(instance, now, trial)
        start = _start(instance, now, True)
        # Devices alone leave too little, so that the links' equations need no solution.
        if start < wanted:
            continue
        _go(instance, links, trial, trial.b, trial.c)
        found = _nearly(links, start)
        if found > top * BETTER:
            # Solved in full, because a solution not reached from s = 1 can be a different one.
            found = _solved(links, start)
        if found < wanted or found < 0.0:
            _go(instance, links, trial, trial.a, now.on[trial.other])
            continue
        settle(instance, now, trial)
        _take(links)
        value = found
        if value > top * BETTER:
            top = value
            remember(now)
    return top, schedule.steps


@inner
def _links(instance: Instance, flow: Columns, sinks: Ints, now: SearchState) -> Links:
    at, nominal = np.empty(flow.work.shape[0], np.int32), 0.0
    for u in range(instance.work.shape[0]):
        for k in range(instance.first_member[u], instance.first_member[u + 1]):
            at[instance.member[k]] = now.on[u]
    for v in sinks:
        nominal += flow.operator_tuples[v]
    last = np.ones(flow.gap_s.shape[0])
    return Links(flow, sinks, nominal, at, nothing_crossed(flow), unsolved(flow), last)


@bare
def _start(instance: Instance, now: SearchState, trying: bool) -> float:
    """Return the share that devices and operators admit, optionally with the trial."""
    devices, links = instance.capacity.shape[0], instance.gap_s.shape[0]
    highest = 0.0
    for r in range(now.load.shape[0]):
        if devices <= r < devices + links:
            continue
        load = now.load[r]
        if trying and now.listed_in[r] == now.tally[1]:
            load += now.change[r]
        highest = max(highest, load)
    return 1.0 / max(1.0, highest * instance.reference)


@bare
def _go(instance: Instance, links: Links, trial: Move, b: int, c: int) -> None:
    """Move the operators of the trial's units to devices b and c."""
    for k in range(instance.first_member[trial.u], instance.first_member[trial.u + 1]):
        links.at[instance.member[k]] = b
    if trial.other >= 0:
        for k in range(instance.first_member[trial.other], instance.first_member[trial.other + 1]):
            links.at[instance.member[k]] = c


@inner
def _nearly(links: Links, start: float) -> float:
    """Return relative throughput to an accuracy of about `NEAR`; -1 if not solved."""
    flow, crossed, room = links.flow, links.crossed, links.equations
    count = number_links(links.at, flow, crossed)
    for i in range(links.last.shape[0]):
        room.scale[crossed.number[i]] = links.last[i]
    room.scale[0] = 1.0
    damping, before = 1.0, np.inf
    for _ in range(ROUNDS):
        residual = look(flow, start, count, crossed, room)
        if residual <= NEAR:
            return _reached(links)
        if residual > before:
            damping *= 0.5
        before = residual
        for i in range(1, count):
            room.scale[i] += damping * room.change[i]
    return _solved(links, start)


@inner
def _solved(links: Links, start: float) -> float:
    """Return relative throughput; -1 if the equations are not solved."""
    count = number_links(links.at, links.flow, links.crossed)
    if not solve(links.flow, start, count, links.crossed, links.equations):
        return -1.0
    return _reached(links)


@bare
def _reached(links: Links) -> float:
    reached = 0.0
    for v in links.sinks:
        reached += links.equations.rate[v]
    return min(1.0, reached / links.nominal)


@bare
def _take(links: Links) -> None:
    """Store the scales of the solution, from which the next one starts."""
    for i in range(links.last.shape[0]):
        number = links.crossed.number[i]
        links.last[i] = links.equations.scale[number] if number > 0 else 1.0
