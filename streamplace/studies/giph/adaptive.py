"""Placements on a cluster that changes: what few relocations reach after each change."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from streamplace.generate.giph.cases import TYPES
from streamplace.generate.giph.changes import Adaptivity
from streamplace.placers.running import run_placer
from streamplace.placers.search.migrate import Migrate
from streamplace.policy.giph.policy import Giph
from streamplace.policy.giph.search import Episodes, least_loss
from streamplace.policy.refining import episodes
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.published import with_published_semantics
from streamplace.problem.relocation import RelocationCost
from streamplace.scoring.registry import evaluator
from streamplace.studies.study import Row

PROTOCOLS = ("code", "paper")
FREE_MOVES = 3  # relocations besides those that are forced
FROM_SCRATCH = 100  # evaluations per operator of the search that starts anew
EPISODE = 2  # evaluations per operator of the other systems
FIRST = 1000  # seed of a network or a graph; the cases of the trainings have seeds below 100
COST = RelocationCost(state_bytes={f"type{t}": 100.0 for t in range(TYPES)})  # a mean message
System = Callable[[Giph, Problem, Placement, int], Placement]


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
    systems = SYSTEMS if systems is None else systems
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


SYSTEMS: dict[str, System] = {
    f"GiPH, {FREE_MOVES} relocations": few_relocations,
    "GiPH, a whole episode": _whole,
    f"our re-placement, {FREE_MOVES} relocations": few_moves,
    "HEFT": _heft,
    "forced relocations only": _stay,
}
