"""The evaluator of the model ``engine``."""

from streamplace.errors import SimulationError
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.evaluator import LocalSearch, Placements
from streamplace.scoring.models import UtilisationSearch
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput_evaluator import ThroughputEvaluator
from streamplace.sim.closed_form import bottleneck
from streamplace.sim.engine import EngineError, Settings, metrics
from streamplace.ticks.runs import score_of_run, simulation, worst_run
from streamplace.util.arrays import Floats
from streamplace.util.plugins import load_ours

TUPLE_SCORE = "streamplace.latency.tuples:tuple_score"
"""Scores a placement by a simulation of single tuples."""


class EngineEvaluator(ThroughputEvaluator):
    """Evaluator for ``engine``: simulates each placement with the objective's settings.

    With random arrivals, scores are those of single tuples. Their queues are unbounded, so that the
    throughput is that of ``bottleneck``, which needs no run.
    """

    gains_from_threads: bool = True

    @property
    def scores_differ(self) -> bool:  # type: ignore[override]
        """Whether scores are of runs, which take shorter and shorter ticks."""
        return self._of_single_tuples is None

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
            return metrics.throughput(simulation(problem), devices)
        except EngineError as error:
            raise SimulationError(f"engine: {error}") from None

    def score(self, devices: Placements) -> ThroughputScore:
        """Return the score of one placement, (V,), at the worst of the source rates.

        It is an `EngineScore`, or a `TupleScore` with random arrivals.
        """
        if (settings := self._of_single_tuples) is not None:
            scored: ThroughputScore = load_ours(TUPLE_SCORE)(
                Placement(self.problem, devices), settings
            )
            return scored
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
