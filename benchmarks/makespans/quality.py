"""Quality of placers: makespan over that of HEFT's mapping under fifo, and shares of proofs.

    python -m benchmarks.makespans.quality
    python -m benchmarks.makespans.quality --placers heft,auto:seconds=0.2 --sets giph-single

A row is a placer on a set of reference problems of ../shared/data: the mean ratio, the mean ratio
to the best makespan known and the largest one, the share that reaches it, the share that is proven,
and the median CPU time. Time limits of placers count CPU time.
"""

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from benchmarks.exit_codes import exit_code
from benchmarks.makespans.problems import (
    Reference,
    dnn_latency,
    doppler,
    giph,
    layered,
    layered_problem,
    pipedream,
)
from streamplace.errors import PlacementError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.placers.base import BasePlacer
from streamplace.placers.registry import placer_of
from streamplace.problem.problem import Problem
from streamplace.sim import work_clock

PLACERS = (
    "single,heft,heft:contention,peft,peft:links,cpop,critical-path,random-eft,m-etf,m-topo,"
    "enumerative,climb,search:seconds=0.02,search:seconds=0.2,auto,exact"
)
EXACT = 1 + 1e-9  # ratio up to which a makespan equals the best one known
SMALL_SEEDS = range(20)


def small() -> Iterator[Reference]:
    """Return layered graphs of 20 operators on 4 devices, of which no best makespan is known."""
    for seed in SMALL_SEEDS:
        problem = layered_problem(20, 4, seed, (0.3, 1.0)[seed % 2])
        yield Reference(f"small {seed}", problem, float("nan"))


SETS: dict[str, Callable[[], Iterable[Reference]]] = {
    "giph-single": partial(giph, "giph-single"),
    "giph-several": partial(giph, "giph-several"),
    "layered-20": small,
    "layered-1000": layered,
    "doppler-4": partial(doppler, 4),
    "doppler-8": partial(doppler, 8),
    "pipedream": pipedream,
    "dnn-latency": dnn_latency,
}


def main() -> None:
    """Print one row per set and placer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--placers", default=PLACERS)
    parser.add_argument("--sets", default=",".join(SETS))
    options = parser.parse_args()
    titles = f"{'/ HEFT':>8}{'/ best':>8}{'worst':>8}{'best':>6}{'proven':>8}{'s':>8}"
    sets = {name: list(SETS[name]()) for name in options.sets.split(",")}
    print(f"{'problems':14}{'placer':24}{titles}")
    for name, references in sets.items():
        hefts = [_heft(known.problem) for known in references]
        for placer in options.placers.split(","):
            with work_clock.cpu_time():
                row = _row(placer, references, hefts)
            print(f"{name:14}{placer:24}{row}", flush=True)


def _heft(problem: Problem) -> float:
    """Return the makespan of HEFT's mapping, in seconds."""
    devices = placer_of("heft")(problem, np.random.default_rng(0)).devices
    return float(MakespanEvaluator(problem).makespans(devices)[0])


def _row(name: str, references: list[Reference], hefts: list[float]) -> str:
    placer = placer_of(name)
    assert isinstance(placer, BasePlacer), "the placers compared are built-in ones"
    ratios, to_best, seconds, proven = [], [], [], 0
    for known, heft in zip(references, hefts, strict=True):
        begun = time.process_time()
        try:
            found = placer.run(known.problem, np.random.default_rng(0))
        except PlacementError:
            continue
        seconds.append(time.process_time() - begun)
        proven += found.optimal is True
        makespan = float(MakespanEvaluator(known.problem).makespans(found.placement.devices)[0])
        ratios.append(makespan / heft)
        to_best.append(makespan / known.best)
    if not ratios:
        return f"{'-':>8}{'-':>8}{'-':>8}{'-':>6}{'-':>8}{'-':>8}"
    best = f"{'-':>8}{'-':>8}{'-':>6}"
    if not math.isnan(to_best[0]):
        reached = statistics.mean(ratio <= EXACT for ratio in to_best)
        best = f"{statistics.mean(to_best):8.3f}{max(to_best):8.3f}{reached:6.0%}"
    share = f"{proven / len(references):.0%}" if placer.proves else "-"
    return f"{statistics.mean(ratios):8.3f}{best}{share:>8}{statistics.median(seconds):8.4f}"


if __name__ == "__main__":
    sys.exit(exit_code(main, name="makespans.quality"))
