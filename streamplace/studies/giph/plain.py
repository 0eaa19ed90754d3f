"""Placers without training on the study's cases."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from streamplace.placers.running import run_placer
from streamplace.policy.giph.search import random_task_eft
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.total_cost import TotalCost
from streamplace.scoring.registry import evaluator
from streamplace.studies.giph.learning import at_checkpoints
from streamplace.util.arrays import Ints

RANDOM, HEFT, PEFT, RNN = "random", "HEFT", "PEFT", "RNN placer, 400 evaluations"
CLIMB, SEARCH, CLIMB_FROM_HEFT = "climb", "search", "climb from HEFT"
EFT, EFT_OF_PAPER = "random task + EFT", "random task + EFT, as in the paper"
MORE = 100
LONG_CLIMB, LONG_SEARCH = f"climb, {MORE} times as long", f"search, {MORE} times as long"
ONCE = {HEFT: "heft", PEFT: "peft", RNN: "rnn"}
"""Placers that are not limited in evaluations."""
LIMITED = {
    RANDOM: ("random", 1),
    CLIMB: ("climb", 1),
    SEARCH: ("search", 1),
    LONG_CLIMB: ("climb", MORE),
    LONG_SEARCH: ("search", MORE),
}
"""Placers that make as many evaluations as an episode, or a multiple."""


@dataclass(frozen=True)
class Reached:
    """What a system reaches on one problem.

    Parameters
    ----------
    losses
        The lowest loss after each checkpoint.
    devices
        (V,) the best placement.
    seconds
        CPU seconds of all of it.
    """

    losses: list[float]
    devices: Ints
    seconds: float


def plain(
    problem: Problem,
    start: Ints,
    seed: Sequence[int],
    per_operator: Sequence[float],
    *,
    thorough: bool,
) -> Iterator[tuple[str, Reached]]:
    """Yield what each plain placer reaches on a problem.

    Parameters
    ----------
    start
        (V,) the placement that placers with a start improve, the same as for policies. `search`
        improves the best of it and of several list schedules, whose evaluations do not count.
    per_operator
        Evaluations per operator at each checkpoint.
    thorough
        Whether to run the placers that take long, too.
    """
    operators = len(problem.graph.names)
    counts = [round(share * operators) for share in per_operator]
    for name, placer in ONCE.items():
        if name == RNN and not thorough:
            continue
        found = _placed(problem, placer, seed, None)
        yield name, Reached(found.losses * len(counts), found.devices, found.seconds)
        if name == HEFT:
            improved = Placement(problem, found.devices)
            yield CLIMB_FROM_HEFT, _limited(problem, "climb", counts, seed, improved)
    first = Placement(problem, start)
    for name, (placer, times) in LIMITED.items():
        is_refused = placer == "search" and isinstance(problem.objective, TotalCost)
        if not is_refused and (thorough or times == 1):
            yield name, _limited(problem, placer, [times * n for n in counts], seed, first)
    for name, waits in ((EFT, True), (EFT_OF_PAPER, False)):
        rng, begun = np.random.default_rng(list(seed)), time.process_time()
        evaluations = round(per_operator[-1] * operators) + 1  # the start is one of them
        best, lowest = random_task_eft(problem, start, evaluations, rng, waits=waits)
        spent = time.process_time() - begun
        yield name, Reached(at_checkpoints(lowest, operators, per_operator), best, spent)


def _limited(
    problem: Problem, placer: str, counts: Sequence[int], seed: Sequence[int], start: Placement
) -> Reached:
    """Return what a placer reaches with each number of evaluations."""
    found = [_placed(problem, f"{placer}:evaluations={n}", seed, start) for n in counts]
    return Reached([one.losses[0] for one in found], found[-1].devices, found[-1].seconds)


def _placed(problem: Problem, placer: str, seed: Sequence[int], start: Placement | None) -> Reached:
    """Return what a placer reaches, as its only loss; list schedulers plan for the makespan."""
    rng, asked = np.random.default_rng(list(seed)), problem
    if start is None and placer != "rnn":
        asked = Problem(problem.graph, problem.cluster, objective=Makespan())
    begun = time.process_time()
    devices = run_placer(asked, placer, rng, start).placement.devices
    spent = time.process_time() - begun
    return Reached([float(evaluator(problem).loss(devices)[0])], devices, spent)
