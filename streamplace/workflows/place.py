"""Placing and scoring in one call."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from streamplace.errors import PlacementError, UsageError, within
from streamplace.placers.base import Placer, Proof, Prover
from streamplace.placers.custom import checked
from streamplace.placers.registry import FROM_START, is_ours, ready_placer
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model, Objective
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import digest, forget
from streamplace.scoring.registry import evaluator
from streamplace.scoring.throughput import bound, simulate
from streamplace.util import work_clock
from streamplace.util.checks import check_seed
from streamplace.workflows.result import Result


def place(
    graph: StreamGraph,
    cluster: Cluster | str | None = None,
    *,
    source_rate: float | Iterable[float] | None = None,
    constraints: Constraints | None = None,
    model: Model | None = None,
    target_utilisation: float | None = None,
    objective: Objective | None = None,
    placer: str | Placer = "auto",
    seed: int = 0,
) -> Result:
    """Place a graph on a cluster, by default the paper's five equal devices.

    Parameters
    ----------
    cluster
        Or as text, ``5x2500``: see `Cluster.parse`.
    source_rate, constraints
        None: the graph's own. Several source rates: the score is that at the worst of them.
    model
        How throughput follows from a placement: ``bottleneck`` (the default), ``path-average`` or
        ``engine``.
    target_utilisation
        The share of every device and link that may be used; 1 by default.
    objective
        In place of source rate, model and target utilisation.
    placer
        A name with options, as ``metis:parts=3``; one of your own by name, ``module:Class``, or
        itself: see `Placer`.

    Raises
    ------
    StreamplaceError
        Whatever is wrong with the problem, the placer's name or its answer.
    """
    problem = Problem(
        graph,
        cluster,
        source_rate=source_rate,
        constraints=constraints,
        model=model,
        target_utilisation=target_utilisation,
        objective=objective,
    )
    return solve(problem, placer, seed)


def solve(
    problem: Problem, placer: str | Placer = "auto", seed: int = 0, start: Placement | None = None
) -> Result:
    """Place and score a problem, from a start if there is one; see `place`.

    Raises
    ------
    UsageError
        If the placer does not set out from a placement, and a start is given.
    """
    check_seed(seed)
    name = name_of(placer)
    if start is not None and not _sets_out(placer):
        whom = ", ".join(FROM_START)
        raise UsageError(f"placer {placer!r} sets out from no placement; {whom} do")
    answer = _answer(problem, placer, np.random.default_rng(seed), start)
    return result_of(answer.placement, name, answer.seconds, answer.proof)


def _sets_out(placer: str | Placer) -> bool:
    """Return whether a placer heeds a start; users' own may."""
    if not isinstance(placer, str) or not is_ours(placer):
        return True
    return placer.partition(":")[0] in FROM_START


def name_of(placer: str | Placer) -> str:
    """Return what a placer is called in tables: its name with options, or that of its code.

    Raises
    ------
    UsageError
        If it is no placer.
    """
    if isinstance(placer, str):
        return placer
    name = getattr(placer, "__name__", type(placer).__name__)
    checked(name, placer)
    return str(name)


def result_of(
    placement: Placement, placer: str, seconds: float, proof: Proof | None = None
) -> Result:
    """Score a placement and say how far from the best it may be, by a proof if there is one."""
    problem, score = placement.problem, simulate(placement)
    most, status = None, None
    if evaluator(problem).best_possible is not None:
        most = bound(problem)
        if proof is not None:
            most = min(most, proof.bound)
            status = "OPTIMAL" if proof.optimal else "FEASIBLE"
        most *= score.source_rate / problem.source_rate  # at the rate that the score is of
    return Result(placement, score, placer, most, seconds, status)


def timed(
    problem: Problem, placer: str | Placer, rng: np.random.Generator, start: Placement | None = None
) -> tuple[Placement, float]:
    """Return a feasible placement and the wall time that finding it took, in seconds.

    Raises
    ------
    PlacementError
        If the placer found none, one that breaks a constraint, or one of another problem, or if one
        of the user's own changed the problem's arrays.
    """
    answer = _answer(problem, placer, rng, start)
    return answer.placement, answer.seconds


class _PlacerAnswer(NamedTuple):
    """What a placer found, how long it took, and its proof if it makes one."""

    placement: Placement
    seconds: float
    proof: Proof | None


def _answer(
    problem: Problem, placer: str | Placer, rng: np.random.Generator, start: Placement | None
) -> _PlacerAnswer:
    """Ask a placer and check what it finds."""
    name, proof = name_of(placer), None
    place_it = ready_placer(placer, problem.model) if isinstance(placer, str) else placer
    own = not isinstance(placer, str) or not is_ours(placer)
    before = digest(problem) if own else b""
    started = work_clock.now()
    with within(name):
        if isinstance(place_it, Prover):
            proof = place_it.prove(problem, rng, start)
        placement = place_it(problem, rng, start) if proof is None else proof.placement
    seconds = work_clock.now() - started
    if own and digest(problem) != before:
        forget(problem)
        raise PlacementError(f"placer {name!r} changed arrays of the problem; copy them first")
    _check(problem, name, placement)
    return _PlacerAnswer(placement, seconds, proof)


def _check(problem: Problem, name: str, placement: object) -> None:
    """Raise PlacementError unless it is a feasible placement of the problem."""
    if not isinstance(placement, Placement):
        what = type(placement).__name__
        raise PlacementError(f"placer {name!r} returned a {what}; a Placement is wanted")
    if placement.problem is not problem:
        asked = "Placement(problem, …) of the one that it is given is wanted"
        raise PlacementError(f"placer {name!r} returned a placement of another problem; {asked}")
    broken = problem.feasibility.violation(placement.devices)
    if broken is not None:
        raise PlacementError(f"placer {name!r} broke a constraint: {broken}")
