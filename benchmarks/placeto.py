"""Placeto's time per step, and what its sweeps find, beside uniformly random devices and HEFT.

    python -m benchmarks.placeto --family nmt --devices 3 --graphs 4 --seeds 2
    python -m benchmarks.placeto --family nmt --graphs 2 --seeds 1 --whole

All start with every operator on one device. Losses are makespans under the published semantics,
relative to that start; means are geometric. A training has 50 sweeps, as in the study of traversal
orders, or 4,000 with falling rates, ε and entropy, as where DOPPLER was compared with it (--whole).
"""

import argparse
import time
from collections.abc import Sequence

import numpy as np

import streamplace as sp
from streamplace.families import Recipe
from streamplace.placers.registry import make_placer
from streamplace.problem.makespan import with_published_semantics
from streamplace.problem.network import Network
from streamplace.scoring.registry import evaluator
from streamplace.training.trials import PUBLISHED, WHOLE, Trial, at_checkpoints, run_trial
from streamplace.util.arrays import Floats

SWEEPS = {False: (10, 20, 50), True: (50, 400, 4000)}
"""Whether a training is whole -> the numbers of sweeps after which its makespans are printed."""
BANDWIDTH_MBPS = 60_800.0  # 7,600 bytes per microsecond


def problem_of(family: str, number: int, devices: int) -> sp.Problem:
    """Return a graph of a family on equal devices under the published semantics."""
    cluster = sp.Cluster.equal(devices, network=Network(bandwidth_mbps=BANDWIDTH_MBPS))
    graph = Recipe(family, number + 1).graph(number)
    return sp.Problem(*with_published_semantics(graph, cluster, "placeto"), objective=sp.Makespan())


def relative(trial: Trial, alone: float, whole: bool) -> Floats:
    """Return the makespans at the checkpoints relative to that of one device, (C,)."""
    losses = run_trial(trial, WHOLE if whole else PUBLISHED)
    return at_checkpoints(losses, SWEEPS[whole]) / alone


def report(name: str, values: Sequence[Floats]) -> None:
    """Print the geometric means of rows."""
    mean = np.exp(np.log(np.array(values)).mean(axis=0))
    print(f"{name:12}" + "".join(f"{x:10.3f}" for x in np.atleast_1d(mean)))


def main() -> None:
    """Run the trials and print their means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", default="nmt")
    parser.add_argument("--devices", type=int, default=3)
    parser.add_argument("--graphs", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--order", default="topo-level")
    parser.add_argument("--whole", action="store_true", help="4,000 sweeps instead of 50")
    options = parser.parse_args()
    problems = [problem_of(options.family, k, options.devices) for k in range(options.graphs)]
    run_trial(Trial(problems[0]), PUBLISHED.model_copy(update={"epochs": 2}))  # compiles
    found: dict[str, list[Floats]] = {"placeto": [], "uniform": [], "heft": []}
    seconds, steps = 0.0, 0
    for problem in problems:
        operators = len(problem.graph.names)
        alone = evaluator(problem).loss(np.zeros(operators, np.int32))[0]
        for seed in range(options.seeds):
            begun = time.process_time()
            found["placeto"].append(
                relative(Trial(problem, options.order, seed), alone, options.whole)
            )
            seconds += time.process_time() - begun
            steps += SWEEPS[options.whole][-1] * operators
            control = Trial(problem, options.order, seed, uniform=True)
            found["uniform"].append(relative(control, alone, options.whole))
        placed = make_placer("heft")(problem, np.random.default_rng(0))
        found["heft"].append(evaluator(problem).loss(placed.devices) / alone)
    print(f"{options.family}, {options.devices} devices: {seconds / steps * 1e6:.0f} µs per step")
    print(f"{'sweeps':12}" + "".join(f"{count:10}" for count in SWEEPS[options.whole]))
    for name, values in found.items():
        report(name, values)


if __name__ == "__main__":
    main()
