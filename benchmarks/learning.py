"""Speed of training and of placing with a policy, against stated targets.

    python -m benchmarks.learning [--threads N]

A decision is one operator placed in one sample. The figures are decisions per second of batched and
of graph-by-graph training of the published network; the FLOP/s of its matrix products, relative to
one large float32 product; the same two figures for the network of config `best`; and the CPU time
to place 630 graphs greedily. Figures of training are medians over interleaved steps.
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
from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.device_scorer.network import DeviceScorer
from streamplace.learning.training import read_config
from streamplace.learning.training.distributed import Workers
from streamplace.learning.training.run import Run
from streamplace.learning.training.stages import ReinforceStage
from streamplace.placers.registry import placer_of
from streamplace.scoring.throughput import throughput

GRAPHS, PLACED = 640, 630
ROUNDS = 7
ONE_BY_ONE = 12  # steps of a single graph per round
SIDE = 2048  # rows and columns of the matrices of the reference product
PRODUCTS = 6  # per measurement


def main() -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--threads",
        type=int,
        default=torch.get_num_threads(),
        help="threads of torch; default: those that torch chooses",
    )
    threads = parser.parse_args().threads
    print(f"{'figure':52} {'measured':>26} {'target':>14}")
    torch.set_num_threads(threads)
    with tempfile.TemporaryDirectory() as folder:
        training(Path(folder))
    torch.set_num_threads(1)
    placing()


def training(folder: Path) -> None:
    """Measure decisions/s, and FLOP/s relative to a large product."""
    recipe = Recipe("dream", GRAPHS, seed=1)
    graphs = [recipe.graph(i) for i in range(GRAPHS)]
    runs = {name: start(graphs, name, folder / name) for name in ("b-f1-f2", "paper", "best")}
    loops = {name: run.steps() for name, run in runs.items()}
    rates: dict[str, list[float]] = {name: [] for name in runs}
    ratios: dict[str, list[float]] = {name: [] for name in runs}
    flops = {name: flops_of_a_decision(run) for name, run in runs.items()}
    for loop in loops.values():
        next(loop)  # compiles and allocates
    for _ in range(ROUNDS):
        for name, loop in loops.items():
            reference = product_flops()
            decisions, seconds = steps(loop, ONE_BY_ONE if name == "paper" else 1)
            rates[name].append(decisions / seconds)
            ratios[name].append(flops[name] * rates[name][-1] / reference)
    rate = {name: statistics.median(values) for name, values in rates.items()}
    ratio = {name: statistics.median(values) for name, values in ratios.items()}
    batched, single = rate["b-f1-f2"], rate["paper"]
    report("published network, decisions/s, batched", f"{batched:,.0f}", "", True)
    report("published network, decisions/s, graph by graph", f"{single:,.0f}", "", True)
    report("ratio of the two", f"{batched / single:.1f}", "15", batched >= 15 * single)
    share = ratio["b-f1-f2"]
    report("its products' FLOP/s / a large product's", f"{share:.2f}", "0.4", share >= 0.4)
    report("best, decisions/s", f"{rate['best']:,.0f}", "", True)
    report("its products' FLOP/s / a large product's", f"{ratio['best']:.2f}", "", True)


def start(graphs: list[StreamGraph], name: str, folder: Path) -> Run:
    """Start a training run of a shipped config."""
    config = read_config(name)
    return Run.start(graphs, config, folder, "", False, Workers.of_torchrun())


def flops_of_a_decision(run: Run) -> float:
    """Return the floating-point operations of a training step's matrix products per decision.

    A pass with gradients costs three times its forward pass, and a pass that only samples costs one
    forward pass.
    """
    learner, policy = run.loop.learner, Constructive.of(run.policy)
    batch: Any = learner.batch(run.loop.steps_of(0)[0])
    (stage,) = run.config.stage
    assert isinstance(stage, ReinforceStage)
    choose = Sampler(torch.Generator().manual_seed(0))
    total = 3.0 * flops_of(lambda: policy.rollout(batch, stage.samples, choose))
    if isinstance(policy, DeviceScorer):
        total -= 2.0 * flops_of(lambda: policy.sample(batch, stage.samples, choose))
    return total / (stage.samples * int(batch.sizes.sum()))


def flops_of(call: Callable[[], object]) -> float:
    """Return the floating-point operations of a call's matrix products."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        call()
    return float(counter.get_total_flops())


def steps(loop: Iterator[dict[str, Any]], count: int) -> tuple[int, float]:
    """Take `count` training steps; return the number of decisions and the seconds."""
    started, decisions = time.perf_counter(), 0
    for _ in range(count):
        decisions += int(next(loop)["decisions"])
    return decisions, time.perf_counter() - started


def product_flops() -> float:
    """Measure the FLOP/s of a large float32 matrix product."""
    a = torch.ones(SIDE, SIDE)
    started = time.perf_counter()
    for _ in range(PRODUCTS):
        a @ a
    return PRODUCTS * 2.0 * SIDE**3 / (time.perf_counter() - started)


def placing() -> None:
    """Measure greedy placing, one graph after another, scores included."""
    recipe = Recipe("dream", PLACED, seed=2)
    problems = [Problem(recipe.graph(i), model="path-average") for i in range(PLACED)]
    placer = placer_of("policy")
    rng = np.random.default_rng(0)
    throughput(problems[0], placer(problems[0], rng).devices)  # loads weights and kernels
    started = time.process_time()
    for problem in problems:
        throughput(problem, placer(problem, rng).devices)
    seconds = time.process_time() - started
    report(f"policy, greedy, {PLACED} graphs, CPU seconds", f"{seconds:.2f}", "5", seconds < 5)


if __name__ == "__main__":
    main()
