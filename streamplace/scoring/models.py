"""Evaluators and searches of the models ``bottleneck``, ``path-average`` and ``engine``."""

from abc import abstractmethod
from dataclasses import dataclass, fields
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import SimulationError
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.engine import EngineScore, simulation, worst_run
from streamplace.scoring.evaluator import Annealed, LocalSearch, Placements
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput_evaluator import ThroughputEvaluator, score_at
from streamplace.scoring.tuples import tuple_score
from streamplace.sim.closed_form import bottleneck, path_average
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.sim.engine import EngineError, RunMetrics, Settings
from streamplace.sim.exact import LoadBounds
from streamplace.sim.exact.path_average import SOLVED, passing_shares
from streamplace.sim.flow import Flow
from streamplace.sim.search import Instance, Schedule, SearchState, anneal, anneal_path_average
from streamplace.sim.work import own_utilisations
from streamplace.util.arrays import Floats

MAX_STREAMS = 2_000  # beyond this, solving the links' equations after every change is slow
ROUNDING = 1e-12  # relative distance within which a limit counts as reached


class ClosedFormEvaluator(ThroughputEvaluator):
    """Evaluator of throughput from equations, with a bound that no placement exceeds.

    Attributes
    ----------
    quick_score_elements
        Number of operators and streams, summed over placements, that are scored in a few seconds.
    """

    quick_score_elements: ClassVar[int]

    @abstractmethod
    def highest_utilisation(self, share: float) -> float:
        """Return the highest largest utilisation of any placement with a relative throughput.

        It holds for relative throughputs of at least `share`, at the highest source rate; inf: no
        limit is known. Utilisation is relative to the usable capacity.
        """

    @abstractmethod
    def reached(self, flow: Flow, devices: Placements) -> Floats:
        """Return the throughput of K placements, (K,) in source tuples/s."""

    def throughput_at(self, problem: Problem, devices: Placements) -> Floats:
        """Return the throughput of K placements, (K,) tuples/s, at one of the source rates."""
        flow = compiled(problem).flow
        # the flow's rate is a sum over sources, so it may differ from the problem's by rounding
        share = self.reached(flow, devices) / flow.source_rate
        return problem.source_rate * share

    def score(self, devices: Placements) -> ThroughputScore:
        """Return the score of one placement, (V,), at the worst of the source rates."""
        problem = self.worst_case(devices)
        throughput = float(self.throughput_at(problem, devices)[0])
        flow = compiled(problem).flow
        own = own_utilisations(flow, devices)
        return score_at(problem, devices, throughput, *utilisations(flow, devices), own)

    @property
    def best_possible(self) -> float:
        """The relative throughput that no placement exceeds, by the quick bound."""
        return 1.0 / max(1.0, self.least_utilisation)


class BottleneckEvaluator(ClosedFormEvaluator):
    """Evaluator for ``bottleneck``: the largest utilisation throttles all sources equally."""

    linear: ClassVar[bool] = True
    quick_score_elements: ClassVar[int] = 3 * 10**8

    def highest_utilisation(self, share: float) -> float:
        """Return 1 / share, since the largest utilisation throttles all sources."""
        return 1.0 / share

    def reached(self, flow: Flow, devices: Placements) -> Floats:
        """Return the throughput of K placements, (K,) in source tuples/s."""
        return bottleneck.throughput(flow, devices)

    def loss(self, devices: Placements) -> Floats:
        """Return each placement's largest utilisation, (K,), relative to the usable capacity."""
        return bottleneck.worst_utilisation(self._compiled.flow, devices)

    def local_search(self) -> LocalSearch:
        """Return the kernels that minimise the largest utilisation."""
        return UtilisationSearch(self._compiled.instance, self.least_load)


class PathAverageEvaluator(ClosedFormEvaluator):
    """Evaluator for ``path-average``: a full link throttles only the streams that cross it."""

    overload_matters: bool = True
    quick_score_elements: ClassVar[int] = 2 * 10**7

    @property
    def throughput_bounds(self) -> LoadBounds:
        """Bounds on 1 / relative throughput, divided by local search's reference."""
        return self._compiled.path_average_bounds

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


def _contributions(flow: Flow) -> Floats:
    """Return the share of the tuples at the sinks that pass each loaded stream, and a 1, (E + 1,).

    Where operators join their inputs, it is a lower bound on what is lost with the stream.

    The 1 stands for the sources, which every full device throttles.
    """
    if flow.joins:  # every stream is needed by a sink
        return np.append(np.full(len(flow.source), 1.0 / len(flow.sinks)), 1.0)
    return np.append(passing_shares(flow)[flow.stream_tuples > 0], 1.0)


class EngineEvaluator(ThroughputEvaluator):
    """Evaluator for ``engine``: simulates each placement with the objective's settings.

    With random arrivals, scores are those of single tuples. Their queues are unbounded, so that the
    throughput is that of ``bottleneck``, which needs no run.
    """

    gains_from_threads: bool = True

    def throughput_at(self, problem: Problem, devices: Placements) -> Floats:
        """Return the throughput of K placements, (K,) tuples/s, at one of the source rates.

        Raises
        ------
        SimulationError
            If a run could not be finished.
        """
        if self._of_single_tuples is not None:
            return bottleneck.throughput(compiled(problem).flow, devices)
        try:
            return simulation(problem).throughput(devices)
        except EngineError as error:
            raise SimulationError(f"engine: {error}") from None

    def score(self, devices: Placements) -> ThroughputScore:
        """Return the score of one placement, (V,), at the worst of the source rates.

        It is an `EngineScore`, or a `TupleScore` with random arrivals.
        """
        if (settings := self._of_single_tuples) is not None:
            return tuple_score(Placement(self.problem, devices), settings)
        return score_of_run(*worst_run(Placement(self.problem, devices)))

    @property
    def _of_single_tuples(self) -> Settings | None:
        """The settings of a simulation of single tuples; None with ticks."""
        settings = self.problem.throughput_objective.engine
        return None if settings is None or settings.arrivals is None else settings

    @property
    def best_possible(self) -> None:
        """None: no upper limit is known."""
        return None

    def local_search(self) -> LocalSearch:
        """Return the kernels that minimise the largest utilisation, since runs are too slow."""
        return UtilisationSearch(self._compiled.instance, self.least_load)


def score_of_run(placement: Placement, run: RunMetrics) -> EngineScore:
    """Return the score of a placement from a run at its problem's source rate."""
    loads = (run.device_utilisation, run.link_utilisation, run.own_utilisation)
    closed = score_at(placement.problem, placement.devices, run.throughput, *loads)
    shared = {field.name: getattr(closed, field.name) for field in fields(closed)}
    return EngineScore(
        **shared | {"relative_throughput": run.relative_throughput},
        offered_rate=run.trace.due.source_rate,
        latency_s=run.latency_s(),
        latency_digits=run.latency_digits,
        path_mean_throughput=run.path_mean_throughput,
        queued=run.queued,
        in_flight=run.in_flight,
        dropped=run.dropped,
        queue_growth=run.queue_growth,
        source_queue_growth=run.source_queue_growth,
        tick_limited=not run.stands,
        settled=run.settled,
        tick_s=run.trace.tick_s,
    )


class UtilisationSearch(LocalSearch):
    """Annealing on the largest utilisation of any device or link."""

    def anneal(
        self,
        instance: Instance,
        state: SearchState,
        rng_state: NDArray[np.uint64],
        schedule: Schedule,
        wanted: float | None = None,
    ) -> Annealed:
        """Anneal one chain in place."""
        limit = 1.0 / (wanted * instance.reference) if wanted else self.least
        limit *= 1.0 + ROUNDING
        top, changes = anneal(instance, state, rng_state, schedule, limit)
        reached = 1.0 / (top * instance.reference) if top > 0.0 else inf
        return Annealed(reached, top <= limit, changes)


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
