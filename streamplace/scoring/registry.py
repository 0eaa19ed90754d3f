"""The table of evaluators: which class scores placements under which objective."""

from streamplace.errors import UsageError
from streamplace.problem.objective import Model, Throughput
from streamplace.problem.problem import Problem
from streamplace.scoring.closed_form import (
    BottleneckEvaluator,
    ClosedFormEvaluator,
    PathAverageEvaluator,
)
from streamplace.scoring.engine_evaluator import EngineEvaluator
from streamplace.scoring.evaluator import Evaluator
from streamplace.scoring.throughput_evaluator import ThroughputEvaluator

THROUGHPUT: dict[Model, type[ThroughputEvaluator]] = {
    "bottleneck": BottleneckEvaluator,
    "path-average": PathAverageEvaluator,
    "engine": EngineEvaluator,
}
"""The evaluators of throughput, by model."""
CLOSED_FORMS: tuple[Model, ...] = tuple(
    model for model, scored in THROUGHPUT.items() if issubclass(scored, ClosedFormEvaluator)
)
"""The models under which throughput follows from equations, without a run."""


def throughput_evaluator(problem: Problem) -> ThroughputEvaluator:
    """Return the evaluator of a problem whose objective is throughput."""
    return THROUGHPUT[problem.objective.model](problem)


EVALUATORS = {Throughput: throughput_evaluator}
"""What makes an evaluator, by the class of the objective."""


def evaluator(problem: Problem) -> Evaluator:
    """Return what scores placements of a problem; what is compiled for it is kept and shared."""
    return EVALUATORS[type(problem.objective)](problem)


def closed_form(problem: Problem) -> ClosedFormEvaluator:
    """Return the evaluator of a problem whose throughput has a closed form.

    Raises
    ------
    UsageError
        Under a model that has none.
    """
    found = throughput_evaluator(problem)
    if not isinstance(found, ClosedFormEvaluator):
        raise UsageError(f"{problem.model} has no closed form; bottleneck and path-average have")
    return found
