"""Whether the probabilities that `place --confidence` reports hold for true costs.

    python -m benchmarks.confidence [--problems N] [--draws N] [--jobs N]

Half of the problems are small, with unequal devices, constraints and both kinds of network; half
have 20 to 60 operators. Their numbers have standard errors of 5% to 40%. Each is placed with
confidence 0.8, 0.9 and 0.95. True costs are then drawn anew, each draw is scored as an ordinary
problem, and the share of draws in which everything offered is carried is compared with the reported
probability. Targets: the mean difference is at most 3 points, overall and in each class of reported
probabilities, and no placement is worse than the one without --confidence by more than chance.

In the second part, true costs are fixed, and `profile` estimates each from counters of 8 intervals
with independent noise. The placement promises to carry a rate with probability 0.9; of all such
measurements, at least 0.87 should carry that rate at the true costs.
"""

import argparse
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from benchmarks.reference.uncertain_problems import (
    TrueCosts,
    larger_uncertain_problem,
    uncertain_problem,
)
from benchmarks.speed import report
from streamplace import Problem, StreamGraph
from streamplace.execution.parallel import each
from streamplace.formats.profiling.estimates import or_exact, slope
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import worst_utilisation
from streamplace.util.arrays import Floats
from streamplace.workflows.place import place_problem
from streamplace.workflows.result import Result

ASKED = (0.8, 0.9, 0.95)
CLASSES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0)  # bounds of reported probabilities
POINTS = 0.03  # largest mean difference
CARRIED = 1.0 + 1e-9  # largest utilisation at which everything is carried
PLACER = "search"
INTERVALS = 8  # of the measurements of the second part
MEASUREMENTS = 3  # of each problem
PROMISED = 0.9
NOISE = (0.1, 0.6)  # relative standard deviation of the cost of an interval


class Outcome(NamedTuple):
    """A placement with the probability asked for, and what it does at the true costs.

    Attributes
    ----------
    reported, without
        The probabilities that `place` reports with and without confidence.
    carried, carried_without
        Shares of the draws of true costs in which each placement carries everything.
    """

    asked: float
    reported: float
    carried: float
    without: float
    carried_without: float


def main() -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=200, help="problems; default: 200")
    parser.add_argument("--draws", type=int, default=400, help="of true costs; default: 400")
    parser.add_argument("--jobs", type=int, help="worker processes; default: one per core")
    arguments = parser.parse_args()
    print(f"{'figure':52} {'measured':>26} {'target':>14}")
    checks = partial(checked, draws=arguments.draws)
    rows = [row for some in each(checks, range(arguments.problems), arguments.jobs) for row in some]
    for asked in ASKED:
        _compare(f"asked {asked:g}", [row for row in rows if row.asked == asked])
    for low, high in pairwise(CLASSES):
        _compare(f"reported {low:g} to {high:g}", [r for r in rows if low < r.reported <= high])
    _gains(rows)
    every = each(measured, range(arguments.problems), arguments.jobs)
    kept = np.mean([one for some in every for one in some])
    promised = MEASUREMENTS * arguments.problems
    name = f"{promised} measurements: promised {PROMISED:g}, carried"
    report(name, f"{kept:.3f}", f"{PROMISED - POINTS:.2f}", bool(kept >= PROMISED - POINTS))


def _compare(name: str, rows: list[Outcome]) -> None:
    if not rows:
        return
    reported = np.mean([row.reported for row in rows])
    carried = np.mean([row.carried for row in rows])
    figures = f"{reported:.3f}, carried {carried:.3f}"
    met = abs(reported - carried) <= POINTS
    report(f"{name}: {len(rows)} placements, reported", figures, "3 points", bool(met))


def _gains(rows: list[Outcome]) -> None:
    gains = np.array([row.carried - row.carried_without for row in rows])
    reached = sum(row.reported >= row.asked for row in rows)
    before = sum(row.without >= row.asked for row in rows)
    figures = f"{reached} of {len(rows)}, {before} without"
    report("placements that reach the probability", figures, "no fewer", reached >= before)
    figures = f"{gains.mean():+.3f}, largest {gains.max():+.3f}"
    report("gain in probability, mean", figures, "above 0", bool(gains.mean() > 0))
    report("smallest gain (chance)", f"{gains.min():+.3f}", "-0.030", bool(gains.min() >= -POINTS))


def problem_of(number: int) -> Problem:
    """Return the problem with this number: even ones are small, odd ones larger."""
    if number % 2:
        return larger_uncertain_problem(number)
    return uncertain_problem(number, max_placements=10**6)


def _result(problem: Problem, confidence: float | None = None) -> Result:
    result = place_problem(problem, PLACER, confidence=confidence)
    assert isinstance(result, Result)  # the objective is throughput
    return result


def checked(number: int, draws: int) -> list[Outcome]:
    """Place one problem at each confidence and score the placements at drawn true costs."""
    problem = problem_of(number)
    results = [_result(problem, asked) for asked in ASKED]
    plain = _result(problem).placement.devices
    rows = np.stack([*(result.placement.devices for result in results), plain])
    rng, true = np.random.default_rng((number, 3)), TrueCosts(problem)
    worst = np.array([worst_utilisation(flow(true.draw(rng)), rows) for _ in range(draws)])
    shares = (worst <= CARRIED).mean(axis=0)
    return [
        Outcome(asked, found.reached, float(share), found.without, float(shares[-1]))
        for asked, result, share in zip(ASKED, results, shares, strict=False)
        if (found := result.confidence) is not None
    ]


def measured(number: int) -> list[bool]:
    """Return, for several measurements, whether the rate that a placement promises is carried."""
    true = problem_of(number)
    rng = np.random.default_rng((number, 4))
    kept = []
    for _ in range(MEASUREMENTS):
        graph = _estimated(true.graph, rng)
        problem = Problem(
            graph, true.cluster, objective=true.objective, constraints=true.constraints
        )
        result = _result(problem, PROMISED)
        worst = float(worst_utilisation(flow(true), result.placement.devices)[0])
        promise = None if result.confidence is None else result.confidence.source_rate
        if promise is not None:
            kept.append(worst * promise / true.source_rate <= CARRIED)
    return kept


def _estimated(graph: StreamGraph, rng: np.random.Generator) -> StreamGraph:
    """Return a graph with estimates of instructions and selectivities, and their errors."""
    work, work_se = _estimates(graph.instructions, rng)
    selectivity, selectivity_se = _estimates(graph.selectivity, rng)
    return graph.with_numbers(
        instructions=work,
        instructions_se=work_se,
        payload_bytes_se=np.zeros(len(work)),
        selectivity=selectivity,
        selectivity_se=selectivity_se,
    )[0]


def _estimates(true: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return estimates and their standard errors from counters of `INTERVALS` intervals."""
    tuples = np.full(INTERVALS, 1000.0)
    noise = rng.uniform(*NOISE, len(true))
    grown = true[:, None] * tuples * (1 + noise[:, None] * rng.standard_normal((len(true), 8)))
    estimates = [slope(row, tuples) for row in grown]
    values = np.array([estimate.value or 0.0 for estimate in estimates])
    return values, np.array([or_exact(estimate) for estimate in estimates])


if __name__ == "__main__":
    main()
