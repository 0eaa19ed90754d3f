"""What an operator does in a tick."""

import numpy as np

from sim.engine.event_sets import take
from sim.engine.links import send
from sim.engine.state import EngineState, Rules
from sim.engine.windows import close_window, gather
from sim.flow import Floats
from sim.jit import bare

TINY = 1e-300


@bare
def run_operator(world: EngineState, rules: Rules, v: int, budget: float, tick: int) -> float:
    """Let operator v use up to `budget` seconds of its device; return what it used.

    It takes the same share of everything that waits on its inputs: what its budget allows, or
    the queues after it. `unmet` tells how many more seconds would have helped, `held` which share
    of what it could have done the queues after it prevented.
    """
    world.operators[v].unmet = 0.0
    world.operators[v].held = 0.0
    used, windowed = 0.0, world.operators[v].window >= 0
    if windowed:
        used = _send_windows(world, rules, v, budget, tick)
        if tick >= world.windows[world.operators[v].window].due:
            return used
        budget -= used
    tuples, seconds = waiting_for(world, v)
    if tuples <= 0.0:
        return used
    share = 1.0
    if not windowed and rules.queue < np.inf:
        share = _share_that_fits(world, rules, v, tuples, tick)
    if share * seconds > budget:
        world.operators[v].unmet += share * seconds - budget
        share = budget / seconds
    elif share < 1.0:
        world.operators[v].held = 1.0 - share * max(1.0, seconds / max(budget, TINY))
    if share <= 0.0:
        return used
    processed, total = share * tuples, world.scratch
    births = _take_inputs(world, v, share, tick * rules.tick_s, total)
    world.operators[v].processed += processed
    if world.operators[v].sink >= 0:
        for s in range(total.shape[0]):
            world.reached[world.operators[v].sink, s] += total[s]
    elif windowed:
        gather(world, world.operators[v].window, processed, births, total)
    else:
        _emit(world, v, processed, births, total, tick)
    return used + share * seconds


@bare
def waiting_for(world: EngineState, v: int) -> tuple[float, float]:
    """Return the tuples that wait for operator v, and the seconds that they take."""
    tuples, seconds = 0.0, 0.0
    source = world.operators[v].source
    if source >= 0:
        tuples = world.sources[source].backlog
        seconds = tuples * world.operators[v].source_cost
    first = world.operators[v].first_in
    for e in range(first, first + world.operators[v].inputs):
        tuples += world.streams[e].waiting
        seconds += world.streams[e].waiting * world.streams[e].cost
    return tuples, seconds


@bare
def _share_that_fits(world: EngineState, rules: Rules, v: int, tuples: float, tick: int) -> float:
    """Return the share of `tuples` that operator v may process before a queue after it is full.

    Without backpressure over the network, a queue on another device counts as it was when the
    tick before ended, with what has been sent to it in this one.
    """
    share = 1.0
    first = world.operators[v].first_out
    for i in range(first, first + world.operators[v].outputs):
        e = world.out_stream[i]
        room = world.streams[e].most
        if rules.pushes or world.streams[e].sends == 0:
            room -= world.streams[e].waiting + world.streams[e].in_flight
        else:
            room -= world.streams[e].left
            if world.streams[e].latest_key == 2 * tick + 1:
                room -= world.sets[world.streams[e].latest].size
        size = tuples * world.streams[e].selectivity
        if room < share * size:
            share = max(room, 0.0) / size
    return share


@bare
def _take_inputs(world: EngineState, v: int, share: float, now: float, total: Floats) -> float:
    """Take a share of all that waits for operator v; put the totals into `total` (S,).

    Returns the sum of its births: what a source emits was born now. At a sink it has arrived.
    """
    births, is_sink = 0.0, world.operators[v].sink >= 0
    column = world.operators[v].arrival
    for s in range(total.shape[0]):
        total[s] = 0.0
    source = world.operators[v].source
    if source >= 0:
        emitted = share * world.sources[source].backlog
        world.sources[source].backlog -= emitted
        births = now * emitted
        if is_sink:
            world.arrivals[column].tuples += emitted
            world.arrivals[column].births += births
        if source < total.shape[0]:
            total[source] = emitted
    first = world.operators[v].first_in
    for e in range(first, first + world.operators[v].inputs):
        waiting = world.streams[e].waiting
        if waiting > 0.0:
            amount = share * waiting
            part = take(world, e, amount if share < 1.0 else np.inf, total)
            births += part
            world.streams[e].taken += amount
            if is_sink:
                world.arrivals[column + e - first].tuples += amount
                world.arrivals[column + e - first].births += part
            world.streams[e].waiting = waiting - amount
    return births


@bare
def _emit(
    world: EngineState, v: int, tuples: float, births: float, total: Floats, tick: int
) -> None:
    """Put `tuples`, times each stream's selectivity, on every stream out of operator v."""
    first = world.operators[v].first_out
    for k in range(first, first + world.operators[v].outputs):
        e = world.out_stream[k]
        selectivity = world.streams[e].selectivity
        if selectivity > 0.0:
            i, fresh = send(world, e, tuples * selectivity, births * selectivity, tick)
            for s in range(total.shape[0]):
                before = 0.0 if fresh else world.totals[i, s]
                world.totals[i, s] = before + total[s] * world.carried[e, s]


@bare
def _send_windows(world: EngineState, rules: Rules, v: int, budget: float, tick: int) -> float:
    """Send what operator v has to send, and close its window if it is due; return seconds used.

    A window that is due stays open, and nothing is gathered, until the one before is sent.
    """
    w, used, total = world.operators[v].window, 0.0, world.scratch
    for _ in range(2):
        tuples = world.windows[w].out
        if tuples > 0.0:
            share = _share_that_fits(world, rules, v, tuples, tick)
            seconds = tuples * world.operators[v].send_cost
            if share < 1.0:
                world.operators[v].held = 1.0 - share
            if share * seconds > budget - used:
                world.operators[v].unmet += share * seconds - (budget - used)
                share = (budget - used) / seconds
            if share > 0.0:
                for s in range(total.shape[0]):
                    total[s] = share * world.out_totals[w, s]
                    world.out_totals[w, s] -= total[s]
                births = share * world.windows[w].out_births
                _emit(world, v, share * tuples, births, total, tick)
                used += share * seconds
                world.windows[w].out_births -= births
                world.windows[w].out = tuples - share * tuples
        if world.windows[w].out <= 0.0 and tick >= world.windows[w].due:
            close_window(world, w)
    return used
