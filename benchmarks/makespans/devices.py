"""`auto` on a cluster beside `auto` on the first devices of it, none of which is slower.

    python -m benchmarks.makespans.devices --seconds 1 --pairs 100
    python -m benchmarks.makespans.devices --evaluations 300 --small --pairs 2000

The smaller number of devices is one of those on which `auto` always searches. With
``--evaluations``, no pair may be longer on more devices; with ``--seconds``, CPU time, few are. The
largest ratios come first; the mean is the geometric one, with a bootstrap interval of 95%.
"""

import argparse

import numpy as np

import streamplace as sp
from benchmarks.makespans.drawn import COUNTS, SMALL_COUNTS, sized_problem, with_first
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.placers.registry import make_placer
from streamplace.sim import work_clock
from streamplace.util.effect import mean_intervals

SHOWN = 10  # of the largest ratios
LONGER = 1.0 + 1e-9, 1.005, 1.02  # ratios above which pairs are counted


def main() -> None:
    """Print the pairs with the largest ratios, and how many are longer on more devices."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--small", action="store_true", help="5 to 60 operators")
    limit = parser.add_mutually_exclusive_group(required=True)
    limit.add_argument("--seconds", type=float)
    limit.add_argument("--evaluations", type=int)
    options = parser.parse_args()
    text = f"auto:evaluations={options.evaluations}"
    if options.seconds is not None:
        text = f"auto:seconds={options.seconds!r}"
    ratios, lines, gaps = [], [], []
    for number in range(options.pairs):
        name, problem = sized_problem(number, options.seed, options.small)
        more = len(problem.cluster.devices)
        fewer = [n for n in (SMALL_COUNTS if options.small else COUNTS) if n < more]
        if not fewer:
            continue
        fewer_of = fewer[number // 4 % len(fewer)]
        both = [_makespan(each, text) for each in (problem, with_first(problem, fewer_of))]
        ratios.append(both[0] / both[1])
        lines.append(
            (ratios[-1], f"{name} ({number}): {both[1]:.4g} s on {fewer_of}, {both[0]:.4g} s")
        )
        print(lines[-1][1], flush=True)
        scored = MakespanEvaluator(problem)
        bounds_s = np.array([scored.least_s, scored.bound_s or 0.0])
        gaps.append(1.0 - bounds_s / min(both))
    for ratio, line in sorted(lines, reverse=True)[:SHOWN]:
        print(f"{ratio:.4f}  {line}")
    values = np.array(ratios)
    counts = ", ".join(
        f"{np.count_nonzero(values > most)} by over {most - 1:.1%}" for most in LONGER
    )
    low, high = np.exp(mean_intervals(np.log(values)[None])[0])
    mean = np.exp(np.log(values).mean())
    print(f"{len(values)} pairs; longer on more devices: {counts}")
    print(f"makespan on more over that on fewer devices: {mean:.4f} [{low:.4f}, {high:.4f}]")
    before, after = np.mean(gaps, axis=0)
    print(f"mean gap by paths and work {before:.1%}, with what must cross {after:.1%}")


def _makespan(problem: sp.Problem, text: str) -> float:
    with work_clock.cpu_time():
        placed = make_placer(text)(problem, np.random.default_rng(0))
    return float(MakespanEvaluator(problem).makespans(placed.devices)[0])


if __name__ == "__main__":
    main()
