"""Speed of scoring, comparing and starting up, against stated targets.

    python -m benchmarks.speed

Times are CPU seconds of one core, medians over interleaved rounds; `compare` is wall time.
"""

import itertools
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.bytecode import environment
from benchmarks.plain import PlainScorer
from streamplace import Cluster, Problem, Recipe, StreamGraph, place, write_dataset
from streamplace.scoring.throughput import throughput
from streamplace.sim.kernels import bundle

SCRIPT = "from streamplace.cli.entry import script; script()"  # as the installed command does
OVERLOAD = 1e5  # tuples/s
ROUNDS = 9
# placements per round: under bottleneck, under path-average, in plain Python
FAST, SLOW, PLAIN = 200_000, 20_000, 2_000
SIZES = (10**3, 10**4, 10**5, 10**6)
COMPARED = "metis,metis-oracle,fuser,fuser-oracle"
GRAPHS = 3150
ONE_STEP = """  # of a small network, so that starting up and not arithmetic takes the time
policy = { kind = "device-scorer", sizes = { hidden = 16, hops = 2, orders = [0, 1] } }
[[problems]]
devices = ["5x2500"]
source_rates = [1e4]
[[stage]]
algorithm = "reinforce"
epochs = 1
problems_per_step = 1
"""
REAL = "dataset:real/yahoo-advertising.json"


def main() -> None:
    """Print one line per figure."""
    print(f"{'figure':52} {'measured':>26} {'target':>14}")
    scoring()
    linearity()
    placing()
    start_up()
    comparing()


def scoring() -> None:
    """Measure placements/s of both models and of plain Python, on 27 operators and 5 devices."""
    graph = Recipe("dream", 1, range(27, 28)).graph(0)
    bottleneck, path_average = Problem(graph), Problem(graph, model="path-average")
    rows = np.random.default_rng(0).integers(0, 5, (FAST, len(graph.names)), dtype=np.int32)
    plain, lists = PlainScorer(bottleneck), rows[:PLAIN].tolist()
    if not np.allclose([plain.throughput(p) for p in lists], throughput(bottleneck, rows[:PLAIN])):
        raise SystemExit("benchmarks/plain.py and streamplace compute different throughputs")
    seconds = interleaved(
        [
            lambda: throughput(bottleneck, rows),
            lambda: throughput(path_average, rows[:SLOW]),
            lambda: [plain.throughput(p) for p in lists],
        ]
    )
    fast, slow, python = FAST / seconds[0], SLOW / seconds[1], PLAIN / seconds[2]
    report("bottleneck, placements/s", f"{fast:,.0f}", "10,000,000", fast >= 1e7)
    report(
        "bottleneck, speed-up over plain Python", f"{fast / python:,.0f}", "50", fast >= 50 * python
    )
    report("path average to 1e-12, placements/s", f"{slow:,.0f}", "120,000", slow >= 120_000)


def linearity() -> None:
    """Measure how the time to make a problem and score one placement grows, on 16 devices."""
    cluster = Cluster.equal(16)
    for preset in ("series-parallel", "layered"):
        calls, items = [], []
        for size in SIZES:
            graph = Recipe(preset, 1, range(size, size + 1)).graph(0)
            placement = (np.arange(size) * 16 // size).astype(np.int32)
            repeats = SIZES[-1] // size
            calls.append(partial(score_often, graph, cluster, placement, repeats))
            items.append(repeats * (size + len(graph.streams)))
        seconds = interleaved(calls)
        each = [1e9 * spent / count for spent, count in zip(seconds, items, strict=True)]
        figures = " ".join(f"{x:.1f}" for x in each)
        title = f"{preset}, ns per operator or stream, 1e3 … 1e6"
        report(title, figures, "1e6 < 2 x 1e4", each[-1] < 2 * each[1])


def score_often(
    graph: StreamGraph, cluster: Cluster, placement: NDArray[np.int32], repeats: int
) -> None:
    """Score one placement several times, each with a new problem, so that nothing is cached."""
    for _ in range(repeats):
        throughput(Problem(graph, cluster), placement)


def placing() -> None:
    """Measure the default placer on five devices, including scoring but not making the graph."""
    place(Recipe("layered", 1).graph(0))
    sizes = (10, 100, 1000, 10_000, 100_000)
    graphs = [Recipe("layered", 1, range(size, size + 1)).graph(0) for size in sizes]
    title = "auto, CPU s, layered graphs of 10, 100 … 1e5"
    for rate, name in ((None, title), (OVERLOAD, "the same, overloaded")):
        spent = []
        for graph in graphs:
            started = time.process_time()
            place(graph, source_rate=rate)
            spent.append(time.process_time() - started)
        report(name, " ".join(f"{seconds:.2g}" for seconds in spent), "-", True)


def start_up() -> None:
    """Measure the CPU seconds of short commands in new processes.

    Placing the overloaded graph loads the policy and searches until the time limit of `auto`.
    """
    with tempfile.TemporaryDirectory() as folder:
        overloaded = str(Path(folder) / "graph.jsonl")
        write_dataset(overloaded, [Recipe("dream", 1, range(27, 28)).graph(0)])
        if why := bundle.reason_for_none():
            print(f"first uses: skipped, since no compiled kernels fit: {why}")
        else:
            first_uses(Path(folder), overloaded)
        for title, words, target in (
            ("streamplace --help, CPU s", ["--help"], 0.2),
            ("streamplace place, real graph, CPU s", ["place", REAL], 1.0),
            ("streamplace place, overloaded graph, CPU s", ["place", overloaded], None),
        ):
            cpu_of(*words)  # compiles kernels where none are cached
            spent = statistics.median(cpu_of(*words) for _ in range(ROUNDS))
            met = target is None or spent <= target
            report(title, f"{spent:.3f}", "-" if target is None else f"{target:g}", met)


def first_uses(folder: Path, overloaded: str) -> None:
    """Measure commands that find no kernels but those of the package.

    Parameters
    ----------
    folder
        An empty place for files.
    overloaded
        The file of a graph to train on.
    """
    config, placed = folder / "one_step.toml", str(folder / "placed.json")
    config.write_text(ONE_STEP)
    cpu_of("place", REAL, "-o", placed)
    run = itertools.count()
    for title, words, most in (
        ("first place, CPU s", ("place", REAL), 0.8),
        ("first compare of nine graphs, CPU s", ("compare", "dataset:real"), 2.2),
        ("first place, makespan, CPU s", ("place", REAL, "--objective", "makespan"), 1.0),
        ("first simulate, engine, CPU s", ("simulate", REAL, placed, "--model", "engine"), 0.9),
        ("first training of one step, CPU s", ("train", overloaded, "--config", str(config)), 4.0),
    ):
        seconds = []
        for _ in range(ROUNDS):
            to = ("-o", f"{folder}/run{next(run)}") if words[0] == "train" else ()
            seconds.append(cpu_of(*words, *to, kernels="/proc/none"))
        spent = statistics.median(seconds)
        report(title, f"{spent:.3f}", f"{most:g}", spent <= most)


def comparing() -> None:
    """Measure the wall time of the command `compare` on two cores, under path-average."""
    with tempfile.TemporaryDirectory() as folder:
        dataset = str(Path(folder) / "dream.jsonl.gz")
        recipe = Recipe("dream", GRAPHS)
        write_dataset(dataset, map(recipe.graph, range(GRAPHS)))
        started = time.perf_counter()
        options = ("--placers", COMPARED, "--source-rate", "1e4,2e4", "--jobs", "2")
        cpu = cpu_of("compare", dataset, *options, "--model", "path-average")
        wall = time.perf_counter() - started
    report(f"compare {GRAPHS} graphs, 4 placers, 2 rates, wall s", f"{wall:.1f}", "60", wall <= 60)
    print(f"{'  the same in CPU s':52} {cpu:>26.1f}")


def interleaved(
    calls: Sequence[Callable[[], object]], clock: Callable[[], float] = time.process_time
) -> list[float]:
    """Run the calls in turn; return the median seconds of each, without the first round."""
    spent: list[list[float]] = [[] for _ in calls]
    for turn in range(ROUNDS + 1):
        for call, times in zip(calls, spent, strict=True):
            started = clock()
            call()
            if turn:
                times.append(clock() - started)
    return [statistics.median(times) for times in spent]


def cpu_of(*arguments: str, script: str = SCRIPT, kernels: str | None = None) -> float:
    """Return the CPU seconds of one command, with its workers, where modules keep bytecode.

    Parameters
    ----------
    script
        The Python code to run; by default, that of the command line.
    kernels
        The folder for kernels that did not come with the package; None: the usual one.
    """
    folder = {} if kernels is None else {"NUMBA_CACHE_DIR": kernels}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", script, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment() | folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report(figure: str, measured: str, target: str, met: bool) -> None:
    """Print one figure with its target.

    Parameters
    ----------
    figure
        The name of the figure.
    met
        Whether the target is met; True if there is no target.
    """
    print(f"{figure:52} {measured:>26} {target:>14} {'' if met else 'MISSED'}", flush=True)


if __name__ == "__main__":
    main()
