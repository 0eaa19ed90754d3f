"""The shipped policy on other graphs, sizes, clusters and source rates, at equal budgets.

    python -m benchmarks.generalise [DATASET] [--every N] [--model MODEL] [--graphs N]
        [--jobs N]

The graphs are series-parallel and layered, from seeds that were not used in training. Training used
other seeds of both presets, with 10 to 150 operators, 2 to 16 devices, NICs and several rates. It
did not use other sizes, 32 devices, or the unequal devices below. The reference setting is 100
operators, 5 x 2500 MIPS, pair links and 1e4 tuples/s; every other row changes one or two things in
it: operators, devices, their speeds, the network, the source rate. With a DATASET, every Nth of
its graphs is placed as well, on five and on two devices of the same capacity, under both closed
forms.

All placers run in turn on one problem after another. Both the policy's one pass and its best of 16
have rivals: `search` with as many evaluations as the policy made (samples and changes of its
refinement), and `search` and restarts of `multilevel` with as much CPU time as the policy took on
this problem; they end where nothing can be better. The first table has the mean relative throughput
and, in brackets, CPU milliseconds; the second has the mean differences on the same problems, with
95% intervals from resampled problems.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.exit_codes import exit_code
from streamplace import Cluster, Network, Placement, Problem, Recipe, StreamGraph, read_dataset
from streamplace.execution.parallel import each
from streamplace.learning.policy import coarse
from streamplace.placers.registry import make_placer
from streamplace.placers.search.annealing import Annealer, ChainResult
from streamplace.problem.objective import Model
from streamplace.scoring.registry import CLOSED_FORMS, qualities
from streamplace.sim import work_clock
from streamplace.util.effect import mean_intervals

METIS, SWEEP, ALONE = "METIS", "METIS sweep", "network alone"
OTHERS = {METIS: "metis", SWEEP: "metis-sweep", ALONE: "policy:coarsen=0:refine=0"}
POLICIES = {"one pass": ("policy", 1), "best of 16": ("policy:samples=16", 16)}
BY_EVALUATIONS, BY_TIME, RESTARTS = (
    "search, equal evaluations",
    "search, equal CPU time",
    "multilevel",
)
SEED = 4_000_000  # far from all seeds of training
RATE = 1e4  # tuples/s
PAIR = Network()
Measured = dict[str, tuple[float, float]]
"""The relative throughput and the CPU seconds of each placer on a problem."""


@dataclass(frozen=True)
class Setting:
    """One row of the table, for each preset; `rate_factor` multiplies the source rate `RATE`."""

    title: str
    operators: int = 100
    devices: str = "5x2500"
    network: Network = PAIR
    rate_factor: float = 1.0

    def problems(self, preset: str, number: int, most: int, model: Model) -> list[Problem]:
        """Return `most` problems, or fewer of large graphs."""
        count = min(most, max(8, 8_000 // self.operators))
        sizes = range(self.operators, self.operators + 1)
        recipe = Recipe(preset, count, sizes, SEED + number)
        cluster = Cluster(Cluster.parse(self.devices).devices, self.network)
        rate = RATE * self.rate_factor
        return [
            Problem(recipe.graph(i), cluster, source_rate=rate, model=model) for i in range(count)
        ]


REFERENCE = Setting("reference setting")
SETTINGS = (
    REFERENCE,
    *(replace(REFERENCE, title=f"{n} operators", operators=n) for n in (10, 30, 300, 1000, 2000)),
    *(replace(REFERENCE, title=f"{d} devices", devices=f"{d}x2500") for d in (2, 3, 8, 16, 32)),
    replace(REFERENCE, title="2000 operators, 32 devices", operators=2000, devices="32x2500"),
    replace(REFERENCE, title="unequal, 1x7500 and 4x1250", devices="1x7500,4x1250"),
    replace(REFERENCE, title="unequal, 2x5000, 4x2500, 8x1250", devices="2x5000,4x2500,8x1250"),
    *(replace(REFERENCE, title=f"{r:g} x source rate", rate_factor=r) for r in (0.5, 2.0, 4.0)),
    replace(REFERENCE, title="nic", network=Network("nic")),
    replace(REFERENCE, title="nic, 16 devices", devices="16x2500", network=Network("nic")),
)


class Counting(Annealer):
    """The annealer of the policy's refinement, which counts the changes that all of them try."""

    tried = 0

    def chain(self, *arguments: Any) -> ChainResult:
        """Anneal one chain."""
        result = super().chain(*arguments)
        Counting.tried += result.changes
        return result


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", help="further graphs")
    parser.add_argument(
        "--model", choices=CLOSED_FORMS, default="bottleneck", help="default: bottleneck"
    )
    parser.add_argument("--every", type=int, default=4, help="of the dataset; default: 4")
    parser.add_argument("--graphs", type=int, default=40, help="per line at most; default: 40")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes; default: 1")
    arguments = parser.parse_args()
    graphs = [] if arguments.dataset is None else read_dataset(arguments.dataset)
    head, means = ["graphs", "number", *_names()], "best of 16 minus METIS sweep"
    print(f"| {' | '.join([*head, means])} |\n{'|---' * (len(head) + 1)}|")
    every: dict[str, list[Measured]] = {"all": [], "2 devices": []}
    for title, problems in _rows(graphs[:: arguments.every], arguments):
        found = list(each(measured, list(enumerate(problems)), arguments.jobs))
        every["all"] += found
        if len(problems[0].cluster.devices) == 2:
            every["2 devices"] += found
        cells = [title, str(len(found)), *(_cell(found, name) for name in _names())]
        print(f"| {' | '.join([*cells, _difference(found, 'best of 16', SWEEP)])} |", flush=True)
    print("\n| problems | policy | minus | difference, 95% interval | CPU time / policy's |")
    print("|---|---|---|---|---|")
    for title, found in every.items():
        for policy in POLICIES:
            for rival in (METIS, SWEEP, *_rivals(policy)):
                seconds = np.array([[one[n][1] for n in (rival, policy)] for one in found]).sum(
                    axis=0
                )
                row = f"{title} ({len(found)}) | {policy} | {rival.removesuffix(f', {policy}')}"
                ratio = f"{seconds[0] / seconds[1]:.2f}"
                print(f"| {row} | {_difference(found, policy, rival)} | {ratio} |")


def _rows(
    graphs: list[StreamGraph], arguments: argparse.Namespace
) -> Iterator[tuple[str, list[Problem]]]:
    """Yield the title and the problems of each row."""
    if graphs:
        for model in CLOSED_FORMS:
            for devices in ("5x2500", "2x6250"):
                cluster = Cluster.parse(devices)
                title = f"released, {devices}, `{model}`"
                yield title, [Problem(g, cluster, source_rate=RATE, model=model) for g in graphs]
    for preset in ("series-parallel", "layered"):
        for number, setting in enumerate(SETTINGS):
            problems = setting.problems(preset, number, arguments.graphs, arguments.model)
            yield f"{preset}, {setting.title}", problems


def _names() -> list[str]:
    """Return the columns of placers."""
    of_policies = ((policy, *_rivals(policy)) for policy in POLICIES)
    return [*OTHERS, *(name for names in of_policies for name in names)]


def _rivals(policy: str) -> list[str]:
    """Return the columns with the budget of a policy."""
    return [f"{rival}, {policy}" for rival in (BY_EVALUATIONS, BY_TIME, RESTARTS)]


def measured(numbered: tuple[int, Problem]) -> Measured:
    """Return what all placers reach on a problem."""
    number, problem = numbered

    def run(place: Callable[[], Placement]) -> tuple[float, float]:
        with work_clock.cpu_time():
            begun = work_clock.now()
            placement = place()
            seconds = work_clock.now() - begun
        return float(qualities(problem, [placement])[0]), seconds

    def placed(name: str, seed: int = 0) -> Placement:
        return make_placer(name)(problem, np.random.default_rng([seed, number]))

    if not number:  # what a process loads once
        for name in ("policy", "search:evaluations=1", "multilevel"):
            placed(name)
    found = {name: run(partial(placed, text)) for name, text in OTHERS.items()}
    for policy, (text, samples) in POLICIES.items():
        Counting.tried = 0
        with patch.object(coarse, "Annealer", Counting):
            found[policy] = run(partial(placed, text))
        tried, seconds = Counting.tried + samples, found[policy][1]
        by_evaluations, by_time, restarts = _rivals(policy)
        fewest = "search:prefer=fewest"  # stops at the best throughput
        found[by_evaluations] = run(partial(placed, f"{fewest}:evaluations={tried}"))
        found[by_time] = run(partial(placed, f"{fewest}:seconds={seconds}"))
        found[restarts] = run(partial(_restarted, problem, seconds, placed))
    return found


def _restarted(
    problem: Problem, seconds: float, placed: Callable[[str, int], Placement]
) -> Placement:
    """Return the best placement of `multilevel` with other seeds, within some CPU seconds.

    A run begins only if it will end in time by the length of the last one.
    """
    begun = before = work_clock.now()
    found = [placed("multilevel", 0)]
    while (now := work_clock.now()) + (now - before) - begun <= seconds:
        before = now
        found.append(placed("multilevel", len(found)))
    return found[int(qualities(problem, found).argmax())]


def _cell(found: Sequence[Measured], name: str) -> str:
    """Return the mean relative throughput of a placer and its CPU milliseconds."""
    reached, seconds = np.mean([one[name] for one in found], axis=0)
    return f"{reached:.3f} ({1e3 * seconds:.1f})"


def _difference(found: Sequence[Measured], one: str, other: str) -> str:
    """Return the mean difference between two placers with its interval."""
    difference = np.array([of[one][0] - of[other][0] for of in found])
    low, high = mean_intervals(difference[None])[0]
    return f"{difference.mean():+.4f}, {low:+.4f} to {high:+.4f}"


if __name__ == "__main__":
    sys.exit(exit_code(main, name="generalise"))
