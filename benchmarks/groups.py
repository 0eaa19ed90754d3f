"""Learned groups and groups of heavy edges, on large problems that the network limits.

    python -m benchmarks.groups [--seeds N] [--epochs N]

The graphs, the 16 devices and the source rates are those of `benchmarks.large_graphs`: of 1,000
operators for training, and of 10,000 for the figures, from other seeds. Relative throughput is not
capped at 1. A network of HSDAG with stream features, whose groups are limited to 0.4 of a device's
work, is trained on eight graphs, once per seed. The shipped policy then places, in one pass, the
groups that the network makes before and after its training, and those of heavy-edge matching, with
which the placer `policy` coarsens graphs. Refinement is that of the placer. CPU seconds include it.
"""

import argparse
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.large_graphs import PRESETS, Setting, prepared, relative
from streamplace import Problem
from streamplace.learning.policy.coarse import SHARE, Part, parts_of, problem_of_groups, refined
from streamplace.learning.policy.noise import NumpySampler
from streamplace.learning.policy.placer import CHANGES, SHIPPED, loaded
from streamplace.learning.policy.registry import PolicySection, policy_section
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training.config import read_config
from streamplace.learning.training.in_memory import fit
from streamplace.papers.hsdag.policy import Hsdag
from streamplace.problem.grouping import Grouping
from streamplace.problem.placement import Placement
from streamplace.util.arrays import Ints
from streamplace.util.threads import one_thread

TRAINING, FIGURES = 1_000, 10_000  # operators
TRAINING_SEED, SEED = 50_000, 60_000
GRAPHS = 4  # per preset
TRAINED_ON = 150  # the largest number of operators in the training of the shipped weights
LEVELS, GROUPS, STEPS, HIDDEN = 6, 48, 4, 64  # of the network; three groups per device
COLUMNS = "one pass", "lowest", "refined", "lowest", "groups", "CPU s"


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="trainings; default: 3")
    parser.add_argument("--epochs", type=int, default=12, help="passes over the training graphs")
    options = parser.parse_args()
    tests = problems(FIGURES, SEED)
    with one_thread():
        print(f"| groups | {' | '.join(COLUMNS)} |\n|---{'|---:' * len(COLUMNS)}|")
        report("heavy edges", [heavy_edges(problem) for problem in tests])
        for seed in range(options.seeds):
            policy = network(seed)
            report(f"network, untrained, seed {seed}", [groups_of(policy, p) for p in tests])
            train(policy, options.epochs, seed)
            report(f"network, trained, seed {seed}", [groups_of(policy, p) for p in tests])


def problems(operators: int, seed: int) -> list[Problem]:
    """Return problems of both presets."""
    settings = [Setting(preset, operators, seed + n) for n in range(GRAPHS) for preset in PRESETS]
    return [prepared(setting)[1] for setting in settings]


def network(seed: int) -> Hsdag:
    """Return an untrained network."""
    policy = new_policy(section(), seed)
    assert isinstance(policy, Hsdag)
    return policy


def section() -> PolicySection:
    """Return the kind and the sizes of the network."""
    sizes = read_config("hsdag-stream").policy.sizes.model_dump()
    chosen = {"levels": LEVELS, "steps": STEPS, "hidden": HIDDEN, "min_groups": GROUPS}
    return policy_section({"kind": "hsdag", "sizes": {**sizes, **chosen, "heaviest": SHARE}})


def train(policy: Hsdag, epochs: int, seed: int) -> None:
    """Train a network in place."""
    (stage,) = read_config("hsdag-stream").stage
    shorter = stage.model_copy(update={"epochs": epochs, "problems_per_step": 2})
    fit(policy, problems(TRAINING, TRAINING_SEED), [shorter], np.random.default_rng(seed))


Row = tuple[float, float, int, float]
"""Relative throughput before and after refinement, number of groups, CPU seconds."""


def heavy_edges(problem: Problem) -> Row:
    """Place the groups with which the placer `policy` coarsens a graph."""
    begun = time.process_time()
    part = next(parts_of(problem, TRAINED_ON))
    return placed(problem, part, begun)


def groups_of(policy: Hsdag, problem: Problem) -> Row:
    """Place the groups that a network makes."""
    begun = time.process_time()
    grouping: Grouping = policy.grouping(problem)
    made = problem_of_groups(problem, grouping)
    assert made is not None, "the problems have no limits"
    return placed(problem, Part(*made), begun)


def placed(problem: Problem, part: Part, begun: float) -> Row:
    """Place groups by the shipped policy in one pass, and refine the placement."""
    policy = loaded(str(SHIPPED)).policy
    batch = policy.batch([policy.encode(part.problem)])
    devices: Ints = part.expanded(policy.sample(batch, 1, NumpySampler())[0])[0]
    start = Placement(problem, devices)
    better = refined(problem, start, np.random.default_rng(0), CHANGES)
    seconds = time.process_time() - begun
    count = len(part.problem.graph.names)
    return relative(problem, devices), relative(problem, better.devices), count, seconds


def report(name: str, rows: Sequence[Row]) -> None:
    """Print means, and the lowest relative throughput."""
    before, after, groups, seconds = np.array(rows).T
    cells = [f"{x:.3f}" for x in (before.mean(), before.min(), after.mean(), after.min())]
    cells += [f"{groups.mean():.0f}", f"{seconds.mean():.2f}"]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
