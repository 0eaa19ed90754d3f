"""Place and score: the toolkit's main job as one call."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from streamplace.cluster import Cluster
from streamplace.constraints import Constraints
from streamplace.errors import PlacementError, UsageError, within
from streamplace.graph import StreamGraph
from streamplace.placement import Placement
from streamplace.placers.base import Proof, Prover
from streamplace.placers.ready import ready_placer
from streamplace.placers.registry import FROM_START
from streamplace.problem import Model, Problem
from streamplace.score import Score, bound, simulate


@dataclass(frozen=True)
class Result:
    """A placement and how good it is.

    Parameters
    ----------
    bound
        Tuples/s that no placement exceeds, at the source rate of the score; None where none is
        known, under ``engine``.
    seconds
        Wall time of the placer, its libraries loaded.
    status
        ``OPTIMAL`` or ``FEASIBLE`` from a placer that proves; None from others.
    """

    placement: Placement
    score: Score
    placer: str
    bound: float | None
    seconds: float
    status: str | None = None

    @property
    def gap(self) -> float | None:
        """How far below the bound the throughput is, as a share of the bound."""
        if self.bound is None:
            return None
        return max(0.0, 1.0 - self.score.throughput / self.bound)

    def to_dict(self) -> dict[str, Any]:
        """Return what `place --json` prints."""
        told = {
            **self.score.to_dict(),
            "assignment": self.placement.assignment,
            "placer": self.placer,
            "bound": self.bound,
            "gap": self.gap,
            "seconds": self.seconds,
        }
        return told if self.status is None else told | {"status": self.status}


def place(
    graph: StreamGraph,
    cluster: Cluster | None = None,
    *,
    source_rate: float | Iterable[float] | None = None,
    constraints: Constraints | None = None,
    model: Model = "bottleneck",
    target_utilisation: float = 1.0,
    placer: str = "auto",
    seed: int = 0,
) -> Result:
    """Place a graph on a cluster, by default the paper's five equal devices.

    Parameters
    ----------
    source_rate, constraints
        None: the graph's own. Several source rates: the score is that at the worst of them.
    target_utilisation
        The share of every device and link that may be used.
    placer
        A name with options, as ``metis:parts=3``.

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
    )
    return solve(problem, placer, seed)


def solve(
    problem: Problem, placer: str = "auto", seed: int = 0, start: Placement | None = None
) -> Result:
    """Place and score a problem, from a start if there is one; see `place`.

    Raises
    ------
    UsageError
        If the placer does not set out from a placement, and a start is given.
    """
    if seed < 0:
        raise UsageError(f"seed must be at least 0 (got {seed})")
    if start is not None and placer.partition(":")[0] not in FROM_START:
        raise UsageError(
            f"placer {placer!r} sets out from no placement; {', '.join(FROM_START)} do"
        )
    answer = _answer(problem, placer, np.random.default_rng(seed), start)
    return result_of(answer.placement, placer, answer.seconds, answer.proof)


def result_of(
    placement: Placement, placer: str, seconds: float, proof: Proof | None = None
) -> Result:
    """Score a placement and say how far from the best it may be, by a proof if there is one."""
    problem, score = placement.problem, simulate(placement)
    most, status = None, None
    if problem.model != "engine":
        most = bound(problem)
        if proof is not None:
            most = min(most, proof.bound)
            status = "OPTIMAL" if proof.optimal else "FEASIBLE"
        most *= score.source_rate / problem.source_rate  # told at the rate that the score is of
    return Result(placement, score, placer, most, seconds, status)


def timed(
    problem: Problem, placer: str, rng: np.random.Generator, start: Placement | None = None
) -> tuple[Placement, float]:
    """Return a feasible placement and the wall time that finding it took, in seconds.

    Raises
    ------
    PlacementError
        If the placer found none, or one that breaks a constraint.
    """
    answer = _answer(problem, placer, rng, start)
    return answer.placement, answer.seconds


class _Answer(NamedTuple):
    """What a placer found, how long it took, and its proof if it makes one."""

    placement: Placement
    seconds: float
    proof: Proof | None


def _answer(
    problem: Problem, placer: str, rng: np.random.Generator, start: Placement | None
) -> _Answer:
    """Ask a placer and check what it finds."""
    place_it, proof = ready_placer(placer, problem.model), None
    started = time.perf_counter()
    with within(placer):
        if isinstance(place_it, Prover):
            proof = place_it.prove(problem, rng, start)
        placement = place_it(problem, rng, start) if proof is None else proof.placement
    seconds = time.perf_counter() - started
    broken = problem.feasibility.violation(placement.devices)
    if broken is not None:
        raise PlacementError(f"placer {placer!r} broke a constraint: {broken}")
    return _Answer(placement, seconds, proof)
