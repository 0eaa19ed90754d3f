"""The answers of `place --max-latency`, and whether fresh simulations agree with them.

The problems are those of `benchmarks.latency`, at rates at which the result of `auto` is used 80%.
Limits on the 99th percentile are shares of its estimate. A limit that is feasible is simulated
again with five other seeds, none of which may be above the limit itself; one that is infeasible may
not be kept by any placement of eight.

    python -m benchmarks.latency_limits [--problems N]
"""

import argparse
import time
from collections import Counter

import numpy as np

from benchmarks.latency import largest_utilisation, placements_of, random_problem_of
from benchmarks.speed import report
from streamplace import Placement, Problem
from streamplace.latency.limit import LatencyLimit
from streamplace.latency.tuples import deployment_of, run_tuples
from streamplace.latency.within_limit import screened, within_limit
from streamplace.sim.engine import Settings
from streamplace.workflows.place import place_problem

SHARES = (0.05, 0.5, 0.9, 1.5)
LOAD = 0.8
FRESH = range(100, 105)
TUPLES = 200_000  # of a fresh simulation


def p99_s(placement: Placement, limit: LatencyLimit, seed: int) -> float:
    """Return the simulated 99th percentile; inf if the placement is overloaded."""
    placed = deployment_of(placement.problem, placement.devices)
    if largest_utilisation(placed) >= 1:
        return float("inf")
    settings = Settings(
        duration_s=TUPLES / float(placed.rate.sum()),
        tick_s=None,
        arrivals=limit.arrivals,
        service=limit.service,
        seed=seed,
    )
    found = run_tuples(placement, settings).latency_s
    return float("nan") if found is None else found["p99"]


def answers(seed: int, counts: Counter[str]) -> float:
    """Count the answers on one problem; return the seconds that each took."""
    rng = np.random.default_rng(seed)
    problem: Problem = random_problem_of(seed, rng)
    start = place_problem(problem, "auto:seconds=0.1").placement
    load = largest_utilisation(deployment_of(problem, start.devices))
    problem = problem.with_source_rate(problem.source_rate * LOAD / load)
    start = Placement(problem, start.devices)
    service = LatencyLimit("p99", 1.0, service="exponential" if seed % 2 else "deterministic")
    estimate = screened(problem, start.devices, service).value
    began = time.process_time()
    for share in SHARES:
        limit = LatencyLimit("p99", share * estimate, service=service.service)
        found, answer = within_limit(problem, start, limit)
        counts[answer.answer] += 1
        counts["moved"] += answer.answer == "feasible" and found is not start
        if answer.answer == "feasible":
            values = [p99_s(found, limit, fresh) for fresh in FRESH]
            counts["contradicted"] += max(values) > limit.seconds
        if answer.answer == "infeasible":
            rows = [Placement(problem, row) for row in placements_of(problem, 8, rng)]
            counts["disproved"] += min(p99_s(row, limit, 0) for row in rows) <= limit.seconds
    return (time.process_time() - began) / len(SHARES)


def main() -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=24, help="number; default: 24")
    counts, seconds = Counter[str](), 0.0
    problems = parser.parse_args().problems
    for seed in range(problems):
        seconds += answers(seed, counts) / problems
    print(f"{'figure':52} {'measured':>26} {'target':>14}")
    for name in ("feasible", "infeasible", "unproven"):
        report(name, f"{counts[name]} of {problems * len(SHARES)}", "", True)
    report("feasible with another placement", str(counts["moved"]), "", True)
    contradicted, disproved = counts["contradicted"], counts["disproved"]
    report("feasible, but above in a fresh run", str(contradicted), "0", contradicted == 0)
    report("infeasible, but kept in a run", str(disproved), "0", disproved == 0)
    report("CPU seconds per answer, with fresh runs", f"{seconds:.1f}", "", True)


if __name__ == "__main__":
    main()
