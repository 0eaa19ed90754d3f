"""The registry of evaluators, by objective and model."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from streamplace.errors import UsageError
from streamplace.problem.makespan import Makespan
from streamplace.problem.objective import Model, Objective, Throughput
from streamplace.problem.objectives import text_of
from streamplace.problem.problem import Problem
from streamplace.problem.total_cost import TotalCost
from streamplace.scoring.closed_form import (
    BottleneckEvaluator,
    ClosedFormEvaluator,
    PathAverageEvaluator,
)
from streamplace.scoring.engine_evaluator import EngineEvaluator
from streamplace.scoring.evaluator import Evaluator
from streamplace.scoring.throughput_evaluator import ThroughputEvaluator
from streamplace.util.plugins import named_fault

if TYPE_CHECKING:
    from streamplace.scoring.makespan_evaluator import MakespanEvaluator

THROUGHPUT: dict[Model, type[ThroughputEvaluator]] = {
    "bottleneck": BottleneckEvaluator,
    "path-average": PathAverageEvaluator,
    "engine": EngineEvaluator,
}
"""The evaluators of throughput, by model."""
CLOSED_FORMS: tuple[Model, ...] = tuple(
    model for model, scored in THROUGHPUT.items() if issubclass(scored, ClosedFormEvaluator)
)
"""The models that compute throughput from equations, without a run."""


def model_evaluator(problem: Problem) -> ThroughputEvaluator:
    """Return the evaluator of throughput under a problem's model, whatever its objective."""
    return THROUGHPUT[problem.model](problem)


def throughput_evaluator(problem: Problem) -> ThroughputEvaluator:
    """Return the evaluator of a problem whose objective is `Throughput` or derives from it.

    Raises
    ------
    UsageError
        If the objective's class attribute `evaluator` is not a suitable class, or it raises.
    """
    kind = type(problem.throughput_objective)
    if kind is Throughput:
        return model_evaluator(problem)
    scored = kind.evaluator
    if not (isinstance(scored, type) and issubclass(scored, ThroughputEvaluator)):
        fault = "its class attribute evaluator must be a subclass of ObjectiveEvaluator"
        raise UsageError(f"objective {text_of(problem.objective)!r}: {fault}")
    with named_fault("objective", text_of(problem.objective), "its evaluator failed"):
        made: ThroughputEvaluator = scored(problem)
    return made


def makespan_evaluator(problem: Problem) -> "MakespanEvaluator":
    """Return the evaluator of a problem whose objective is `Makespan` or derives from it."""
    if isinstance(problem.objective, TotalCost):
        from streamplace.scoring.total_cost_evaluator import TotalCostEvaluator  # noqa: PLC0415 - slow to load

        return TotalCostEvaluator(problem)
    from streamplace.scoring.makespan_evaluator import MakespanEvaluator  # noqa: PLC0415 - slow to load

    return MakespanEvaluator(problem)


EVALUATORS: dict[type[Objective], Callable[[Problem], Evaluator]] = {
    Throughput: throughput_evaluator,
    Makespan: makespan_evaluator,
}
"""Functions that return an evaluator, by class of objective; subclasses inherit them."""


def evaluator(problem: Problem) -> Evaluator:
    """Return the evaluator of a problem; evaluators share its cached intermediate results."""
    kinds = type(problem.objective).__mro__
    return next(EVALUATORS[kind] for kind in kinds if kind in EVALUATORS)(problem)


def closed_form(problem: Problem) -> ClosedFormEvaluator:
    """Return the evaluator of throughput under a problem's model, which must be a closed form.

    Raises
    ------
    UsageError
        If the model has no closed form.
    """
    scored = model_evaluator(problem)
    if not isinstance(scored, ClosedFormEvaluator):
        choices = ", ".join(CLOSED_FORMS)
        raise UsageError(f"model {problem.model!r} has no closed form; choose from {choices}")
    return scored
