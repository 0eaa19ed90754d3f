"""Accuracy and speed of the engine, against CEPSim, the closed forms and plain Python.

    python -m benchmarks.engine [--problems N] [--shared FOLDER] [--only NAME …]

Errors are errors of relative throughput. CEPSim is represented by the 609 reference runs in
FOLDER/cepsim; that part is skipped if they are missing. Seconds are CPU seconds of one core,
medians over interleaved rounds; a training step is measured in wall time on all cores.
"""

import argparse
import csv
import gc
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import count, islice
from pathlib import Path

import numpy as np
import torch

from benchmarks.reference.changes import renamed, shares
from benchmarks.reference.engine import PlainEngine
from benchmarks.speed import interleaved, report
from sim.engine import RunMetrics, Settings, Simulation, refinement
from streamplace import (
    Cluster,
    Device,
    Network,
    Placement,
    Problem,
    Recipe,
    StreamGraph,
    place,
    read_dataset,
)
from streamplace.policy.registry import make_policy
from streamplace.problem.objective import Model
from streamplace.scoring import engine as runs
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import throughput
from streamplace.training import TrainConfig, read_config
from streamplace.training.algorithms.base import Step
from streamplace.training.distributed import Workers
from streamplace.training.learner import Learner
from streamplace.training.loop import Loop
from streamplace.training.problems import encoded_by, largest_first
from streamplace.util.arrays import Ints

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
TESTS = Path(__file__).resolve().parents[1] / "tests" / "sim" / "engine"
RATE = 1e4
SEED = 5_000_000  # far from all seeds of training
REPEATS = 20  # runs per round
CEPSIM_MS = 134.0  # the same run by CEPSim in a warm JVM, the fastest of several


@dataclass(frozen=True)
class Column:
    """A column of the reference runs: the settings that it was simulated with, and the targets.

    Parameters
    ----------
    settings
        Settings of the engine. Throughput is measured up to second 60, from `measure_from_s` on.
    bandwidth_mbps
        Bandwidth of every pair link; None means unlimited.
    mean, largest
        Targets for the mean and the largest absolute error of relative throughput.
    latency
        Name of the column with latencies (ms), which cover all 61 seconds.
    """

    settings: Settings
    bandwidth_mbps: float | None
    mean: float
    largest: float | None = None
    latency: str | None = None


FORMS: tuple[tuple[bool, Model], ...] = ((True, "bottleneck"), (False, "path-average"))
"""Whether the engine uses backpressure, and the closed form with the same semantics."""
CPU_ONLY, LINKS = None, 1000.0  # bandwidths in Mbps
NO_BACKPRESSURE = Settings(
    duration_s=60.0, measure_from_s=20.0, backpressure=False, source_wait=False
)
IN_FLIGHT_COUNTED = Settings(duration_s=60.0, measure_from_s=30.0, tick_s=0.01)
DYNAMIC = replace(NO_BACKPRESSURE, scheduler="dynamic", allocation="uniform")
COLUMNS = {
    "thr_fixed_cpu_defw": Column(NO_BACKPRESSURE, CPU_ONLY, 0.003, 0.03),
    "thr_pairnet_defw": Column(NO_BACKPRESSURE, LINKS, 0.003, 0.03),
    "thr_pairnet_credit_defw": Column(IN_FLIGHT_COUNTED, LINKS, 0.003, 0.03),
    "thr_fixed_cpu_dyn": Column(DYNAMIC, CPU_ONLY, 0.007),
    "thr_pairnet_dyn": Column(DYNAMIC, LINKS, 0.007, latency="latency_ms_pairnet_dyn"),
}


def main() -> None:
    """Print one line per figure."""
    parts: dict[str, Callable[[argparse.Namespace], None]] = {
        "reference": reference,
        "ranks": ranks,
        "closed-forms": closed_forms,
        "names": names,
        "speed": speed,
        "linearity": linearity,
        "training": training,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--problems", type=int, default=1000, help="number of random problems; default: 1000"
    )
    parser.add_argument(
        "--shared", type=Path, default=SHARED, help="folder that holds CEPSim's reference runs"
    )
    parser.add_argument(
        "--only", nargs="*", choices=parts, default=list(parts), help="parts to run; default: all"
    )
    arguments = parser.parse_args()
    print(f"{'figure':52} {'measured':>26} {'target':>14}")
    for name in arguments.only:
        parts[name](arguments)


def reference(arguments: argparse.Namespace) -> None:
    """Compare the engine with CEPSim's runs."""
    runs_of, graphs_of = (
        arguments.shared / name for name in ("cepsim/reference.csv", "dream/graphs.jsonl.gz")
    )
    if not (runs_of.exists() and graphs_of.exists()):
        print(f"no reference runs in {arguments.shared} (see --shared): part skipped")
        return
    graphs = {graph.name: graph for graph in read_dataset(graphs_of)}
    with runs_of.open() as file:
        rows = [row for row in csv.DictReader(file) if graph_name(row) in graphs]
    for name, column in COLUMNS.items():
        compare_column(name, column, rows, graphs)


def graph_name(row: dict[str, str]) -> str:
    """Return the name of a row's graph."""
    return f"graph_{row['graph_id']}"


def compare_column(
    name: str, column: Column, rows: list[dict[str, str]], graphs: dict[str, StreamGraph]
) -> None:
    """Print the errors of the engine relative to a column of CEPSim's runs."""
    cluster = Cluster.equal(5, network=Network(bandwidth_mbps=column.bandwidth_mbps))
    errors, latencies = [], []
    for row in rows:
        try:
            expected = float(row[name])
        except ValueError:  # CEPSim did not finish this run
            continue
        problem = Problem(graphs[graph_name(row)], cluster, source_rate=RATE)
        placement = Placement(problem, [int(device) for device in row["placement"].split()])
        metrics = runs.run(placement, column.settings)
        errors.append(abs(metrics.throughput - expected) / RATE)
        if column.latency:
            full_run = replace(column.settings, duration_s=61.0, measure_from_s=0.0)
            latency = runs.run(placement, full_run).latency_s()
            if latency is not None and row[column.latency]:
                latencies.append(abs(1e3 * latency["mean"] / float(row[column.latency]) - 1.0))
    mean, largest = float(np.mean(errors)), max(errors)
    title = f"{name}, {len(errors)} runs: mean error"
    report(title, f"{mean:.5f}", f"{column.mean}", mean <= column.mean)
    if column.largest is not None:
        count = sum(error > column.largest for error in errors)
        text = f"{largest:.4f} ({count} above)"
        report("  largest error", text, f"{column.largest}", largest <= column.largest)
    if latencies:
        median = statistics.median(latencies)
        report(f"{column.latency}: median", f"{median:.1%}", "10%", median <= 0.1)


def ranks(arguments: argparse.Namespace) -> None:
    """Run the tests of the rankings T2 and T3 (from the paper) and T4, and of CEPSim's defects."""
    for title, name in (
        ("ranks of T2, T3 and T4", "test_measured_ranks.py"),
        ("defects of CEPSim", "test_cepsim_defects.py"),
    ):
        command = [sys.executable, "-m", "pytest", "--no-header", str(TESTS / name)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        outcome = done.stdout.rstrip().splitlines()[-1].split(" in ")[0].strip("= ")
        report(f"{title}, tests", outcome, "all pass", done.returncode == 0)


def closed_forms(arguments: argparse.Namespace) -> None:
    """Compare the engine with the closed form of the same semantics on random problems.

    `--problems` counts problems with one source. Problems with several sources that are drawn in
    between are reported separately. Ticks are 0.05 s long. A run that has not settled (or that is
    not steady, without backpressure) is repeated with ten times the duration.
    """
    errors: dict[tuple[bool, bool], list[float]] = {}
    lost = 0.0
    for problem, devices in random_problems():
        single = len(problem.graph.sources) == 1
        for backpressure, model in FORMS:
            metrics = settled(
                Placement(problem, devices), Settings(tick_s=0.05, backpressure=backpressure)
            )
            closed = Problem(
                problem.graph, problem.cluster, source_rate=problem.source_rate, model=model
            )
            expected = throughput(closed, devices)[0]
            error = (metrics.throughput - expected) / problem.source_rate
            errors.setdefault((single, backpressure), []).append(float(error))
            lost = max(lost, metrics.trace.lost)
        if len(errors.get((True, False), [])) == arguments.problems:
            break
    for (single, backpressure), values in sorted(errors.items(), reverse=True):
        sources = "one source" if single else "several sources"
        form = "bottleneck" if backpressure else "path-average"
        title = f"{len(values)} problems, {sources}, {form}"
        if single:
            mean = float(np.abs(values).mean())
            report(f"{title}: mean error", f"{mean:.5f}", "0.01", mean <= 0.01)
        else:
            below = sum(error < -0.01 for error in values)
            text = f"{min(values):+.4f} ({below} below)"
            report(
                f"{title}: minimum",
                text,
                "-0.01" if backpressure else "",
                not (backpressure and below),
            )
    report("share of a stream's tuples lost, maximum", f"{lost:.1e}", "1e-6", lost <= 1e-6)


def settled(placement: Placement, settings: Settings) -> RunMetrics:
    """Return a settled run, or the last one if ten times the duration is not enough to settle.

    Without backpressure the queues of links can grow endlessly, so a steady run is enough there.
    """
    metrics = runs.run(placement, settings)
    if not (metrics.settled if settings.backpressure else metrics.steady):
        metrics = runs.run(placement, replace(settings, duration_s=10 * settings.duration_s))
    return metrics


def random_problems() -> Iterator[tuple[Problem, Ints]]:
    """Yield random problems on unequal devices, each with a random placement, endlessly."""
    rng = np.random.default_rng(SEED)
    for i in count():
        preset, size = ("layered", "series-parallel")[i % 2], int(rng.integers(6, 60))
        graph = Recipe(preset, 1, range(size, size + 1), SEED + i).graph(0)
        devices = int(rng.integers(2, 9))
        network = Network(
            "nic" if rng.random() < 0.3 else "pair",
            bandwidth_mbps=float(rng.choice([300, 1000, 3000])),
            overhead_s=float(rng.choice([0, 1e-6])),
            gap_s=float(rng.choice([0, 1e-6])),
        )
        hosts = [
            Device(f"d{k}", float(rng.uniform(1000, 4000)) / cores, cores=cores)
            for k, cores in enumerate(rng.integers(1, 5, devices).tolist())
        ]
        rate = float(rng.choice([2e3, 1e4, 3e4]))
        problem = Problem(graph, Cluster(hosts, network), source_rate=rate)
        yield problem, rng.integers(0, devices, size).astype(np.int32)


def names(arguments: argparse.Namespace) -> None:
    """Compare runs before and after operators, devices and streams are renamed and reordered."""
    rng = np.random.default_rng(SEED)
    worst = {"default": 0.0, "dynamic": 0.0}
    for problem, devices in islice(random_problems(), arguments.problems):
        operators, hosts = (
            rng.permutation(n).tolist() for n in (len(devices), len(problem.cluster.devices))
        )
        other = renamed(problem, operators, hosts)
        streams = [other.graph.streams[e] for e in rng.permutation(len(other.graph.streams))]
        graph = StreamGraph(other.graph.operators, streams, source_shares=shares(other.graph))
        other = Problem(graph, other.cluster, source_rate=other.source_rate)
        moved = [hosts.index(devices[v]) for v in operators]
        for scheduler, before in worst.items():
            settings = Settings(duration_s=30.0, scheduler=scheduler)  # type: ignore[arg-type]
            one, two = (
                runs.run(Placement(*case), settings)
                for case in ((problem, devices), (other, moved))
            )
            worst[scheduler] = max(before, difference(one, two, operators))
    for scheduler, largest in worst.items():
        title = f"{arguments.problems} problems under other names, {scheduler}"
        report(title, f"{largest:.1e}", "1e-9", largest <= 1e-9)


def difference(one: RunMetrics, two: RunMetrics, operators: list[int]) -> float:
    """Return the largest relative difference of throughput, latency and operators' rates."""
    scale = one.simulation.flow.source_rate
    rates = np.abs(two.operator_rates - one.operator_rates[operators]).max() / scale
    differences = [float(rates), abs(two.throughput - one.throughput) / scale]
    first, second = one.latency_s(), two.latency_s()
    if first is not None and second is not None:
        differences.append(abs(second["mean"] / first["mean"] - 1.0))
    return max(differences)


def speed(arguments: argparse.Namespace) -> None:
    """Measure one run of the default length, and the same run of the plain engine."""
    gc.collect()
    gc.freeze()  # so that garbage collections do not scan the objects of earlier figures
    problem, placement = example()
    simulation = runs.simulation(problem)
    plain = partial(run_plain, problem, placement, simulation)
    repeatedly = partial(run_repeatedly, simulation, placement)
    refined = partial(run_refined, simulation, placement)
    seconds = interleaved(
        [partial(repeatedly, metrics=False), partial(repeatedly, metrics=True), plain, refined]
    )
    bare, full = (1e3 * spent / REPEATS for spent in seconds[:2])
    report("26 operators, 610 ticks, ms", f"{bare:.2f}", "1.3", bare <= 1.3)
    report("  with throughput and quantiles of latency, ms", f"{full:.2f}", "", True)
    at_defaults = 1e3 * seconds[3] / REPEATS
    report("  with --tick auto, the default, ms", f"{at_defaults:.2f}", "", True)
    report("  speed-up over plain Python", f"{1e3 * seconds[2] / bare:.0f}", "", True)
    speed_up = CEPSIM_MS / bare
    report("  speed-up over CEPSim in a warm JVM (134 ms)", f"{speed_up:.0f}", "100", bare <= 1.34)


@cache
def example() -> tuple[Problem, Ints]:
    """Return a problem of 26 operators and METIS's placement of it, (V,)."""
    graph = Recipe("dream", 1, range(26, 27), SEED).graph(0)
    placement = place(graph, source_rate=RATE, placer="metis").placement
    return placement.problem, placement.devices


def run_repeatedly(simulation: Simulation, placement: Ints, metrics: bool) -> None:
    """Run `REPEATS` times, and compute what a score needs if `metrics` is set."""
    for _ in range(REPEATS):
        result = RunMetrics(simulation, simulation.run(placement))
        if metrics:
            result.latency_s()
            result.throughput  # noqa: B018 - computed on access


def run_refined(simulation: Simulation, placement: Ints) -> None:
    """Run `REPEATS` times, each with ever shorter ticks until the throughput no longer changes."""
    for _ in range(REPEATS):
        refinement.run(simulation, placement)


def run_plain(problem: Problem, placement: Ints, simulation: Simulation) -> None:
    """Run the plain engine once."""
    tick_s = simulation.tick_for(placement)
    PlainEngine(flow(problem), placement, simulation.latency_s, simulation.settings, tick_s).run()


def linearity(arguments: argparse.Namespace) -> None:
    """Measure how time and memory grow with items (operators and streams), and with ticks."""
    problem, placement = example()
    latency_s = problem.cluster.link_column("latency_s")
    lengths = (610, 6_100, 61_000, 610_000)
    simulations = [
        Simulation(flow(problem), latency_s, Settings(duration_s=ticks * 0.1)) for ticks in lengths
    ]
    seconds = interleaved([partial(one.run, placement) for one in simulations])
    each = [1e6 * spent / ticks for spent, ticks in zip(seconds, lengths, strict=True)]
    figures = " ".join(f"{x:.2f}" for x in each)
    report("µs per tick, 610 … 610,000 ticks", figures, "last < 1.5x", each[-1] < 1.5 * each[0])
    peaks = [peak(partial(one.run, placement)) / 1e6 for one in simulations]
    figures = " ".join(f"{x:.1f}" for x in peaks)
    report("MB, 610 … 610,000 ticks", figures, "last < 1000x", peaks[-1] < 1000 * peaks[0])
    for preset in ("series-parallel", "layered"):
        for scheduler in ("default", "dynamic"):
            times, bytes_each = [], []
            for size in (1_000, 10_000, 100_000):
                spent, memory, items = large(preset, size, scheduler)
                times.append(1e9 * spent / items)
                bytes_each.append(memory / items)
            for unit, values in (("ns per tick", times), ("bytes", bytes_each)):
                figures = " ".join(f"{x:.0f}" for x in values)
                title = f"{preset}, {scheduler}, {unit} per item, 1e3 … 1e5"
                report(title, figures, "last < 2x", values[-1] < 2 * values[0])


def large(preset: str, size: int, scheduler: str) -> tuple[float, float, float]:
    """Run a large graph; return CPU seconds per tick, peak bytes, and operators plus streams."""
    graph = Recipe(preset, 1, range(size, size + 1), 1).graph(0)
    problem = Problem(graph, Cluster.equal(16), source_rate=1e3)
    placement = np.random.default_rng(0).integers(0, 16, size).astype(np.int32)
    settings = Settings(duration_s=6.1, scheduler=scheduler)  # type: ignore[arg-type]
    simulation = runs.simulation(problem, settings)
    ticks = round(6.1 / simulation.tick_for(placement))
    call = partial(simulation.run, placement)
    seconds = statistics.median(cpu_of(call) for _ in range(3))
    return seconds / ticks, peak(call), float(size + len(graph.streams))


def peak(call: Callable[[], object]) -> float:
    """Return the peak memory of a call in bytes."""
    tracemalloc.start()
    call()
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return float(peak_bytes)


def cpu_of(call: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    started = time.process_time()
    call()
    return time.process_time() - started


def training(arguments: argparse.Namespace) -> None:
    """Measure a training step with the engine as the reward, relative to the closed form."""
    config = read_config("best")
    recipe = Recipe("dream", 64, seed=1)
    graphs = [recipe.graph(i) for i in range(64)]
    models: tuple[Model, ...] = ("bottleneck", "engine")
    closed, engine = interleaved(
        [step_of(graphs, model, config) for model in models], time.perf_counter
    )
    ratio, title = engine / closed, "training step of `best`, engine / bottleneck, wall"
    report(title, f"{ratio:.2f}", "1.5", ratio <= 1.5)


def step_of(graphs: list[StreamGraph], model: Model, config: TrainConfig) -> Callable[[], object]:
    """Return a call that does one training step on all the graphs."""
    torch.manual_seed(0)
    policy = make_policy(config.policy)
    encoded = encoded_by(policy, [Problem(g, model=model, source_rate=RATE) for g in graphs])
    own = np.arange(len(encoded), dtype=np.int32)
    loop = Loop(Learner(policy, encoded, own, 0, Workers()), config.stage)
    loop.begin()
    assert loop.algorithm is not None
    step = Step(largest_first(encoded, own), [0], epoch=0, progress=0.0)
    return partial(loop.algorithm.step, step)


if __name__ == "__main__":
    main()
