"""Time of the lower bounds on layered graphs, in milliseconds of CPU time.

python -m benchmarks.makespans.bounds
"""

import time
from collections.abc import Callable
from functools import partial

from benchmarks.makespans.problems import layered_problem
from streamplace.makespan.compiled_pass import compiled_pass
from streamplace.sim.schedule.bounds import lower_bounds
from streamplace.sim.schedule.ranks import waits

SIZES = (30, 200, 1_000, 10_000, 100_000)
DEVICES, SECONDS = 8, 0.3


def main() -> None:
    """Print one row per size of graph."""
    print(f"{'operators':>9}{'path':>10}{'both':>10}{'path, s':>12}{'work, s':>12}")
    for size in SIZES:
        parts = compiled_pass(layered_problem(size, DEVICES, seed=size, ratio=1.0))
        columns, (allowed, row_of) = parts.tasks.columns, parts.masks
        bounds = lower_bounds(parts.tasks, allowed, row_of)
        path = _milliseconds(partial(waits, columns, allowed, row_of, True))
        both = _milliseconds(partial(lower_bounds, parts.tasks, allowed, row_of))
        print(f"{size:9,}{2 * path:10.3f}{both:10.3f}{bounds.path:12.2f}{bounds.work:12.2f}")


def _milliseconds(call: Callable[[], object]) -> float:
    call()
    begun, count = time.process_time(), 0
    while time.process_time() - begun < SECONDS:
        call()
        count += 1
    return (time.process_time() - begun) / count * 1e3


if __name__ == "__main__":
    main()
