"""One case of a comparison of makespans."""

from typing import NamedTuple

import numpy as np

from streamplace.errors import PlacementError, within
from streamplace.placers.base import Placer
from streamplace.placers.running import name_of, run_placer
from streamplace.problem.makespan import Makespan, PublishedName
from streamplace.problem.problem import Problem
from streamplace.problem.published import with_published_semantics
from streamplace.scoring.registry import makespan_evaluator
from streamplace.scoring.rounding import without_rounding
from streamplace.util.arrays import Floats
from streamplace.workflows.cases import Case


class CaseMakespans(NamedTuple):
    """The results of P placers on one graph and cluster; see `MakespanComparison`."""

    makespan_s: Floats  # (P,), NaN where a placer found no placement
    evaluations: Floats  # (P,)
    seconds: Floats  # (P,)
    bound_s: float
    longest_path_s: float
    failures: tuple[str, ...]  # (P,), why a placer found no placement, else an empty text


def makespans_of_case(
    case: Case,
    *,
    placers: tuple[str | Placer, ...],
    objective: Makespan,
    semantics: PublishedName | None,
    seed: int,
) -> CaseMakespans:
    """Place a graph on its cluster with every placer.

    A placer that finds no placement, although one may exist, has no numbers.

    Raises
    ------
    StreamplaceError
        If there is provably no placement, if a placer does not support the problem, or if a bound
        is above a makespan; the message names the graph and, if it is the reason, the placer.
    """
    with within(case.name):
        graph, cluster = case.graph, case.cluster
        if semantics is not None:
            graph, cluster = with_published_semantics(graph, cluster, semantics)
        problem = Problem(graph, cluster, objective=objective)
        scored = makespan_evaluator(problem)
        bound, longest = scored.bound_s, scored.compiled.fastest.longest
        found, failures = np.full((3, len(placers)), np.nan), [""] * len(placers)
        for j, placer in enumerate(placers):
            rng = np.random.default_rng([seed, *case.seeds])
            try:
                outcome = run_placer(problem, placer, rng, None)
            except PlacementError as error:
                failures[j] = f"{case.name}: {error}"
                continue
            with within(name_of(placer)):
                makespan = float(scored.makespans(outcome.placement.devices)[0])
            if bound is not None and outcome.proof is not None:
                bound = max(bound, outcome.proof.bound)
            count = np.nan if outcome.evaluations is None else outcome.evaluations
            found[:, j] = makespan, count, outcome.seconds
        if bound is not None and np.isfinite(found[0]).any():
            bound = without_rounding(bound, float(np.nanmin(found[0])))
    known = np.nan if bound is None else bound
    makespans, evaluations, seconds = found
    return CaseMakespans(makespans, evaluations, seconds, known, longest, tuple(failures))
