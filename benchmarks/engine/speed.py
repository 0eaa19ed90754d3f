"""Speed of the engine: one run, growth with items and ticks, a step of training."""

import argparse
import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable
from functools import cache, partial

import numpy as np
import torch

from benchmarks.engine import RATE, SEED
from benchmarks.reference.engine import PlainEngine
from benchmarks.speed import interleaved, report
from streamplace import Cluster, Problem, Recipe, StreamGraph, place
from streamplace.learning.policy.registry import make_policy
from streamplace.learning.training import TrainConfig, read_config
from streamplace.learning.training.algorithms.base import Step
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.learner import Learner
from streamplace.learning.training.loop import Loop
from streamplace.learning.training.problems import encoded_by, largest_first
from streamplace.problem.objective import Model
from streamplace.scoring.flow import flow
from streamplace.sim.engine import RunMetrics, Settings, Simulation, metrics
from streamplace.ticks import runs
from streamplace.util.arrays import Ints

REPEATS = 20  # runs per round
CEPSIM_MS = 134.0  # the same run by CEPSim in a warm JVM, the fastest of several


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
        metrics.run(simulation, placement)


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
