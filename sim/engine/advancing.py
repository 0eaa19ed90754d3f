"""Ticks of a run, with more room for event sets where they need it."""

from collections.abc import Callable

from sim.engine.event_sets import more_sets
from sim.engine.loop import run_ticks
from sim.engine.snapshots import EngineError
from sim.engine.state import EngineState, Rules

MOST_BYTES = 4 << 30  # limit on the memory of sets
AT_ONCE = 50_000_000  # (operators + streams) x ticks per kernel call, so that Ctrl-C is answered


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
