"""One case of a comparison of makespans."""

from typing import NamedTuple

import numpy as np

from streamplace.errors import within
from streamplace.placers.base import Placer
from streamplace.problem.makespan import Makespan, PublishedName
from streamplace.problem.problem import Problem
from streamplace.problem.published import with_published_semantics
from streamplace.scoring.registry import makespan_evaluator
from streamplace.util.arrays import Floats
from streamplace.workflows.cases import Case
from streamplace.workflows.place import name_of, run_placer


class CaseMakespans(NamedTuple):
    """The results of P placers on one graph and cluster; see `MakespanComparison`."""

    makespan_s: Floats  # (P,)
    evaluations: Floats  # (P,)
    seconds: Floats  # (P,)
    bound_s: float
    longest_path_s: float


def makespans_of_case(
    case: Case,
    *,
    placers: tuple[str | Placer, ...],
    objective: Makespan,
    semantics: PublishedName | None,
    seed: int,
) -> CaseMakespans:
    """Place a graph on its cluster with every placer.

    Raises
    ------
    StreamplaceError
        If there is no placement; the message names graph and placer.
    """
    with within(case.name):
        graph, cluster = case.graph, case.cluster
        if semantics is not None:
            graph, cluster = with_published_semantics(graph, cluster, semantics)
        problem = Problem(graph, cluster, objective=objective)
        scored = makespan_evaluator(problem)
        bound, longest = scored.bound_s, scored.compiled.fastest.longest
        found = np.empty((3, len(placers)))
        for j, placer in enumerate(placers):
            rng = np.random.default_rng([seed, *case.seeds])
            outcome = run_placer(problem, placer, rng, None)
            with within(name_of(placer)):
                makespan = float(scored.makespans(outcome.placement.devices)[0])
            if bound is not None and outcome.proof is not None:
                bound = max(bound, outcome.proof.bound)
            count = np.nan if outcome.evaluations is None else outcome.evaluations
            found[:, j] = makespan, count, outcome.seconds
    makespans, evaluations, seconds = found
    known = np.nan if bound is None else min(bound, float(makespans.min()))  # up to rounding
    return CaseMakespans(makespans, evaluations, seconds, known, longest)
