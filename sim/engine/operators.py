"""The work of one operator in one tick, which backpressure limits (`_share_that_fits`)."""

import numpy as np

from streamplace.sim.engine.event_sets import take
from streamplace.sim.engine.links import SENDER, key_at, send
from streamplace.sim.engine.records import EngineState, Rules
from streamplace.sim.flow import Floats
from streamplace.sim.jit import bare

TINY = 1e-300  # to divide by, instead of 0


@bare
def run_operator(state: EngineState, rules: Rules, v: int, budget: float, tick: int) -> float:
    """Let operator v use up to `budget` seconds of its device; return the seconds used.

    It takes the same share of the waiting tuples from each of its inputs, limited by its budget, by
    the cores that it can use and by the queues downstream. `unmet` is set to the additional seconds
    that it could have used, and `held` to the share of its possible work that full queues
    downstream prevented.
    """
    state.operators[v].unmet = 0.0
    state.operators[v].held = 0.0
    used, windowed = 0.0, state.operators[v].window >= 0
    if windowed:
        used = _send_windows(state, rules, v, budget, tick)
        if tick >= state.windows[state.operators[v].window].due:
            return used
        budget -= used
    tuples, seconds = waiting_for(state, v)
    if tuples <= 0.0:
        return used
    share = 1.0
    if not windowed and rules.queue < np.inf:
        share = _share_that_fits(state, rules, v, tuples, tick)
    fits, most, own = share, 1.0, tuples * state.operators[v].own_cost
    if own > state.operators[v].own_left:
        most = state.operators[v].own_left / own
        share = min(share, most)
    if share * seconds > budget:
        state.operators[v].unmet += share * seconds - budget
        share = budget / seconds
    elif fits < most:
        state.operators[v].held = 1.0 - share * max(1.0 / most, seconds / max(budget, TINY))
    if share <= 0.0:
        return used
    state.operators[v].own_left -= share * own
    processed, total = share * tuples, state.scratch
    births = _take_inputs(state, rules, v, share, tuples, tick, total)
    state.operators[v].processed += processed
    if state.operators[v].sink >= 0:
        for s in range(total.shape[0]):
            state.reached[state.operators[v].sink, s] += total[s]
    elif windowed:
        gather(state, state.operators[v].window, processed, births, total)
    else:
        _emit(state, v, processed, births, total, tick)
    return used + share * seconds


@bare
def waiting_for(state: EngineState, v: int) -> tuple[float, float]:
    """Return the tuples that wait for operator v, and the seconds needed to process them."""
    tuples, seconds = 0.0, 0.0
    source = state.operators[v].source
    if source >= 0:
        tuples = state.sources[source].backlog
        seconds = tuples * state.operators[v].source_cost
    first = state.operators[v].first_in
    for e in range(first, first + state.operators[v].inputs):
        tuples += state.streams[e].waiting
        seconds += state.streams[e].waiting * state.streams[e].cost
    if state.operators[v].part < 1.0:
        return _waiting_on_each(state, v)
    return tuples, seconds


@bare
def _waiting_on_each(state: EngineState, v: int) -> tuple[float, float]:
    """Return the tuples that wait on every input of operator v, and the seconds to join them."""
    least, cost = np.inf, 0.0
    first = state.operators[v].first_in
    for e in range(first, first + state.operators[v].inputs):
        least = min(least, state.streams[e].waiting)
        cost += state.streams[e].cost
    return least, least * cost


@bare
def _share_that_fits(state: EngineState, rules: Rules, v: int, tuples: float, tick: int) -> float:
    """Return the share of `tuples` that v can process before a queue downstream is full.

    Without backpressure over the network, a queue on another device counts with its length at the
    end of the previous tick plus the tuples sent to it in this tick.
    """
    share = 1.0
    first = state.operators[v].first_out
    for i in range(first, first + state.operators[v].outputs):
        e = state.out_stream[i]
        room = state.streams[e].most
        if rules.pushes or state.streams[e].sends == 0:
            room -= state.streams[e].waiting + state.streams[e].in_flight
        else:
            room -= state.streams[e].left
            if state.streams[e].latest_key == key_at(SENDER, tick):
                room -= state.sets[state.streams[e].latest].size
        size = tuples * state.streams[e].selectivity
        if room < share * size:
            share = max(room, 0.0) / size
    return share


@bare
def _take_inputs(
    state: EngineState,
    rules: Rules,
    v: int,
    share: float,
    tuples: float,
    tick: int,
    total: Floats,
) -> float:
    """Take a share of the tuples waiting for operator v, and set `total` (S,) to their totals.

    An operator that joins its inputs takes a share of `tuples` from each of them.

    Returns the sum of their births, moved back by the time that v takes per tuple. Tuples taken by
    a sink are recorded as arrivals.
    """
    fast = state.devices[state.operators[v].device].fast
    births, is_sink = 0.0, state.operators[v].sink >= 0
    column = state.operators[v].arrival
    for s in range(total.shape[0]):
        total[s] = 0.0
    source = state.operators[v].source
    if source >= 0:
        emitted = share * state.sources[source].backlog
        state.sources[source].backlog -= emitted
        births = (tick + 0.5) * rules.tick_s * emitted
        if rules.source_wait:
            backlog = state.first_backlog + source
            births = take(state, backlog, emitted if share < 1.0 else np.inf, total)
        births -= emitted * state.operators[v].service_s / fast
        if is_sink:
            state.arrivals[column].tuples += emitted
            state.arrivals[column].births += births
        if source < total.shape[0]:
            total[source] = emitted
    first = state.operators[v].first_in
    for e in range(first, first + state.operators[v].inputs):
        waiting = state.streams[e].waiting
        if waiting > 0.0:
            amount = share * waiting
            if state.operators[v].part < 1.0:
                amount = share * tuples
            part = take(state, e, amount if amount < waiting else np.inf, total)
            part -= amount * state.streams[e].service_s / fast
            part *= state.operators[v].part
            births += part
            state.streams[e].taken += amount
            if is_sink:
                state.arrivals[column + e - first].tuples += amount * state.operators[v].part
                state.arrivals[column + e - first].births += part
            state.streams[e].waiting = waiting - amount
    return births


@bare
def _emit(
    state: EngineState, v: int, tuples: float, births: float, total: Floats, tick: int
) -> None:
    """Send `tuples`, times each stream's selectivity, on every outgoing stream of operator v."""
    first = state.operators[v].first_out
    for k in range(first, first + state.operators[v].outputs):
        e = state.out_stream[k]
        selectivity = state.streams[e].selectivity
        if selectivity > 0.0:
            i, fresh = send(state, e, tuples * selectivity, births * selectivity, tick)
            for s in range(total.shape[0]):
                before = 0.0 if fresh else state.totals[i, s]
                state.totals[i, s] = before + total[s] * state.carried[e, s]


@bare
def _send_windows(state: EngineState, rules: Rules, v: int, budget: float, tick: int) -> float:
    """Send the output of operator v's window, and close the window if due; return seconds used.

    A window that is due stays open, and nothing is gathered, until the previous one has been sent.
    """
    w, used, total = state.operators[v].window, 0.0, state.scratch
    # What is left of the window before, and then what the next one, which may close now, emits.
    for _ in range(2):
        tuples = state.windows[w].out
        if tuples > 0.0:
            share = _share_that_fits(state, rules, v, tuples, tick)
            seconds = tuples * state.operators[v].send_cost
            if share < 1.0:
                state.operators[v].held = 1.0 - share
            if share * seconds > budget - used:
                state.operators[v].unmet += share * seconds - (budget - used)
                share = (budget - used) / seconds
            if share > 0.0:
                for s in range(total.shape[0]):
                    total[s] = share * state.out_totals[w, s]
                    state.out_totals[w, s] -= total[s]
                births = share * state.windows[w].out_births
                state.windows[w].out_births -= births
                births += share * tuples * 0.5 * rules.tick_s  # windows close at the tick's start
                _emit(state, v, share * tuples, births, total, tick)
                used += share * seconds
                state.windows[w].out = tuples - share * tuples
        if state.windows[w].out <= 0.0 and tick >= state.windows[w].due:
            close_window(state, w)
    return used


@bare
def gather(state: EngineState, w: int, tuples: float, births: float, total: Floats) -> None:
    """Add tuples to the current slot."""
    slot = state.windows[w].slot
    state.slots[slot].tuples += tuples
    state.slots[slot].births += births
    for s in range(total.shape[0]):
        state.slot_totals[slot, s] += total[s]


@bare
def close_window(state: EngineState, w: int) -> None:
    """Turn the window's slots into tuples to send, and begin a new slot.

    Windows overlap, but source tuples count only once, with the slot in which they arrived.
    """
    first, slots = state.windows[w].first_slot, state.windows[w].slots
    tuples, births, newest = 0.0, 0.0, state.windows[w].slot
    for slot in range(first, first + slots):
        tuples += state.slots[slot].tuples
        births += state.slots[slot].births
    if tuples > 0.0:
        out = state.windows[w].count
        if out < 0.0:
            out = state.windows[w].ratio * tuples
        state.windows[w].out = out
        state.windows[w].out_births = births * out / tuples
        for s in range(state.out_totals.shape[1]):
            state.out_totals[w, s] += state.slot_totals[newest, s]
    slot = first + (newest + 1 - first) % slots
    state.windows[w].slot = slot
    state.slots[slot].tuples = 0.0
    state.slots[slot].births = 0.0
    for s in range(state.out_totals.shape[1]):
        state.slot_totals[slot, s] = 0.0
    state.windows[w].closed += 1
    state.windows[w].due = round(state.windows[w].closed * state.windows[w].advance)
