"""The systems of the study: plain placers and trained policies."""

import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import count, cycle, islice
from typing import Any

import numpy as np
import torch

from streamplace.learning.policy.base import Refiner
from streamplace.learning.policy.registry import PolicySection, policy_section
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training.in_memory import fit
from streamplace.learning.training.stages import StepReinforceStage
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.giph.search import random_task_eft
from streamplace.papers.giph.stage import GiphStage
from streamplace.papers.giph.study.episodes import episodes
from streamplace.papers.giph.study.registered import PLACETO, PUBLISHED, SYSTEMS, UNIFORM
from streamplace.papers.placeto import trials
from streamplace.placers.registry import make_placer
from streamplace.placers.running import run_placer
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Floats, Ints

EPISODE = 2  # evaluations per operator of an episode
FIRST = 1000  # seed of a network or a graph; the cases of the trainings have seeds below 100
RANDOM, HEFT, RNN = "random", "HEFT", "RNN placer, 400 evaluations"
PEFT, PEFT_LINKS = "PEFT", "PEFT with the times of links"
CLIMB, SEARCH, CLIMB_FROM_HEFT = "climb", "search", "climb from HEFT"
EFT, EFT_OF_PAPER = "random task + EFT", "random task + EFT, as in the paper"
MORE = 100
LONG_CLIMB, LONG_SEARCH = f"climb, {MORE} times as long", f"search, {MORE} times as long"
ONCE = {HEFT: "heft", PEFT: "peft", PEFT_LINKS: "peft:links", RNN: "rnn"}
"""Placers that are not limited in evaluations."""
LIMITED = {
    RANDOM: ("random", 1),
    CLIMB: ("climb", 1),
    SEARCH: ("search", 1),
    LONG_CLIMB: ("climb", MORE),
    LONG_SEARCH: ("search", MORE),
}
"""Placers that make as many evaluations as an episode, or a multiple."""

PAPER_EPISODES = 200
HELD_OUT_EVERY = 5  # episodes between two tests on held-out cases

GROUPED = GiphStage.of(
    {
        "algorithm": "giph",
        "epochs": 1,
        "start": "random",
        "restart": "anew",
        "evaluate_every": 0,
        "baseline": "samples",
        "samples": 2,
        "discount": 0.97,
        "entropy": 0.0,
        "optimiser": {"rate": 0.01, "final_rate": 0.001},
    }
)
"""Our training: the fall of the log of the makespan, against other episodes from the same start."""

OF_PAPER = GROUPED.changed(
    baseline="earlier-steps",
    samples=1,
    step_reward="loss",
    discounts_gradient=True,
    optimiser={"rate": 0.01},
)
"""The paper's training."""

OF_PLACETO = GROUPED.model_copy(update={"optimiser": trials.PUBLISHED.optimiser})
"""Our training with Placeto's own rate and clipping.

Its published baseline is a mean over past episodes of the same problem. In a single pass over the
cases there are none, and every advantage would be 0.
"""


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
        found = _unlimited(problem, placer, seed, len(counts))
        yield name, found
        if name == HEFT:
            improved = Placement(problem, found.devices)
            yield CLIMB_FROM_HEFT, _limited(problem, "climb", counts, seed, improved)
    first = Placement(problem, start)
    for name, (placer, times) in LIMITED.items():
        is_refused = placer == "search" and problem.objective.quantity == "total cost"
        if not is_refused and (thorough or times == 1):
            yield name, _limited(problem, placer, [times * n for n in counts], seed, first)
    for name, waits in ((EFT, True), (EFT_OF_PAPER, False)):
        rng, begun = np.random.default_rng(list(seed)), time.process_time()
        evaluations = round(per_operator[-1] * operators) + 1  # the start is one of them
        best, lowest = random_task_eft(problem, start, evaluations, rng, waits=waits)
        spent = time.process_time() - begun
        yield name, Reached(at_checkpoints(lowest, operators, per_operator), best, spent)


def retrained(problem: Problem, seed: Sequence[int], checkpoints: int) -> tuple[str, Reached]:
    """Return the name of the RNN placer and what it reaches, which is trained on the problem."""
    return RNN, _unlimited(problem, ONCE[RNN], seed, checkpoints)


def _unlimited(problem: Problem, placer: str, seed: Sequence[int], checkpoints: int) -> Reached:
    """Return what a placer reaches, the same at every checkpoint."""
    found = placed(problem, placer, seed, None)
    return Reached(found.losses * checkpoints, found.devices, found.seconds)


def _limited(
    problem: Problem, placer: str, counts: Sequence[int], seed: Sequence[int], start: Placement
) -> Reached:
    """Return what a placer reaches with each number of evaluations."""
    found = [placed(problem, f"{placer}:evaluations={n}", seed, start) for n in counts]
    return Reached([one.losses[0] for one in found], found[-1].devices, found[-1].seconds)


def placed(problem: Problem, placer: str, seed: Sequence[int], start: Placement | None) -> Reached:
    """Return what a placer reaches, as its only loss; list schedulers plan for the makespan."""
    rng, asked = np.random.default_rng(list(seed)), problem
    if start is None and placer != "rnn":
        asked = Problem(problem.graph, problem.cluster, objective=Makespan())
    begun = time.process_time()
    devices = run_placer(asked, placer, rng, start).placement.devices
    spent = time.process_time() - begun
    return Reached([float(evaluator(problem).loss(devices)[0])], devices, spent)


def stage_of(system: str, samples: int) -> StepReinforceStage:
    """Return how a system is trained; the paper's training has one episode per update."""
    if system in PUBLISHED:
        return OF_PAPER
    stage = OF_PLACETO if system == PLACETO else GROUPED
    return stage.model_copy(update={"samples": samples})


def episodes_of_paper(problems: Sequence[Problem], epochs: int) -> list[Problem]:
    """Return the problem of each episode of the paper's training, 200 unless there are fewer.

    Parameters
    ----------
    epochs
        Passes over the problems that the other systems make.
    """
    return list(islice(cycle(problems), min(PAPER_EPISODES, epochs * len(problems))))


def trained(
    system: str,
    problems: Sequence[Problem],
    epochs: int,
    samples: int,
    seed: int,
    on_episodes: Callable[[Refiner[Any, Any], int], None] | None = None,
) -> Refiner[Any, Any]:
    """Return a trained policy; the control of Placeto is not trained.

    Parameters
    ----------
    problems
        They have equally many devices if the policy has an output for each.
    epochs
        Passes over the problems.
    samples
        Episodes per update.
    on_episodes
        Called with the policy and the number of its episodes so far, before the first update and
        after each.
    """
    if system in PUBLISHED:
        problems, epochs = episodes_of_paper(problems, epochs), 1
    policy = Refiner.of(new_policy(_section(system, problems), seed))
    stage = stage_of(system, samples).model_copy(update={"epochs": epochs})
    updates = count()

    def on_step(_record: object = None) -> None:
        if on_episodes is not None:
            on_episodes(policy, next(updates) * stage.samples)

    if system == UNIFORM:
        with torch.no_grad():
            for weight in policy.parameters():
                weight.zero_()  # equal logits: all devices are equally likely
    on_step()
    if system == UNIFORM:
        return policy
    fit(policy, problems, [stage], np.random.default_rng(seed), on_step=on_step)
    return policy


class LowestHeldOut:
    """The weights of a training with the lowest mean SLR on held-out cases.

    They are tested before the training and after every five episodes, as in the released code.

    Parameters
    ----------
    problems, starts
        The cases, and the placement of each, (V,), from which its episodes start.
    seed
        Seed of the episodes.

    Attributes
    ----------
    longest_s
        The longest path of each case with operators on their fastest devices, in seconds.
    """

    def __init__(self, problems: Sequence[Problem], starts: Sequence[Ints], seed: int) -> None:
        self._cases, self._seed = (problems, starts), seed
        self.longest_s = [makespan_evaluator(one).compiled.fastest.longest for one in problems]
        self._lowest, self._weights = np.inf, dict[str, Any]()

    def __call__(self, policy: Refiner[Any, Any], trained_episodes: int) -> None:
        """Test a policy, and keep its weights if they are the best so far."""
        if trained_episodes % HELD_OUT_EVERY:
            return
        found = episodes(policy, *self._cases, EPISODE, self._seed)
        slr = float(np.mean([one.lowest[-1] for one in found] / np.array(self.longest_s)))
        if slr < self._lowest:
            self._lowest, self._weights = slr, deepcopy(policy.state_dict())

    def restore(self, policy: Refiner[Any, Any]) -> None:
        """Give a policy the best weights."""
        policy.load_state_dict(self._weights)


def _section(system: str, problems: Sequence[Problem]) -> PolicySection:
    if system not in (PLACETO, UNIFORM):
        return SYSTEMS[system]
    devices = len(problems[0].cluster.devices)
    return policy_section({"kind": "placeto", "sizes": {"devices": devices}})


def random_starts(problems: Sequence[Problem], seed: int, first: int = 0) -> list[Ints]:
    """Return the random placement of each problem, (V,), from which all systems start.

    Parameters
    ----------
    first
        Number of the first problem.
    """
    rngs = (np.random.default_rng([seed, first + i]) for i in range(len(problems)))
    made = zip(problems, rngs, strict=True)
    return [make_placer("random")(problem, rng).devices for problem, rng in made]


def at_checkpoints(lowest: Floats, operators: int, per_operator: Sequence[float]) -> list[float]:
    """Return the lowest loss after some evaluations per operator, the start not counted."""
    last = len(lowest) - 1
    return [float(lowest[min(last, round(n * operators))]) for n in per_operator]
