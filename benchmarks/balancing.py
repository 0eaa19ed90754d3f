"""Balance and CPU time of `auto` where everything is carried, beside another version.

    python -m benchmarks.balancing FOLDER [--rounds N]

FOLDER is a checkout of the other version. Both place the same graphs in turn, in processes of their
own, whose clocks count CPU time. A step is 0.1% of the largest utilisation: placements whose sorted
utilisations round to the same steps are as good. "Lost" is the number of placements whose largest
utilisation is more than 0.1% above the other's. The other figures of quality compare the first
utilisation that differs, the largest first.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.bytecode import environment
from sim import work_clock
from sim.closed_form.bottleneck import utilisations
from streamplace import Cluster, Device, Network, Problem, Recipe, place
from streamplace.placers.registry import make_placer
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import max_source_rate

HERE = Path(__file__).resolve().parents[1]
SIZES = {10: 6, 30: 6, 100: 6, 300: 4, 1_000: 2}  # operators: graphs of each family
FAMILIES = ("layered", "series-parallel")
SLOW_LINKS, FAST_LINKS = Network("nic", 100.0), Network("nic", 1000.0)
CLUSTERS = (
    Cluster.equal(5),
    Cluster.equal(16, network=FAST_LINKS),
    Cluster([Device(f"d{i}", 5000.0 if i < 3 else 2000.0) for i in range(8)], SLOW_LINKS),
)
LOAD = 0.8  # of what the greedy placement carries
STEP = 1e-3  # relative to the largest utilisation


class Run(NamedTuple):
    """One placement: its CPU seconds, and its utilisations from the largest down."""

    seconds: float
    loads: NDArray[np.float64]


def main() -> None:
    """Print a line of figures per size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=HERE, help="the other version")
    parser.add_argument("--rounds", type=int, default=3, help="for the CPU times; default: 3")
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)  # of one process
    arguments = parser.parse_args()
    if arguments.size is not None:
        for seconds, loads in placed(arguments.size):
            print(json.dumps([seconds, loads.tolist()]))
        return
    print(
        f"{'operators':>9} {'graphs':>6} {'CPU ms':>8} {'other':>8} {'ratio':>6} "
        f"{'largest':>9} {'worst':>9} {'lost':>5} {'better':>6} {'worse':>6}"
    )
    for size in SIZES:
        pairs = []
        for _ in range(arguments.rounds):
            runs = [of_tree(tree.resolve(), size) for tree in (HERE, arguments.folder)]
            pairs.append([*zip(*runs, strict=True)])
        print(compared(size, pairs), flush=True)


def of_tree(tree: Path, size: int) -> list[Run]:
    """Return the runs of a version on all graphs of a size."""
    command = [sys.executable, "-P", __file__, "--size", str(size)]
    paths = {"PYTHONPATH": f"{tree}:{HERE}"}
    output = subprocess.check_output(command, cwd=tree, env=environment() | paths, text=True)
    return [Run(line[0], np.array(line[1])) for line in map(json.loads, output.splitlines())]


def placed(size: int) -> Iterator[Run]:
    """Place the graphs of a size."""
    place(Recipe(FAMILIES[0], 1).graph(0))  # loads the kernels
    auto = make_placer("auto")
    for number, problem in enumerate(problems(size)):
        with work_clock.cpu_time():
            begun = time.process_time()
            found = auto(problem, np.random.default_rng(number))
            seconds = time.process_time() - begun
        loads = np.concatenate(utilisations(flow(problem), found.devices))
        yield Run(seconds, -np.sort(-loads))


def problems(size: int) -> Iterator[Problem]:
    """Yield the problems of a size."""
    for family in FAMILIES:
        recipe = Recipe(family, SIZES[size], range(size, size + 1))
        for number in range(SIZES[size]):
            for cluster in CLUSTERS:
                problem = Problem(recipe.graph(number), cluster)
                greedy = make_placer("greedy")(problem, np.random.default_rng(0))
                yield problem.with_source_rate(LOAD * max_source_rate(problem, greedy.devices))


def compared(size: int, rounds: list[list[tuple[Run, Run]]]) -> str:
    """Return the line of a size, from the pairs of runs of each round."""
    pairs = rounds[0]  # what is placed does not depend on the round
    own, other = (
        [statistics.median(each[i][k].seconds for each in rounds) for i in range(len(pairs))]
        for k in (0, 1)
    )
    ratio = statistics.median(a / b for a, b in zip(own, other, strict=True))
    changes = np.array([mine.loads[0] / theirs.loads[0] - 1.0 for mine, theirs in pairs])
    firsts = [first_change(mine.loads, theirs.loads) for mine, theirs in pairs]
    return (
        f"{size:9} {len(pairs):6} {1e3 * statistics.median(own):8.2f} "
        f"{1e3 * statistics.median(other):8.2f} {ratio:6.3f} "
        f"{100 * changes.mean():+8.3f}% {100 * changes.max():+8.3f}% {(changes > STEP).sum():5} "
        f"{sum(x < 0 for x in firsts):6} {sum(x > 0 for x in firsts):6}"
    )


def first_change(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Return the first difference, in steps, of utilisations from the largest down; 0 for none."""
    step = STEP * min(mine[0], theirs[0])
    changes = np.rint(mine / step) - np.rint(theirs / step)
    unequal = np.flatnonzero(changes)
    return float(changes[unequal[0]]) if len(unequal) else 0.0


if __name__ == "__main__":
    main()
