"""The base class of evaluators by equations, and the model ``bottleneck`` with its search."""

from abc import abstractmethod
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import CompiledProblem
from streamplace.scoring.evaluator import Annealed, LocalSearch, Placements
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput_evaluator import ThroughputEvaluator, score_at
from streamplace.sim.closed_form import bottleneck
from streamplace.sim.closed_form.bottleneck import utilisations
from streamplace.sim.flow import Flow
from streamplace.sim.search import Instance, Schedule, SearchState, anneal
from streamplace.sim.work import own_utilisations
from streamplace.util.arrays import Floats

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
        flow = problem.once(CompiledProblem).flow
        # the flow's rate is a sum over sources, so it may differ from the problem's by rounding
        share = self.reached(flow, devices) / flow.source_rate
        return problem.source_rate * share

    def score(self, devices: Placements) -> ThroughputScore:
        """Return the score of one placement, (V,), at the worst of the source rates."""
        problem = self.worst_case(devices)
        throughput = float(self.throughput_at(problem, devices)[0])
        flow = problem.once(CompiledProblem).flow
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
