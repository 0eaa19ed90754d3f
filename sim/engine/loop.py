"""The loop over the ticks of a run."""

from collections.abc import Callable

from streamplace.sim.engine.event_sets import append, free_sets, more_sets, new_set
from streamplace.sim.engine.links import CRUMB, MOST_NEW, MOST_NEW_UPLINKS, land, serve_all
from streamplace.sim.engine.operators import run_operator, waiting_for
from streamplace.sim.engine.records import EngineState, Rules
from streamplace.sim.engine.snapshots import EngineError
from streamplace.sim.jit import bare, bare_entry

# Each pass is as long as the first; with up to 1,000, time was not linear in the operators.
MOST_PASSES = 8  # passes of the dynamic scheduler per tick; remaining work waits for the next tick
NO_TUPLES = 1e-9  # smaller numbers of tuples are rounding
# Queues without limit can grow for ever; an error is better than a process that is killed.
MOST_BYTES = 4 << 30  # limit on the memory of sets
AT_ONCE = 50_000_000  # (operators + streams) x ticks per kernel call, so that Ctrl-C is answered


@bare_entry
def run_ticks(state: EngineState, rules: Rules, begin: int, end: int) -> int:
    """Run ticks from `begin` up to `end`; return the first tick that was not run.

    The result is below `end` only if more sets are needed.
    """
    most_new = MOST_NEW_UPLINKS if rules.uplinks else MOST_NEW
    for tick in range(begin, end):
        if free_sets(state) <= most_new * state.streams.shape[0] + state.sources.shape[0]:
            return tick
        if rules.delays:
            land(state, tick, rules.tick_s)
        _offer(state, rules, tick)
        _begin_tick(state, rules, tick)
        for turn in range(MOST_PASSES if rules.dynamic else 1):
            _run_operators(state, rules, tick, turn == 0)
            if not rules.dynamic or not _share_the_rest(state, rules.tick_s):
                break
        _account(state, rules)
        _record(state, rules, tick)
        serve_all(state, rules, tick)
    return end


@bare_entry
def wait_ticks(state: EngineState, rules: Rules, begin: int, end: int) -> int:
    """Let ticks from `begin` up to `end` pass during which the job is down.

    Tuples are offered to sources, and nothing is processed or sent. Returns the first tick that has
    not passed, which is below `end` only if more sets are needed.
    """
    for tick in range(begin, end):
        if free_sets(state) <= state.sources.shape[0]:
            return tick
        _offer(state, rules, tick)
        _drop_excess(state, rules)
    return end


@bare
def _offer(state: EngineState, rules: Rules, tick: int) -> None:
    """Offer every source its tuples, which are born in the middle of the tick on average."""
    column = min(tick, state.offered.shape[1] - 1)
    for s in range(state.sources.shape[0]):
        tuples = state.offered[s, column]
        state.sources[s].offered += tuples
        state.sources[s].backlog += tuples
        if rules.source_wait and tuples > 0.0:
            i = new_set(state, 0, tuples, tuples * (tick + 0.5) * rules.tick_s)
            for k in range(state.totals.shape[1]):
                state.totals[i, k] = 0.0
            append(state, state.first_backlog + s, i)


@bare
def _begin_tick(state: EngineState, rules: Rules, tick: int) -> None:
    """Set the seconds that devices have in this tick."""
    row = 0
    while row + 1 < state.speed.shape[0] and state.speed_from[row + 1] <= tick:
        row += 1
    for d in range(state.devices.shape[0]):
        state.devices[d].fast = state.speed[row, d]
        state.devices[d].used_s = 0.0
        state.devices[d].held = 0.0


@bare
def _run_operators(state: EngineState, rules: Rules, tick: int, first: bool) -> None:
    """Let every operator use the seconds that it was granted, by its share in the first pass.

    The share of its work that full queues prevented is measured in the first pass of a tick.
    """
    for v in range(state.operators.shape[0]):
        d = state.operators[v].device
        if first:
            _begin_operator(state, rules, v, state.devices[d].fast)
        if state.devices[d].fast > 0.0:
            before = state.operators[v].held
            used = run_operator(state, rules, v, state.operators[v].grant, tick)
            held = state.operators[v].held
            if not first:
                held = state.operators[v].held = before
            elif held > 0.0:
                _hold_links(state, v, held)
            state.operators[v].blocked_s += (held - before) * rules.tick_s
            state.operators[v].busy_s += used / state.devices[d].fast
            state.devices[d].used_s += used
            state.devices[d].held = max(state.devices[d].held, held)
        elif _has_work(state, v):
            state.devices[d].used_s = rules.tick_s


@bare
def _begin_operator(state: EngineState, rules: Rules, v: int, fast: float) -> None:
    """Set the seconds that an operator has in this tick."""
    state.operators[v].grant = state.operators[v].share * rules.tick_s * fast
    state.operators[v].own_left = state.operators[v].own_share * rules.tick_s * fast
    state.operators[v].held = 0.0
    state.operators[v].unmet = 0.0


@bare
def _has_work(state: EngineState, v: int) -> bool:
    """Return whether tuples wait for operator v, or to be sent by it."""
    w = state.operators[v].window
    return waiting_for(state, v)[0] > NO_TUPLES or (w >= 0 and state.windows[w].out > NO_TUPLES)


@bare
def _hold_links(state: EngineState, v: int, held: float) -> None:
    """Record, at every link that operator v sends over, the share of its work that is held up."""
    first = state.operators[v].first_out
    for i in range(first, first + state.operators[v].outputs):
        e = state.out_stream[i]
        sends, receives = state.streams[e].sends, state.streams[e].receives
        if sends != 0:
            state.links[sends].held = max(state.links[sends].held, held)
            state.links[receives].held = max(state.links[receives].held, held)
            ups, downs = state.streams[e].ups, state.streams[e].downs
            if ups != 0:
                state.links[ups].held = max(state.links[ups].held, held)
            if downs != 0:
                state.links[downs].held = max(state.links[downs].held, held)


@bare
def _share_the_rest(state: EngineState, tick_s: float) -> bool:
    """Grant the unused seconds of devices to operators with work; return whether any were granted.

    Grants are proportional to shares, but no operator is granted more than it could use.
    """
    for d in range(state.devices.shape[0]):
        state.devices[d].rest = tick_s * state.devices[d].fast - state.devices[d].used_s
        state.devices[d].hungry = 0.0
    for v in range(state.operators.shape[0]):
        state.operators[v].grant = 0.0
        if state.operators[v].unmet > 0.0:
            state.devices[state.operators[v].device].hungry += state.operators[v].share
    satisfied = True
    while satisfied:
        satisfied = False
        for v in range(state.operators.shape[0]):
            d, unmet = state.operators[v].device, state.operators[v].unmet
            if unmet > 0.0 and unmet * state.devices[d].hungry <= (
                state.operators[v].share * state.devices[d].rest
            ):
                state.operators[v].grant = unmet
                state.operators[v].unmet = 0.0
                state.devices[d].rest -= unmet
                state.devices[d].hungry -= state.operators[v].share
                satisfied = True
    granted = 0.0
    for v in range(state.operators.shape[0]):
        d = state.operators[v].device
        hungry = state.devices[d].hungry
        if state.operators[v].unmet > 0.0 and state.devices[d].rest > 0.0 and hungry > 0.0:
            state.operators[v].grant = state.operators[v].share / hungry * state.devices[d].rest
        granted = max(granted, state.operators[v].grant)
    return granted > CRUMB * tick_s


@bare
def _account(state: EngineState, rules: Rules) -> None:
    """Add up the tick's busy and stalled seconds, drop excess tuples, and record queue lengths.

    A stopped device counts as busy while it has work. Sources drop tuples at the end of the tick,
    because the tuples of a tick do not arrive all at once.
    """
    for d in range(state.devices.shape[0]):
        if state.devices[d].fast > 0.0:
            busy = state.devices[d].used_s / state.devices[d].fast
            idle = max(0.0, rules.tick_s - busy)
            state.devices[d].busy_s += busy
            state.devices[d].stalled_s += state.devices[d].held * idle
        elif state.devices[d].used_s > 0.0:
            state.devices[d].busy_s += rules.tick_s
    _drop_excess(state, rules)
    if not rules.pushes:
        for e in range(state.streams.shape[0]):
            state.streams[e].left = state.streams[e].waiting


@bare
def _drop_excess(state: EngineState, rules: Rules) -> None:
    """Drop the tuples that exceed the queues of sources."""
    for s in range(state.sources.shape[0]):
        excess = state.sources[s].backlog - rules.source_queue
        if excess > 0.0:
            state.sources[s].dropped += excess
            state.sources[s].backlog = rules.source_queue
            if rules.source_wait:
                last = state.lists[state.first_backlog + s].tail
                kept = max(0.0, 1.0 - excess / state.sets[last].size)
                state.sets[last].size *= kept
                state.sets[last].births *= kept


@bare
def _record(state: EngineState, rules: Rules, tick: int) -> None:
    """Record arrivals at sinks, in the middle of the tick on average."""
    for c in range(state.arrivals.shape[0]):
        arrived = state.arrivals[c].tuples
        if arrived > 0.0:
            done = (tick + 0.5) * rules.tick_s
            state.arrived[tick, c] = arrived
            state.latency[tick, c] = done - state.arrivals[c].births / arrived
            state.arrivals[c].tuples = 0.0
            state.arrivals[c].births = 0.0


def advance(
    state: EngineState,
    rules: Rules,
    begin: int,
    end: int,
    work: Callable[[EngineState, Rules, int, int], int] = run_ticks,
) -> EngineState:
    """Run ticks from `begin` up to `end`; return the state, with more sets if needed.

    Parameters
    ----------
    work
        What runs ticks: `run_ticks`, or `wait_ticks` while the job is down.

    Raises
    ------
    EngineError
        If more sets are needed than memory is allowed for.
    """
    most = max(1, AT_ONCE // (len(state.operators) + len(state.streams)))
    while begin < end:
        stop = min(end, begin + most)
        begin = work(state, rules, begin, stop)
        if begin < stop:
            if 2 * (state.sets.nbytes + state.totals.nbytes) > MOST_BYTES:
                raise EngineError(f"more than {len(state.sets):,} event sets wait at tick {begin}")
            sets, totals = more_sets(state.sets, state.totals, state.lists)
            state = state._replace(sets=sets, totals=totals)
    return state
