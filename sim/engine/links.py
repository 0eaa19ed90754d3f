"""Links: sets wait in the order of their ticks; those of one tick share a link evenly.

What a stream sends in one tick travels in one set, and what its sender's link passes on in one
tick is one set again: no tick makes more than three sets a stream.
"""

from sim.engine.event_sets import NOTHING, append, new_set, pour, remove_first, split
from sim.engine.state import EngineState, Rules
from sim.jit import bare

MOST_NEW = 3  # sets a stream and tick: sent, split on its first link, split on its second
CRUMB = 1e-9  # of a tick: work that is less is what rounding has left


@bare
def send(world: EngineState, e: int, size: float, births: float, tick: int) -> tuple[int, bool]:
    """Send tuples on their way: to their queue if they stay on their device, else to their link.

    Returns their set, for the caller to give it their totals, and whether it has none yet.
    """
    world.streams[e].sent += size
    local = world.streams[e].sends == 0
    if local:
        world.streams[e].waiting += size
        i: int = world.lists[e].tail
        fresh = i == NOTHING or world.sets[i].since != tick
    else:
        world.streams[e].in_flight += size
        i = world.streams[e].latest
        fresh = world.streams[e].latest_key != 2 * tick + 1
    if not fresh:
        world.sets[i].size += size
        world.sets[i].births += births
        return i, False
    i = new_set(world, e, size, births)
    world.sets[i].since = tick
    if local:
        append(world, e, i)
    else:
        append(world, 2 * world.streams.shape[0] + world.streams[e].sends, i)
        world.streams[e].latest, world.streams[e].latest_key = i, 2 * tick + 1
    return i, True


@bare
def serve_all(world: EngineState, rules: Rules, tick: int) -> None:
    """Let every link work for a tick, those that send before those that receive."""
    for link in range(1, world.links.shape[0]):
        if not world.links[link].receiving:
            _serve(world, link, tick, rules.tick_s)
    if rules.nic:
        for link in range(1, world.links.shape[0]):
            if world.links[link].receiving:
                _serve(world, link, tick, rules.tick_s)


@bare
def _serve(world: EngineState, link: int, tick: int, tick_s: float) -> None:
    """Let a link work for a tick; what has passed goes on its way."""
    at = 2 * world.streams.shape[0] + link
    receiving = world.links[link].receiving
    left, full = tick_s, False
    while world.lists[at].head != NOTHING and left > 0.0:
        i = world.lists[at].head
        since, needed = world.sets[i].since, 0.0
        while i != NOTHING and world.sets[i].since == since:
            e = world.sets[i].stream
            seconds = world.streams[e].receive_s if receiving else world.streams[e].send_s
            needed += world.sets[i].size * seconds
            i = world.sets[i].after
        if needed <= left:
            left -= needed
            full = left <= 0.0 and i != NOTHING
            while world.lists[at].head != i:
                _pass_on(world, remove_first(world, at), receiving, tick)
        else:
            full = i != NOTHING or needed - left > CRUMB * tick_s
            some, share, left = world.lists[at].head, left / needed, 0.0
            while some != i:
                _pass_on(world, split(world, some, share), receiving, tick)
                some = world.sets[some].after
    world.links[link].busy_s += tick_s - left
    world.links[link].stalled_s += world.links[link].held * left
    world.links[link].held = 0.0
    if full:
        world.links[link].full_s += tick_s


@bare
def _pass_on(world: EngineState, i: int, receiving: bool, tick: int) -> None:
    """Hand a set to the receiver's link, to the wire, or to its queue."""
    e, count = world.sets[i].stream, world.streams.shape[0]
    if not receiving and world.streams[e].receives != world.streams[e].sends:
        if world.streams[e].latest_key == 2 * tick + 2:
            pour(world, i, world.streams[e].latest)
        else:
            world.sets[i].since = tick
            append(world, 2 * count + world.streams[e].receives, i)
            world.streams[e].latest, world.streams[e].latest_key = i, 2 * tick + 2
    elif world.streams[e].delay > 0:
        world.sets[i].since = tick + world.streams[e].delay
        append(world, count + e, i)
    else:
        _arrive(world, i)


@bare
def land(world: EngineState, tick: int) -> None:
    """Take what has arrived by this tick off the wires."""
    count = world.streams.shape[0]
    for e in range(count):
        wire = count + e
        while world.lists[wire].head != NOTHING and world.sets[world.lists[wire].head].since < tick:
            _arrive(world, remove_first(world, wire))


@bare
def _arrive(world: EngineState, i: int) -> None:
    e = world.sets[i].stream
    append(world, e, i)
    world.streams[e].in_flight -= world.sets[i].size
    world.streams[e].waiting += world.sets[i].size
