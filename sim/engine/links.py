"""Links between devices, which serve sets tick by tick, and the sets of one tick evenly.

The tuples that a stream sends in one tick travel in one set, and those that a link passes on to
the next in one tick form one set again, so a tick creates at most three sets per stream, or five
with uplinks. Links work in stages: the sender's, uplinks, downlinks, and the receiver's.
"""

import numpy as np

from streamplace.sim.engine.event_sets import NOTHING, append, new_set, pour, remove_first, split
from streamplace.sim.engine.records import EngineState, Rules
from streamplace.sim.jit import bare

MOST_NEW = 3  # new sets per stream and tick: sent, split on the first link, split on the second
MOST_NEW_UPLINKS = 5  # with uplinks and downlinks, each of which splits one more
SENDER, UPLINK, DOWNLINK, RECEIVER = range(4)  # stages; a pair link is the sender's
STAGES = 4  # as in sim/crossed.py, for kernels a constant of their own
CRUMB = 1e-9  # share of a tick; less remaining work is rounding


@bare
def key_at(stage: int, tick: int) -> int:
    """Return the number of a stage in a tick, which is not 0."""
    return STAGES * tick + 1 + stage


@bare
def send(state: EngineState, e: int, size: float, births: float, tick: int) -> tuple[int, bool]:
    """Send tuples to their queue if they stay on their device, otherwise to their link.

    Returns their set, whose totals the caller must update, and whether the set is new.
    """
    state.streams[e].sent += size
    local = state.streams[e].sends == 0
    if local:
        state.streams[e].waiting += size
        i: int = state.lists[e].tail
        fresh = i == NOTHING or state.sets[i].since != tick
    else:
        state.streams[e].in_flight += size
        i = state.streams[e].latest
        fresh = state.streams[e].latest_key != key_at(SENDER, tick)
    link = state.streams[e].sends
    if not fresh:
        state.sets[i].size += size
        state.sets[i].births += births
        state.links[link].needed = np.inf  # `_serve` adds up the sizes themselves, to round alike
        return i, False
    i = new_set(state, e, size, births)
    state.sets[i].since = tick
    if local:
        append(state, e, i)
    else:
        append(state, 2 * state.streams.shape[0] + link, i)
        state.streams[e].latest, state.streams[e].latest_key = i, key_at(SENDER, tick)
        state.links[link].needed += size * state.streams[e].send_s
    return i, True


@bare
def serve_all(state: EngineState, rules: Rules, tick: int) -> None:
    """Let every link work for a tick, stage by stage."""
    for stage in range(STAGES):
        if (stage == RECEIVER and not rules.nic) or (
            SENDER < stage < RECEIVER and not rules.uplinks
        ):
            continue
        for link in range(1, state.links.shape[0]):
            if state.links[link].stage == stage:
                _serve(state, rules, link, tick)
    if rules.walks:
        _pass_on_all(state, rules, tick)


@bare
def _pass_on_all(state: EngineState, rules: Rules, tick: int) -> None:
    """Pass on the sets of this tick from links that have served all of theirs.

    It goes through streams as they are in memory: in large graphs, the sets of one link are far
    from each other.
    """
    key = key_at(SENDER, tick)
    for e in range(state.streams.shape[0]):
        if state.streams[e].latest_key == key and state.links[state.streams[e].sends].clear:
            _leave(state, rules, state.streams[e].latest, tick)


@bare
def _serve(state: EngineState, rules: Rules, link: int, tick: int) -> None:
    """Let a link work for a tick and pass on the tuples that it has served."""
    at = 2 * state.streams.shape[0] + link
    stage, tick_s = state.links[link].stage, rules.tick_s
    left, full = tick_s, False
    state.links[link].clear = _is_clear(state, rules, link, tick)
    # Everything fits into the tick, so that one walk through all streams passes it on.
    if state.links[link].clear:
        left -= state.links[link].needed
        state.lists[at].head = state.lists[at].tail = NOTHING  # see `_pass_on_all`
    state.links[link].needed = 0.0
    while state.lists[at].head != NOTHING and left > 0.0:
        i = state.lists[at].head
        since, needed = state.sets[i].since, 0.0
        while i != NOTHING and state.sets[i].since == since:
            e = state.sets[i].stream
            needed += state.sets[i].size * _seconds(state, rules, e, stage)
            i = state.sets[i].after
        if needed <= left:
            left -= needed
            full = left <= 0.0 and i != NOTHING
            while state.lists[at].head != i:
                _pass_on(state, rules, remove_first(state, at), stage, tick)
        else:
            full = i != NOTHING or needed - left > CRUMB * tick_s
            k, share, left = state.lists[at].head, left / needed, 0.0
            while k != i:
                _pass_on(state, rules, split(state, k, share), stage, tick)
                k = state.sets[k].after
    state.links[link].busy_s += tick_s - left
    state.links[link].stalled_s += state.links[link].held * left
    state.links[link].held = 0.0
    if full:
        state.links[link].full_s += tick_s


@bare
def _is_clear(state: EngineState, rules: Rules, link: int, tick: int) -> bool:
    """Return whether all sets of a link are of this tick, and it can serve them in this tick."""
    if not rules.walks or state.links[link].needed > rules.tick_s:
        return False
    i = state.lists[2 * state.streams.shape[0] + link].head
    return bool(i != NOTHING and state.sets[i].since == tick)


@bare
def _seconds(state: EngineState, rules: Rules, e: int, stage: int) -> float:
    """Return the seconds per tuple of stream e on its link of a stage."""
    seconds: float
    if rules.uplinks and SENDER < stage < RECEIVER:
        seconds = state.streams[e].up_s if stage == UPLINK else state.streams[e].down_s
    else:
        seconds = state.streams[e].receive_s if stage == RECEIVER else state.streams[e].send_s
    return seconds


@bare
def _next(state: EngineState, rules: Rules, e: int, stage: int) -> int:
    """Return the number of the link that stream e passes after a stage; 0: none."""
    after: int = 0
    if rules.uplinks and stage < UPLINK and state.streams[e].ups != 0:
        after = state.streams[e].ups
    elif rules.uplinks and stage < DOWNLINK and state.streams[e].downs != 0:
        after = state.streams[e].downs
    elif stage < RECEIVER and state.streams[e].receives != state.streams[e].sends:
        after = state.streams[e].receives
    return after


@bare
def _pass_on(state: EngineState, rules: Rules, i: int, stage: int, tick: int) -> None:
    """Pass a set to the next link, to the wire, or to its queue."""
    e = state.sets[i].stream
    after = _next(state, rules, e, stage)
    if after != 0:
        key = key_at(state.links[after].stage, tick)
        if state.streams[e].latest_key == key:
            pour(state, i, state.streams[e].latest)
        else:
            state.sets[i].since = tick
            append(state, 2 * state.streams.shape[0] + after, i)
            state.streams[e].latest, state.streams[e].latest_key = i, key
    else:
        _leave(state, rules, i, tick)


@bare
def _leave(state: EngineState, rules: Rules, i: int, tick: int) -> None:
    """Pass a set from its last link to the wire, or to its queue."""
    e = state.sets[i].stream
    if state.streams[e].delay > 0:
        state.sets[i].since = tick + state.streams[e].delay
        append(state, state.streams.shape[0] + e, i)
    else:
        _arrive(state, i, rules.tick_s)


@bare
def land(state: EngineState, tick: int, tick_s: float) -> None:
    """Move the sets that have arrived by this tick from wires to queues."""
    count = state.streams.shape[0]
    for e in range(count):
        wire = count + e
        while state.lists[wire].head != NOTHING and state.sets[state.lists[wire].head].since < tick:
            _arrive(state, remove_first(state, wire), tick_s)


@bare
def _arrive(state: EngineState, i: int, tick_s: float) -> None:
    """Move a set into its queue; its latency has its exact travel time instead of whole ticks."""
    e = state.sets[i].stream
    append(state, e, i)
    ticks_s = (1 + state.streams[e].delay) * tick_s
    state.sets[i].births += state.sets[i].size * (ticks_s - state.streams[e].travel_s)
    state.streams[e].in_flight -= state.sets[i].size
    state.streams[e].waiting += state.sets[i].size
