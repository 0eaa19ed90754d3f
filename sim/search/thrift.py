"""Less traffic between devices where that costs no throughput."""

from sim.jit import bare, kernel
from sim.search.chance import Word
from sim.search.changes import Trial, World, drawn, settle, try_out
from sim.search.instance import Instance

SWAPS, JOINS = 0.3, 0.6


@kernel
def spare_traffic(job: Instance, now: World, state: Word, steps: int, limit: float) -> None:
    """Change a world in place, taking what lowers the bits that cross between devices.

    No load is raised above `limit`, or above what it is where it is higher already.
    """
    for step in range(steps):
        trial = drawn(job, now, state, step, SWAPS, JOINS)
        if trial.b < 0 or _crossing(job, now, trial) >= 0.0:
            continue
        try_out(job, now, trial)
        fits = True
        for k in range(now.tally[0]):
            r = now.listed[k]
            after = now.load[r] + now.change[r]
            if after > limit and after > now.load[r]:
                fits = False
        if fits:
            settle(job, now, trial)


@bare
def _crossing(job: Instance, now: World, trial: Trial) -> float:
    """Return by how much a change raises the bit/s that cross, less what rounding could be."""
    raised = _raised(job, now, trial.u, trial.a, trial.b)
    if trial.other >= 0:
        now.on[trial.u] = trial.b
        raised += _raised(job, now, trial.other, now.on[trial.other], trial.c)
        now.on[trial.u] = trial.a
    return raised


@bare
def _raised(job: Instance, now: World, u: int, a: int, b: int) -> float:
    raised, all_of_it = 0.0, 0.0
    for i in range(job.first_end[u], job.first_end[u + 1]):
        c = now.on[job.other[i]]
        all_of_it += job.bits[i]
        if c == a:
            raised += job.bits[i]
        elif c == b:
            raised -= job.bits[i]
    return raised + 1e-9 * all_of_it
