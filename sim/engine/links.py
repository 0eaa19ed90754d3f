"""Links between devices, which serve sets tick by tick, and the sets of one tick evenly.

The tuples that a stream sends in one tick travel in one set, and the tuples that the sender's link
passes on in one tick form one set again, so a tick creates at most three sets per stream.
"""

from sim.engine.event_sets import NOTHING, append, new_set, pour, remove_first, split
from sim.engine.state import EngineState, Rules
from sim.jit import bare

MOST_NEW = 3  # new sets per stream and tick: sent, split on the first link, split on the second
CRUMB = 1e-9  # share of a tick; less remaining work is rounding


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
        fresh = state.streams[e].latest_key != 2 * tick + 1
    if not fresh:
        state.sets[i].size += size
        state.sets[i].births += births
        return i, False
    i = new_set(state, e, size, births)
    state.sets[i].since = tick
    if local:
        append(state, e, i)
    else:
        append(state, 2 * state.streams.shape[0] + state.streams[e].sends, i)
        state.streams[e].latest, state.streams[e].latest_key = i, 2 * tick + 1
    return i, True


@bare
def serve_all(state: EngineState, rules: Rules, tick: int) -> None:
    """Let every link work for a tick, sending links before receiving ones."""
    for link in range(1, state.links.shape[0]):
        if not state.links[link].receiving:
            _serve(state, link, tick, rules.tick_s)
    if rules.nic:
        for link in range(1, state.links.shape[0]):
            if state.links[link].receiving:
                _serve(state, link, tick, rules.tick_s)


@bare
def _serve(state: EngineState, link: int, tick: int, tick_s: float) -> None:
    """Let a link work for a tick and pass on the tuples that it has served."""
    at = 2 * state.streams.shape[0] + link
    receiving = state.links[link].receiving
    left, full = tick_s, False
    while state.lists[at].head != NOTHING and left > 0.0:
        i = state.lists[at].head
        since, needed = state.sets[i].since, 0.0
        while i != NOTHING and state.sets[i].since == since:
            e = state.sets[i].stream
            seconds = state.streams[e].receive_s if receiving else state.streams[e].send_s
            needed += state.sets[i].size * seconds
            i = state.sets[i].after
        if needed <= left:
            left -= needed
            full = left <= 0.0 and i != NOTHING
            while state.lists[at].head != i:
                _pass_on(state, remove_first(state, at), receiving, tick, tick_s)
        else:
            full = i != NOTHING or needed - left > CRUMB * tick_s
            k, share, left = state.lists[at].head, left / needed, 0.0
            while k != i:
                _pass_on(state, split(state, k, share), receiving, tick, tick_s)
                k = state.sets[k].after
    state.links[link].busy_s += tick_s - left
    state.links[link].stalled_s += state.links[link].held * left
    state.links[link].held = 0.0
    if full:
        state.links[link].full_s += tick_s


@bare
def _pass_on(state: EngineState, i: int, receiving: bool, tick: int, tick_s: float) -> None:
    """Pass a set to the receiver's link, to the wire, or to its queue."""
    e, count = state.sets[i].stream, state.streams.shape[0]
    if not receiving and state.streams[e].receives != state.streams[e].sends:
        if state.streams[e].latest_key == 2 * tick + 2:
            pour(state, i, state.streams[e].latest)
        else:
            state.sets[i].since = tick
            append(state, 2 * count + state.streams[e].receives, i)
            state.streams[e].latest, state.streams[e].latest_key = i, 2 * tick + 2
    elif state.streams[e].delay > 0:
        state.sets[i].since = tick + state.streams[e].delay
        append(state, count + e, i)
    else:
        _arrive(state, i, tick_s)


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
