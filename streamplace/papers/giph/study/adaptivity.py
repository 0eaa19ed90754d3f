"""Changing clusters: placements made anew after each change (Figure 6), and relocations."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from streamplace.learning.policy.base import Refiner
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.giph.families.cases import TYPES
from streamplace.papers.giph.families.changes import Adaptivity
from streamplace.papers.giph.policy import Giph
from streamplace.papers.giph.search import Episodes, least_loss
from streamplace.papers.giph.study.episodes import episodes
from streamplace.papers.giph.study.places import in_place
from streamplace.papers.giph.study.registered import (
    GIPH,
    OURS,
    PAPER_TRAINED,
    PLACETO,
    SEVERAL,
    TASK_EFT,
    UNIFORM,
    WITHOUT_POTENTIAL,
)
from streamplace.papers.giph.study.systems import (
    EPISODE,
    FIRST,
    HEFT,
    RANDOM,
    placed,
    random_starts,
)
from streamplace.papers.studies.study import Row
from streamplace.placers.running import run_placer
from streamplace.placers.search.migrate import Migrate
from streamplace.problem.makespan import Makespan, with_published_semantics
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.relocation import RelocationCost
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Ints

PROTOCOLS = ("code", "paper", "links")
OF_REPLACEMENT = ("code", "paper")
"""The protocols of changes after which placements are kept, and relocated from."""
FREE_MOVES = 3  # relocations besides those that are forced
FROM_SCRATCH = 100  # evaluations per operator of the search that starts anew
COST = RelocationCost(state_bytes={f"type{t}": 100.0 for t in range(TYPES)})  # a mean message
TRAINED = (GIPH, PLACETO, TASK_EFT, PAPER_TRAINED, OURS, WITHOUT_POTENTIAL, UNIFORM)
PLAIN, RNN = "plain placers", "RNN placer"
CHECKPOINTS = (0, 40, 80, 120, 160, 200, 400, 800, 1440)
"""Episodes of a training after which its policy is tested; the paper's training has 200."""

Placing = Callable[[Sequence[Problem], Sequence[Ints]], Mapping[str, Sequence[float]]]
"""Returns, by system, the makespan that it reaches on each problem from a placement, (V,)."""
System = Callable[[Giph, Problem, Placement, int], Placement]
"""Returns the placement after a change, from one with forced relocations only, with a seed."""


def placed_anew(place: Placing, graphs: range, changes: int, seed: int) -> Iterator[Row]:
    """Yield a row for each protocol, graph, cluster of the sequence and system.

    After each change, a system starts from a random placement, and has no memory of the last one.
    A device that has left keeps its place, but supports no hardware type.

    Parameters
    ----------
    seed
        Seed of the network, of its changes and of the placements to start from.
    """
    for protocol in PROTOCOLS:
        changing = Adaptivity(protocol, FIRST + seed, changes)
        clusters = list(changing.clusters())
        for number in graphs:
            graph, problems = changing.graph(FIRST + number), list[Problem]()
            for cluster in clusters:
                pair = with_published_semantics(graph, cluster, "giph")
                problem = Problem(*pair, objective=Makespan())
                problems.append(in_place(problem, changing.first.devices))
            for system, makespans in place(problems, random_starts(problems, seed)).items():
                for change, made in enumerate(zip(problems, makespans, strict=True)):
                    yield {
                        "changing": protocol,
                        "repeat": seed,
                        "graph": number,
                        "change": change,
                        "system": system,
                        "makespan_s": float(made[1]),
                        "longest_s": makespan_evaluator(made[0]).compiled.fastest.longest,
                    }


def by_policy(system: str, policy: Refiner[Any, Any], seed: int) -> Placing:
    """Return what a trained policy reaches in an episode."""

    def place(problems: Sequence[Problem], starts: Sequence[Ints]) -> Mapping[str, list[float]]:
        found = episodes(policy, problems, starts, EPISODE, seed)
        return {system: [float(one.lowest[-1]) for one in found]}

    return place


def by_plain_placers(seed: int) -> Placing:
    """Return what random placements, as many as an episode has, and HEFT reach."""

    def place(problems: Sequence[Problem], starts: Sequence[Ints]) -> Mapping[str, list[float]]:
        found: dict[str, list[float]] = {RANDOM: [], HEFT: []}
        for number, (problem, start) in enumerate(zip(problems, starts, strict=True)):
            own, first = [seed, number], Placement(problem, start)
            draws = f"random:evaluations={EPISODE * len(start)}"
            found[RANDOM] += placed(problem, draws, own, first).losses
            found[HEFT] += placed(problem, "heft", own, None).losses
        return found

    return place


def by_rnn(seed: int) -> Placing:
    """Return what the RNN placer reaches, which is trained anew after each change."""

    def place(problems: Sequence[Problem], starts: Sequence[Ints]) -> Mapping[str, list[float]]:
        makespans = [
            placed(problem, "rnn", [seed, number], None).losses[0]
            for number, problem in enumerate(problems)
        ]
        return {RNN: makespans}

    return place


class LearningCurve:
    """What a policy reaches on test cases while it is trained, as in Figures 14 and 15.

    Parameters
    ----------
    system
        The name of the policy.
    problems, starts
        The cases, and the placement of each, (V,), from which its episodes start.
    seed
        Seed of the training.

    Attributes
    ----------
    rows
        A row for each checkpoint that was reached.
    """

    def __init__(
        self, system: str, problems: Sequence[Problem], starts: Sequence[Ints], seed: int
    ) -> None:
        self.rows: list[Row] = []
        self._about = {"learning": SEVERAL, "system": system, "repeat": seed}
        self._cases, self._seed = (problems, starts), seed
        heft = by_plain_placers(seed)(*self._cases)[HEFT]
        self._heft = np.array(heft)

    def __call__(self, policy: Refiner[Any, Any], trained_episodes: int) -> None:
        """Test the policy at a checkpoint."""
        if trained_episodes in CHECKPOINTS:
            found = episodes(policy, *self._cases, EPISODE, self._seed)
            over = np.array([one.lowest[-1] for one in found]) / self._heft
            row = {"episodes": trained_episodes, "over_heft": over.tolist()}
            self.rows.append({**self._about, **row})


def adapted(
    policy: Giph,
    protocol: str,
    graphs: int,
    changes: int,
    seed: int,
    systems: Mapping[str, System] | None = None,
) -> Iterator[Row]:
    """Yield a row for each graph, change and system, which keeps its own placement.

    Parameters
    ----------
    systems
        Name -> what places after a change, from a placement with forced relocations only; by
        default those of the study.
    """
    systems = AFTER_CHANGES if systems is None else systems
    changing = Adaptivity(protocol, FIRST + seed, changes)
    clusters = list(changing.clusters())
    for number in range(graphs):
        graph, problems = changing.graph(FIRST + number), []
        for cluster in clusters:
            pair = with_published_semantics(graph, cluster, "giph")
            problems.append(Problem(*pair, objective=Makespan()))
        first = _scratch(problems[0], seed)
        held = dict.fromkeys(systems, first)
        for change, after in enumerate(problems[1:]):
            least = evaluator(after).loss(_scratch(after, seed).devices)[0]
            for name, system in systems.items():
                forced = _forced(after, held[name], seed)
                new = system(policy, after, forced, seed)
                cost = COST.seconds(after, held[name], new)
                moves = int((new.devices != forced.devices).sum())
                held[name] = new
                yield {
                    "protocol": protocol,
                    "repeat": seed,
                    "graph": number,
                    "change": change,
                    "system": name,
                    "makespan_s": float(evaluator(after).loss(new.devices)[0]),
                    "from_scratch_s": float(least),
                    "moves": moves,
                    "relocation_s": cost,
                }


def few_relocations(
    policy: Giph, problem: Problem, start: Placement, seed: int, per_operator: int = EPISODE
) -> Placement:
    """Return the best placement of short episodes with some steps per operator in all."""
    found = Episodes(policy, policy.encode(problem), least_loss, seed)
    evaluations = per_operator * len(start.devices)
    return Placement(problem, found.best_from(start.devices, FREE_MOVES, evaluations))


def _whole(policy: Giph, problem: Problem, start: Placement, seed: int) -> Placement:
    """Return the best placement of one long episode."""
    (found,) = episodes(policy, [problem], [start.devices], EPISODE, seed)
    return Placement(problem, found.best)


def few_moves(
    _policy: Giph, problem: Problem, start: Placement, seed: int, per_operator: int = EPISODE
) -> Placement:
    """Return what our re-placement reaches with some evaluations per operator."""
    evaluations = per_operator * len(problem.graph.names)
    limited = Migrate(start, max_moves=FREE_MOVES, evaluations=evaluations)
    return limited(problem, np.random.default_rng(seed))


def _heft(_policy: Giph, problem: Problem, _start: Placement, seed: int) -> Placement:
    return run_placer(problem, "heft", np.random.default_rng(seed), None).placement


def _stay(_policy: Giph, _problem: Problem, start: Placement, _seed: int) -> Placement:
    return start


def _forced(problem: Problem, before: Placement, seed: int) -> Placement:
    """Return a placement with forced relocations only, to the best devices of a short search."""
    limited = Migrate(before, max_moves=0, evaluations=len(problem.graph.names))
    return limited(problem, np.random.default_rng(seed))


def _scratch(problem: Problem, seed: int) -> Placement:
    evaluations = FROM_SCRATCH * len(problem.graph.names)
    rng = np.random.default_rng(seed)
    return run_placer(problem, f"search:evaluations={evaluations}", rng, None).placement


AFTER_CHANGES: dict[str, System] = {
    f"GiPH, {FREE_MOVES} relocations": few_relocations,
    "GiPH, a whole episode": _whole,
    f"our re-placement, {FREE_MOVES} relocations": few_moves,
    "HEFT": _heft,
    "forced relocations only": _stay,
}
