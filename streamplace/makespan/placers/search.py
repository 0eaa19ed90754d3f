"""The placers `search` and `auto` under the makespan objective, and EnumerativeOptimizer."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import ClassVar

import numpy as np

from streamplace.errors import PlacementError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.makespan.placers.annealing import REACHED, SMALL, Step, annealed_passes
from streamplace.makespan.placers.lists import Cpop, CriticalPath, Heft, Peft, RandomEft
from streamplace.makespan.placers.passes import feasible_draft, pass_evaluator, shortest
from streamplace.makespan.placers.portfolio import Tries, partitions, portfolio, samples
from streamplace.makespan.placers.prefixes import best_on_prefixes
from streamplace.makespan.placers.proof import PassProof
from streamplace.placers.base import MAKESPAN, BasePlacer, Found, Placer
from streamplace.placers.budget import Budget
from streamplace.placers.partition.metis import Metis, MetisRecursive
from streamplace.placers.trivial import Random, Single
from streamplace.problem.graph import StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.sim import work_clock
from streamplace.sim.schedule.enumerative import enumerative_placement
from streamplace.sim.schedule.task_graph import TaskGraph
from streamplace.util.arrays import Ints, distinct_rows

# Placements up to which all are tried, which is a proof; a guess, `ENUMERATION` limits the time.
MOST_ENUMERATED = 100_000
ENUMERATION = 0.5  # share of the budget for this, as it may prove nothing; a guess
# Starts of other kinds are worth a little of every search: METIS with few parts leads where
# messages are slow. The shares are guesses; not tuned.
BESIDE, PARTITIONED = 0.1, 0.05  # evaluations of list schedulers and METIS per one of the search

OF_SMALL = RandomEft(samples=50), CriticalPath(samples=50)
"""Further placers on graphs of up to `SMALL` units, unless one reached the bound."""

DRAWN = 10  # placements of randomised list schedulers among the first starts; a guess, not tuned
# With fewer, `auto` lost to metis-oracle on 11 streams among 15 operators
# (docs/results/makespan.md).
FEW_CUTS = 14  # partitions that are quick there too: 2 to 8 parts, by both variants
FURTHER = sum(placer.samples for placer in OF_SMALL) + FEW_CUTS  # evaluations that they take
WORTH = 1_000  # evaluations from which a search can pay for them: about a tenth of it
LARGE = 5_000  # operators from which some of the quick placers take longer than the search


@dataclass(frozen=True)
class Enumerative(BasePlacer):
    """Assign the operators of a group to different devices, at the least time of messages to them.

    A group is a set of operators of one level with the same ``meta_op``, or, without one, of the
    same type and cost; larger sets are split into groups of as many operators as there are devices.
    With up to eight devices, all assignments of a group are tried; with more, the best one is
    computed as a linear assignment, which is equivalent.
    """

    name: ClassVar[str] = "enumerative"
    objectives: ClassVar[frozenset[str]] = MAKESPAN

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the placement, repaired where constraints require it.

        Raises
        ------
        UnsuitableError
            If the objective is throughput.
        PlacementError
            If no feasible placement was found.
        """
        compiled = pass_evaluator(problem, self.name).compiled
        groups = _groups(problem.graph, compiled.tasks, problem.feasibility.unit_of)
        first = np.append(0, np.cumsum([len(group) for group in groups])).astype(np.int32)
        member = np.concatenate(groups).astype(np.int32)
        draft = enumerative_placement(compiled.tasks, compiled.rules, first, member)
        return feasible_draft(problem, draft)


def _groups(graph: StreamGraph, tasks: TaskGraph, unit_of: Ints) -> list[list[int]]:
    """Return groups of operators of different units, sorted by level."""
    similar: defaultdict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for v, level in enumerate(tasks.level.tolist()):
        shared: Hashable = graph.meta_op.get(v)
        if shared is None:
            times = tuple(sorted(graph.seconds_on.get(v, {}).items()))
            shared = graph.type.get(v), float(tasks.work[v]), times
        similar[level, shared].append(v)
    groups: list[list[int]] = []
    for _, operators in sorted(similar.items(), key=lambda item: (item[0][0], item[1][0])):
        rest = operators
        while rest:
            group = _different_units(rest, tasks.devices, unit_of)
            groups.append(group)
            taken = set(group)
            rest = [v for v in rest if v not in taken]
    return groups


def _different_units(operators: list[int], most: int, unit_of: Ints) -> list[int]:
    """Return the first operators that are of different units."""
    by_unit: dict[int, int] = {}
    for v in operators:
        by_unit.setdefault(int(unit_of[v]), v)
        if len(by_unit) == most:
            break
    return list(by_unit.values())


def quick_placers(problem: Problem) -> tuple[tuple[Placer, ...], tuple[Placer, ...]]:
    """Return the placers whose placements are the first starts of a search, and the next ones."""
    parts = min(len(problem.cluster.devices), problem.feasibility.unit_count)
    # METIS is the best start where messages are slow: on 200 operators, it reaches 7.0 s on four
    # devices where list schedulers reach 10.9 s.
    first: tuple[Placer, ...] = Heft(), Peft(links=True), Single(), MetisRecursive(parts=parts)
    if len(problem.graph.names) >= LARGE:
        return first, (RandomEft(samples=DRAWN),)
    further = Enumerative(), Metis(parts=parts)
    sampled = RandomEft(samples=DRAWN), CriticalPath(samples=DRAWN)
    return (*first, Heft(contention=True), Cpop()), (*sampled, *further)


def fast_pass(problem: Problem, rng: np.random.Generator) -> Placement:
    """Return the best placement of a few fast placers under an objective of a pass."""
    placers: Iterable[Placer] = (Single(), MetisRecursive(), Random())
    if problem.objective.quantity == "makespan":  # list schedulers plan schedules
        placers = chain(*quick_placers(problem))
    rows = portfolio(problem, rng, None, placers)
    return Placement(problem, rows[int(evaluator(problem).loss(rows).argmin())])


def search_pass(
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
    budget: Budget,
) -> Placement:
    """Return the placement that `auto_pass` would find by the search on all devices alone.

    Its evaluations thus compare with those of other placers.
    """
    scored = pass_evaluator(problem, "search")
    return best_on_prefixes(scored, steps_of_pass, rng, start, budget, fewer=False).placement


def auto_pass(
    problem: Problem,
    rng: np.random.Generator,
    start: Placement | None,
    budget: Budget,
) -> Found:
    """Search on all devices and on the first ones; see `best_on_prefixes` and `steps_of_pass`.

    If all placements were tried, the makespan of the best one is a proven bound. Identical devices
    are used in the order of the cluster, unless there is an initial placement.
    """
    scored = pass_evaluator(problem, "auto")
    found = best_on_prefixes(scored, steps_of_pass, rng, start, budget)
    return found if start is not None else replace(found, placement=found.placement.canonical())


def steps_of_pass(
    scored: MakespanEvaluator, rng: np.random.Generator, start: Placement | None, budget: Budget
) -> Iterator[Step]:
    """Yield the steps of a search: placements of quick placers, and then chains of annealing.

    If there are few placements, all that the bounds do not rule out are tried in between.

    Raises
    ------
    PlacementError
        If the quick placers found no feasible placement.
    """
    problem = scored.problem
    cuts = partitions(problem)
    first, second = quick_placers(problem)
    try:
        rows = portfolio(problem, rng, start, first)
    except PlacementError:
        rows = portfolio(problem, rng, start, second)
    ahead = len(second) * DRAWN * len(problem.cluster.devices)
    if (proof := _try_all(scored, rows, budget)) is not None:
        rows = distinct_rows([*rows, proof.result().placement.devices])
        yield Step([*rows], ahead, proof.closed)
        if proof.closed:
            return
    else:
        yield Step([*rows], ahead)
    rows = _with(rows, problem, rng, second)
    is_at_bound = scored.makespans(rows).min() <= scored.compiled.bounds.best * REACHED
    is_small = problem.feasibility.unit_count <= SMALL
    # Where the bound is reached, further starts would be in vain.
    if is_small and budget.evaluations_left() >= WORTH and not is_at_bound:
        yield Step([*rows], FURTHER)
        begun = work_clock.now()
        further = (*OF_SMALL, *(cut for cut, _ in islice(cuts, FEW_CUTS)))
        rows = _with(rows, problem, rng, further)
        budget.charge(FURTHER, work_clock.now() - begun)
    more = Tries(cuts, PARTITIONED), Tries(samples(problem), BESIDE)
    yield from annealed_passes(scored, rng, rows, budget, more=more)


def _with(
    rows: Ints, problem: Problem, rng: np.random.Generator, placers: Iterable[Placer]
) -> Ints:
    """Return placements, (K, V), with those of further placers."""
    with suppress(PlacementError):
        return distinct_rows([*rows, *portfolio(problem, rng, None, placers)])
    return rows


def _try_all(scored: MakespanEvaluator, rows: Ints, budget: Budget) -> PassProof | None:
    """Try all placements for a share of the budget if there are few; otherwise return None.

    Parameters
    ----------
    rows
        (K, V) feasible placements.
    """
    allowed = scored.problem.feasibility.allowed
    # A mean over noise may lie below every bound, so that nothing can be cut off.
    if scored.problem.makespan_objective.noise:
        return None
    if np.log(allowed.sum(axis=1)).sum() > np.log(MOST_ENUMERATED):
        return None
    proof = PassProof(scored, rows[shortest(scored, rows)])
    if not proof.closed:
        proof.enumerate(budget.share(ENUMERATION))
    return proof
