"""Speed of training and of placing by policy, against stated targets, in one run.

    python -m benchmarks.learning [--threads N]

Decisions (an operator placed in a sample) per second of batched and of graph-by-graph training of
the published network, its matrix products over a large float32 product's speed, the same for our
network, and greedy placing of 630 graphs. Steps are interleaved; medians.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.speed import report
from streamplace import Problem, Recipe, StreamGraph
from streamplace.placers.registry import ready_placer
from streamplace.policy.decoding import Sampler
from streamplace.policy.device_scorer.network import DeviceScorer
from streamplace.scoring.throughput import throughput
from streamplace.training import read_config
from streamplace.training.distributed import Workers
from streamplace.training.run import Run
from streamplace.training.stages import ReinforceStage

GRAPHS, PLACED = 640, 630
ROUNDS = 7
ONE_BY_ONE = 12  # steps of a single graph a round
SIDE = 2048  # of the matrices whose product is the yardstick
PRODUCTS = 6


def main() -> None:
    """Print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    threads = parser.parse_args().threads
    print(f"{'figure':52} {'measured':>26} {'target':>14}")
    torch.set_num_threads(threads)
    with tempfile.TemporaryDirectory() as folder:
        training(Path(folder))
    torch.set_num_threads(1)
    placing()


def training(folder: Path) -> None:
    """Decisions/s, and FLOP/s over those of a large product."""
    recipe = Recipe("dream", GRAPHS, seed=1)
    graphs = [recipe.graph(i) for i in range(GRAPHS)]
    runs = {name: start(graphs, name, folder / name) for name in ("b-f1-f2", "paper", "best")}
    loops = {name: run.steps() for name, run in runs.items()}
    rates: dict[str, list[float]] = {name: [] for name in runs}
    ratios: dict[str, list[float]] = {name: [] for name in runs}
    flops = {name: flops_of_a_decision(run) for name, run in runs.items()}
    for loop in loops.values():
        next(loop)  # compiles, allocates
    for _ in range(ROUNDS):
        for name, loop in loops.items():
            yardstick = product_flops()
            decisions, seconds = steps(loop, ONE_BY_ONE if name == "paper" else 1)
            rates[name].append(decisions / seconds)
            ratios[name].append(flops[name] * rates[name][-1] / yardstick)
    rate = {name: statistics.median(found) for name, found in rates.items()}
    ratio = {name: statistics.median(found) for name, found in ratios.items()}
    batched, single = rate["b-f1-f2"], rate["paper"]
    report("published network, decisions/s, batched", f"{batched:,.0f}", "", True)
    report("published network, decisions/s, graph by graph", f"{single:,.0f}", "", True)
    report("times as fast", f"{batched / single:.1f}", "15", batched >= 15 * single)
    share = ratio["b-f1-f2"]
    report("its products' FLOP/s over a large product's", f"{share:.2f}", "0.4", share >= 0.4)
    report("best, decisions/s", f"{rate['best']:,.0f}", "", True)
    report("its products' FLOP/s over a large product's", f"{ratio['best']:.2f}", "", True)


def start(graphs: list[StreamGraph], name: str, folder: Path) -> Run:
    """Begin a run of a shipped config."""
    config = read_config(name)
    return Run.start(graphs, config, folder, "", False, Workers.of_torchrun())


def flops_of_a_decision(run: Run) -> float:
    """Return the floating-point operations of a step's matrix products, a decision.

    Three times those of the forward pass; but once those of a pass that only samples.
    """
    learner, policy = run.loop.learner, run.policy
    batch: Any = learner.batch(run.loop.steps_of(0)[0])
    (stage,) = run.config.stage
    assert isinstance(stage, ReinforceStage)
    choose = Sampler(torch.Generator().manual_seed(0))
    total = 3.0 * counted(lambda: policy.rollout(batch, stage.samples, choose))
    if isinstance(policy, DeviceScorer):
        total -= 2.0 * counted(lambda: policy.sample(batch, stage.samples, choose))
    return total / (stage.samples * int(batch.sizes.sum()))


def counted(call: Callable[[], object]) -> float:
    """Return the floating-point operations of a call's matrix products."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        call()
    return float(counter.get_total_flops())


def steps(loop: Iterator[dict[str, Any]], count: int) -> tuple[int, float]:
    """Do some training steps; return decisions and seconds."""
    started, decisions = time.perf_counter(), 0
    for _ in range(count):
        decisions += int(next(loop)["decisions"])
    return decisions, time.perf_counter() - started


def product_flops() -> float:
    """Return the FLOP/s of a large float32 matrix product, now."""
    a = torch.ones(SIDE, SIDE)
    started = time.perf_counter()
    for _ in range(PRODUCTS):
        a @ a
    return PRODUCTS * 2.0 * SIDE**3 / (time.perf_counter() - started)


def placing() -> None:
    """Greedy placing, one graph after another, scores included."""
    recipe = Recipe("dream", PLACED, seed=2)
    problems = [Problem(recipe.graph(i), model="path-average") for i in range(PLACED)]
    placer = ready_placer("policy", "path-average")
    rng = np.random.default_rng(0)
    throughput(problems[0], placer(problems[0], rng).devices)  # loads weights and kernels
    started = time.process_time()
    for problem in problems:
        throughput(problem, placer(problem, rng).devices)
    seconds = time.process_time() - started
    report(f"policy, greedy, {PLACED} graphs, CPU seconds", f"{seconds:.2f}", "5", seconds < 5)


if __name__ == "__main__":
    main()
