"""The evaluator and the search of the model ``path-average``."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import SimulationError
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.evaluator import Annealed, LocalSearch, Placements
from streamplace.scoring.models import ROUNDING, ClosedFormEvaluator, UtilisationSearch
from streamplace.sim.closed_form import path_average
from streamplace.sim.exact import LoadBounds
from streamplace.sim.exact.path_average import SOLVED, PathAverageBounds, passing_shares
from streamplace.sim.flow import Flow
from streamplace.sim.search import Instance, Schedule, SearchState
from streamplace.sim.search.anneal_path_average import anneal_path_average
from streamplace.util.arrays import Floats

MAX_STREAMS = 2_000  # beyond this, solving the links' equations after every change is slow


class PathAverageEvaluator(ClosedFormEvaluator):
    """Evaluator for ``path-average``: a full link throttles only the streams that cross it."""

    overload_matters: bool = True
    quick_score_elements: ClassVar[int] = 2 * 10**7

    @property
    def throughput_bounds(self) -> LoadBounds:
        """Bounds on 1 / relative throughput, divided by local search's reference."""
        return self.problem.once(_bounds)

    def highest_utilisation(self, share: float) -> float:
        """Return the limit that follows from the stream that contributes least to the sinks.

        A link of utilisation u > 1 passes on at most 1 / u of the flow of some stream, so that the
        sinks lose at least 1 - 1 / u of that stream's contribution.
        """
        loss, least = 1.0 - share + SOLVED, float(_contributions(self._compiled.flow).min())
        return 1.0 / (1.0 - loss / least) if loss < least else inf

    def reached(self, flow: Flow, devices: Placements) -> Floats:
        """Return the throughput of K placements, (K,) in source tuples/s.

        Raises
        ------
        SimulationError
            If the links' equations could not be solved.
        """
        try:
            return path_average.throughput(flow, devices)
        except path_average.ConvergenceError as error:
            raise SimulationError(f"path-average: {error}") from None

    def local_search(self) -> LocalSearch:
        """Return kernels for throughput or, beyond 2,000 streams, faster ones for utilisation."""
        parts = self._compiled
        if len(parts.flow.source) > MAX_STREAMS:
            return UtilisationSearch(parts.instance, self.least_load)
        return PathAverageSearch(parts.instance, self.least_load, parts.flow)


def _bounds(problem: Problem) -> LoadBounds:
    parts = compiled(problem)
    if parts.flow.joins:  # what is lost with a stream is not a sum over paths
        return parts.cpu_bounds
    unit_of = problem.feasibility.unit_of
    return PathAverageBounds(parts.instance, parts.cpu_bounds, parts.flow, unit_of)


def _contributions(flow: Flow) -> Floats:
    """Return the share of the tuples at the sinks that pass each loaded stream, and a 1, (E + 1,).

    Where operators join their inputs, it is a lower bound on what is lost with the stream.

    The 1 stands for the sources, which every full device throttles.
    """
    if flow.joins:  # every stream is needed by a sink
        return np.append(np.full(len(flow.source), 1.0 / len(flow.sinks)), 1.0)
    return np.append(passing_shares(flow)[flow.stream_tuples > 0], 1.0)


@dataclass(frozen=True)
class PathAverageSearch(LocalSearch):
    """Annealing on ``path-average`` throughput; solves the links' equations after every change.

    Parameters
    ----------
    flow
        The problem's arrays.
    """

    flow: Flow

    def anneal(
        self,
        instance: Instance,
        state: SearchState,
        rng_state: NDArray[np.uint64],
        schedule: Schedule,
        wanted: float | None = None,
    ) -> Annealed:
        """Anneal one chain in place."""
        limit = (1.0 - ROUNDING) * (wanted or 1.0 / (self.least * instance.reference))
        reached, changes = anneal_path_average(
            instance, self.flow.columns, self.flow.sinks, state, rng_state, schedule, limit
        )
        return Annealed(reached, reached >= limit, changes)
