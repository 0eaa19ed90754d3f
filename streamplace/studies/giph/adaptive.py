"""Placements on a cluster that changes: what few relocations reach after each change."""

from collections.abc import Callable, Iterator

import numpy as np
import torch

from streamplace.generate.giph.changes import Adaptivity
from streamplace.generate.giph.ranges import TYPES
from streamplace.placers.search.migrate import Migrate
from streamplace.policy.decoding import Sampler
from streamplace.policy.giph.policy import Giph
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.published import with_published_semantics
from streamplace.problem.relocation import RelocationCost
from streamplace.scoring.registry import evaluator
from streamplace.studies.giph.learning import walked
from streamplace.studies.study import Row
from streamplace.workflows.place import run_placer

PROTOCOLS = ("code", "paper")
FREE_MOVES = 3  # relocations besides those that are forced
FROM_SCRATCH = 100  # evaluations per operator of the search that starts anew
EPISODE = 2  # evaluations per operator of the other systems
COST = RelocationCost(state_bytes={f"type{t}": 100.0 for t in range(TYPES)})  # a mean message


def adapted(policy: Giph, protocol: str, graphs: int, changes: int, seed: int) -> Iterator[Row]:
    """Yield a row for each graph, change and system, which keeps its own placement."""
    changing = Adaptivity(protocol, seed, changes)
    clusters = list(changing.clusters())
    for number in range(graphs):
        problems = []
        for cluster in clusters:
            pair = with_published_semantics(changing.graph(number), cluster, "giph")
            problems.append(Problem(*pair, objective=Makespan()))
        first = _scratch(problems[0], seed)
        held = dict.fromkeys(SYSTEMS, first)
        for change, after in enumerate(problems[1:]):
            least = evaluator(after).loss(_scratch(after, seed).devices)[0]
            for name, system in SYSTEMS.items():
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


def few_moves(policy: Giph, problem: Problem, start: Placement, moves: int, seed: int) -> Placement:
    """Return the best placement of many short episodes from one placement.

    All episodes together have two steps per operator.
    """
    one = policy.encode(problem)
    batch, episodes = policy.batch([one]), -(-policy.episode(one) // moves)
    starts = np.repeat(start.devices[None, None], episodes, axis=1)
    sampler = Sampler(torch.Generator().manual_seed(seed))
    made = policy.refine(batch, starts, [moves], sampler, [evaluator(problem)])
    assert made.losses is not None, "refiners return losses"
    assert made.best is not None, "and the best placements"
    best = int(np.nanmin(made.losses[0], axis=1).argmin())
    return Placement(problem, made.best[0, best])


def _giph(policy: Giph, problem: Problem, start: Placement, seed: int) -> Placement:
    return few_moves(policy, problem, start, FREE_MOVES, seed)


def _whole_episode(policy: Giph, problem: Problem, start: Placement, seed: int) -> Placement:
    (found,), _ = walked(policy, [problem], [start.devices], EPISODE, seed)
    return Placement(problem, found.best)


def _migrate(_policy: Giph, problem: Problem, start: Placement, seed: int) -> Placement:
    evaluations = EPISODE * len(problem.graph.names)
    limited = Migrate(start, max_moves=FREE_MOVES, evaluations=evaluations)
    return limited(problem, np.random.default_rng(seed))


def _heft(_policy: Giph, problem: Problem, _start: Placement, seed: int) -> Placement:
    return run_placer(problem, "heft", np.random.default_rng(seed), None).placement


def _stay(_policy: Giph, _problem: Problem, start: Placement, _seed: int) -> Placement:
    return start


def _forced(problem: Problem, before: Placement, seed: int) -> Placement:
    """Return a placement with forced relocations only, which go where they end first or so."""
    limited = Migrate(before, max_moves=0, evaluations=len(problem.graph.names))
    return limited(problem, np.random.default_rng(seed))


def _scratch(problem: Problem, seed: int) -> Placement:
    evaluations = FROM_SCRATCH * len(problem.graph.names)
    rng = np.random.default_rng(seed)
    return run_placer(problem, f"search:evaluations={evaluations}", rng, None).placement


SYSTEMS: dict[str, Callable[[Giph, Problem, Placement, int], Placement]] = {
    f"GiPH, {FREE_MOVES} relocations": _giph,
    "GiPH, a whole episode": _whole_episode,
    f"our re-placement, {FREE_MOVES} relocations": _migrate,
    "HEFT": _heft,
    "forced relocations only": _stay,
}
