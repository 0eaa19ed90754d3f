"""Reduction of the traffic between devices without loss of throughput."""

from sim.jit import bare, kernel
from sim.search.instance import Instance
from sim.search.moves import drawn, settle, try_move
from sim.search.rng import Word
from sim.search.state import Move, SearchState

SWAPS, JOINS = 0.3, 0.6


@kernel
def reduce_traffic(
    instance: Instance, now: SearchState, state: Word, steps: int, limit: float
) -> None:
    """Improve a search state in place by changes that lower the bit/s between devices.

    No load rises above `limit`; loads that are already higher do not rise at all.
    """
    for step in range(steps):
        trial = drawn(instance, now, state, step, SWAPS, JOINS)
        if trial.b < 0 or crossing(instance, now, trial) >= 0.0:
            continue
        try_move(instance, now, trial)
        fits = True
        for k in range(now.tally[0]):
            r = now.listed[k]
            after = now.load[r] + now.change[r]
            if after > limit and after > now.load[r]:
                fits = False
        if fits:
            settle(instance, now, trial)


@bare
def crossing(instance: Instance, now: SearchState, trial: Move) -> float:
    """Return an upper bound on the rise of the bit/s between devices, rounding included."""
    raised = _raised(instance, now, trial.u, trial.a, trial.b)
    if trial.other >= 0:
        now.on[trial.u] = trial.b
        raised += _raised(instance, now, trial.other, now.on[trial.other], trial.c)
        now.on[trial.u] = trial.a
    return raised


@bare
def _raised(instance: Instance, now: SearchState, u: int, a: int, b: int) -> float:
    raised, total = 0.0, 0.0
    for i in range(instance.first_end[u], instance.first_end[u + 1]):
        c = now.on[instance.other[i]]
        total += instance.bits[i]
        if c == a:
            raised += instance.bits[i]
        elif c == b:
            raised -= instance.bits[i]
    return raised + 1e-9 * total
