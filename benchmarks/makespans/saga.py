"""HEFT and CPOP against those of the library SAGA, on random problems of its semantics.

    python -m benchmarks.makespans.saga PYTHON [--problems 200]

PYTHON is the interpreter of a separate environment with anrg-saga 2.1 (831 MB). Schedule lengths
must be equal. Two things differ from the publications and are accounted for:

- SAGA's mean of a message counts each pair of devices once and each device with itself once, so it
  is (n - 1) / (n + 1) of the mean over pairs of different devices that streamplace uses, for n
  devices;
- its downward rank adds the cost of the task itself where CPOP's adds that of the task before it,
  and divides it by the mean speed; `benchmarks.schedulers.on_saga` replaces it by the published
  one.

SAGA has had PEFT since 2.1.0, with the link between two devices where the publication has the mean
over all links (`peft:links` here); it is not compared.
"""

import argparse
from itertools import combinations

import numpy as np

from benchmarks.schedulers.instances import Instance
from benchmarks.schedulers.library import Library
from streamplace.makespan.compiled_pass import compiled_pass
from streamplace.makespan.placers.lists import preferred_devices
from streamplace.sim.schedule.bounds import times_on
from streamplace.sim.schedule.lists import list_schedule
from streamplace.sim.schedule.ranks import downward_rank, mean_messages, mean_seconds, upward_rank

TOLERANCE = 1e-9


def main() -> None:
    """Print how many schedule lengths are equal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python")
    parser.add_argument("--problems", type=int, default=200)
    options = parser.parse_args()
    problems = [drawn(seed) for seed in range(options.problems)]
    settings = {"has_published_ranks": True}
    with Library("SAGA", "on_saga", options.python, settings=settings) as library:
        for i, name in enumerate(("heft", "cpop")):
            scheduler = f"{name.capitalize()}Scheduler"
            ours = np.array([lengths(problem)[i] for problem in problems])
            other = np.array([library.schedule(scheduler, each).makespan for each in problems])
            equal = np.isclose(ours, other, rtol=TOLERANCE, atol=0.0)
            print(f"{name}: {equal.sum()} of {len(problems)} schedule lengths are equal")
            for seed in np.flatnonzero(~equal)[:5]:
                print(f"  problem {seed}: {ours[seed]:.9g}, SAGA {other[seed]:.9g}")


def drawn(seed: int) -> Instance:
    """Return a random problem with a single source and a single sink."""
    rng = np.random.default_rng(seed)
    tasks, devices = int(rng.integers(4, 40)), int(rng.integers(2, 9))
    edges = {(0, 1)}
    for target in range(1, tasks):
        edges |= {(int(source), target) for source in rng.integers(0, target, rng.integers(1, 4))}
    last = tasks - 1
    edges |= {(v, last) for v in range(last) if all(source != v for source, _ in edges)}
    return Instance(
        name=f"drawn {seed}",
        costs=rng.uniform(1, 10, tasks).tolist(),
        edges=[(v, w, float(rng.uniform(1, 10))) for v, w in sorted(edges)],
        speeds=rng.uniform(0.5, 2, devices).tolist(),
        links=[(a, b, float(rng.uniform(0.2, 4))) for a, b in combinations(range(devices), 2)],
    )


def lengths(instance: Instance) -> tuple[float, float]:
    """Return the schedule lengths of HEFT and CPOP, in seconds."""
    compiled = compiled_pass(instance.problem())
    tasks, masks = compiled.tasks, compiled.masks
    count = tasks.devices
    seconds = mean_seconds(tasks, *masks)
    messages = mean_messages(tasks, *masks) * ((count - 1) / (count + 1))
    rank = upward_rank(tasks, seconds, messages)
    priority = rank + downward_rank(tasks, seconds, messages)
    preferred = preferred_devices(tasks, priority, times_on(tasks.columns, *masks))
    heft = list_schedule(tasks, compiled.rules, rank)
    cpop = list_schedule(tasks, compiled.rules, priority, None, preferred)
    return heft.length, cpop.length


if __name__ == "__main__":
    main()
