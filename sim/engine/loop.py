"""The loop over ticks."""

from sim.engine.event_sets import free_sets
from sim.engine.links import CRUMB, MOST_NEW, land, serve_all
from sim.engine.operators import run_operator, waiting_for
from sim.engine.state import EngineState, Rules
from sim.jit import bare

MOST_PASSES = 8  # of the dynamic scheduler, a tick: what is left then is used in the next
NO_TUPLES = 1e-9  # fewer are what rounding has left


@bare
def run_ticks(world: EngineState, rules: Rules, begin: int, end: int) -> int:
    """Run ticks from `begin` up to `end`; return the first that was not run.

    That is before the end only where sets run short.
    """
    for tick in range(begin, end):
        if free_sets(world) <= MOST_NEW * world.streams.shape[0]:
            return tick
        if rules.delays:
            land(world, tick)
        _offer(world, tick)
        _wake(world, rules, tick)
        for turn in range(MOST_PASSES if rules.dynamic else 1):
            _run_operators(world, rules, tick, turn == 0)
            if not rules.dynamic or not _share_the_rest(world, rules.tick_s):
                break
        _account(world, rules)
        _record(world, rules, tick)
        serve_all(world, rules, tick)
    return end


@bare
def _offer(world: EngineState, tick: int) -> None:
    """Offer every source its tuples."""
    column = min(tick, world.offered.shape[1] - 1)
    for s in range(world.sources.shape[0]):
        world.sources[s].offered += world.offered[s, column]
        world.sources[s].backlog += world.offered[s, column]


@bare
def _wake(world: EngineState, rules: Rules, tick: int) -> None:
    """Give every device its seconds, and every operator its share of them."""
    row = 0
    while row + 1 < world.speed.shape[0] and world.speed_from[row + 1] <= tick:
        row += 1
    for d in range(world.devices.shape[0]):
        world.devices[d].fast = world.speed[row, d]
        world.devices[d].used_s = 0.0
        world.devices[d].held = 0.0
    for v in range(world.operators.shape[0]):
        fast = world.devices[world.operators[v].device].fast
        world.operators[v].grant = world.operators[v].share * rules.tick_s * fast
        world.operators[v].held = 0.0
        world.operators[v].unmet = 0.0


@bare
def _run_operators(world: EngineState, rules: Rules, tick: int, first: bool) -> None:
    """Let every operator use what it was granted.

    How far full queues held it up is told by the first time in a tick that it could work.
    """
    for v in range(world.operators.shape[0]):
        d = world.operators[v].device
        if world.devices[d].fast > 0.0:
            before = world.operators[v].held
            used = run_operator(world, rules, v, world.operators[v].grant, tick)
            held = world.operators[v].held
            if not first:
                held = world.operators[v].held = before
            elif held > 0.0:
                _hold_links(world, v, held)
            world.operators[v].blocked_s += (held - before) * rules.tick_s
            world.operators[v].busy_s += used / world.devices[d].fast
            world.devices[d].used_s += used
            world.devices[d].held = max(world.devices[d].held, held)
        elif _has_work(world, v):
            world.devices[d].used_s = rules.tick_s


@bare
def _has_work(world: EngineState, v: int) -> bool:
    """Return whether anything waits for operator v, or to be sent by it."""
    w = world.operators[v].window
    return waiting_for(world, v)[0] > NO_TUPLES or (w >= 0 and world.windows[w].out > NO_TUPLES)


@bare
def _hold_links(world: EngineState, v: int, held: float) -> None:
    """Note how far full queues hold operator v up, at every link that it sends over."""
    first = world.operators[v].first_out
    for i in range(first, first + world.operators[v].outputs):
        sends = world.streams[world.out_stream[i]].sends
        receives = world.streams[world.out_stream[i]].receives
        if sends != 0:
            world.links[sends].held = max(world.links[sends].held, held)
            world.links[receives].held = max(world.links[receives].held, held)


@bare
def _share_the_rest(world: EngineState, tick_s: float) -> bool:
    """Grant what is left of each device to its operators that could use it; return if any is.

    Nobody is granted more than it could use; but for that, grants go by shares.
    """
    for d in range(world.devices.shape[0]):
        world.devices[d].rest = tick_s * world.devices[d].fast - world.devices[d].used_s
        world.devices[d].hungry = 0.0
    for v in range(world.operators.shape[0]):
        world.operators[v].grant = 0.0
        if world.operators[v].unmet > 0.0:
            world.devices[world.operators[v].device].hungry += world.operators[v].share
    satisfied = True
    while satisfied:
        satisfied = False
        for v in range(world.operators.shape[0]):
            d, unmet = world.operators[v].device, world.operators[v].unmet
            if unmet > 0.0 and unmet * world.devices[d].hungry <= (
                world.operators[v].share * world.devices[d].rest
            ):
                world.operators[v].grant = unmet
                world.operators[v].unmet = 0.0
                world.devices[d].rest -= unmet
                world.devices[d].hungry -= world.operators[v].share
                satisfied = True
    granted = 0.0
    for v in range(world.operators.shape[0]):
        d = world.operators[v].device
        hungry = world.devices[d].hungry
        if world.operators[v].unmet > 0.0 and world.devices[d].rest > 0.0 and hungry > 0.0:
            world.operators[v].grant = world.operators[v].share / hungry * world.devices[d].rest
        granted = max(granted, world.operators[v].grant)
    return granted > CRUMB * tick_s


@bare
def _account(world: EngineState, rules: Rules) -> None:
    """Add up the tick's busy and stalled seconds; note how full the queues are left.

    A device that has stopped is busy while there is work for it. What may not wait at a source is
    dropped now: what a tick brings is not there all at once.
    """
    for d in range(world.devices.shape[0]):
        if world.devices[d].fast > 0.0:
            busy = world.devices[d].used_s / world.devices[d].fast
            idle = max(0.0, rules.tick_s - busy)
            world.devices[d].busy_s += busy
            world.devices[d].stalled_s += world.devices[d].held * idle
        elif world.devices[d].used_s > 0.0:
            world.devices[d].busy_s += rules.tick_s
    for s in range(world.sources.shape[0]):
        excess = world.sources[s].backlog - rules.source_queue
        if excess > 0.0:
            world.sources[s].dropped += excess
            world.sources[s].backlog = rules.source_queue
    if not rules.pushes:
        for e in range(world.streams.shape[0]):
            world.streams[e].left = world.streams[e].waiting


@bare
def _record(world: EngineState, rules: Rules, tick: int) -> None:
    """Note what arrived at the sinks; it did when their devices had done all of the tick's work."""
    for c in range(world.arrivals.shape[0]):
        arrived = world.arrivals[c].tuples
        if arrived > 0.0:
            d = world.operators[world.arrivals[c].operator].device
            done = tick * rules.tick_s + world.devices[d].used_s / world.devices[d].fast
            world.arrived[tick, c] = arrived
            world.latency[tick, c] = done - world.arrivals[c].births / arrived
            world.arrivals[c].tuples = 0.0
            world.arrivals[c].births = 0.0
