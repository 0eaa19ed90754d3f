"""The evaluators of problems by objective and model, and the quality of several placements."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from streamplace.errors import SimulationError, UsageError
from streamplace.problem.objective import Model
from streamplace.problem.objectives import NOUN, text_of
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.evaluator import Evaluator
from streamplace.scoring.models import ClosedFormEvaluator
from streamplace.scoring.throughput_evaluator import ThroughputEvaluator
from streamplace.util.arrays import Floats, Ints
from streamplace.util.plugins import load_ours, named_fault

BY_MODEL: dict[Model, str] = {
    "bottleneck": "streamplace.scoring.models:BottleneckEvaluator",
    "path-average": "streamplace.scoring.path_average:PathAverageEvaluator",
    "engine": "streamplace.ticks.evaluator:EngineEvaluator",
}
"""The evaluators of throughput, by model; a module is loaded once a problem has its model."""
CLOSED_FORMS: tuple[Model, ...] = ("bottleneck", "path-average")
"""The models that compute throughput from equations, without a run."""
NO_SCORE = -1.0


def model_evaluator(problem: Problem) -> ThroughputEvaluator:
    """Return the evaluator of throughput under a problem's model, whatever its objective."""
    return class_of(problem.model)(problem)


def class_of(model: Model) -> type[ThroughputEvaluator]:
    """Return the class of the evaluators of throughput under a model."""
    found: type[ThroughputEvaluator] = load_ours(BY_MODEL[model])
    return found


def evaluator_for_throughput(problem: Problem) -> ThroughputEvaluator:
    """Return a new evaluator of a problem whose objective is `Throughput` or derives from it."""
    if problem.objective.follows_loads:
        return model_evaluator(problem)
    made: ThroughputEvaluator = made_by_own_class(
        problem, ThroughputEvaluator, "ObjectiveEvaluator"
    )
    return made


def made_by_own_class(problem: Problem, base: type[Any], name: str) -> Any:
    """Return a new evaluator of the class that a problem's objective names.

    Parameters
    ----------
    base
        The class from which that class must derive.
    name
        The class that the error recommends.

    Raises
    ------
    UsageError
        If the objective's class attribute `evaluator` is not such a class, or it raises.
    """
    own: Any = problem.objective.evaluator
    text = text_of(problem.objective)
    if not (isinstance(own, type) and issubclass(own, base)):
        fault = f"its class attribute evaluator must be a subclass of {name}"
        raise UsageError(f"{NOUN} {text!r}: {fault}")
    with named_fault(NOUN, text, "its evaluator failed"):
        return own(problem)


def evaluator(problem: Problem) -> Evaluator:
    """Return the evaluator of a problem, which is made once."""
    made: Evaluator = problem.evaluator
    return made


def throughput_evaluator(problem: Problem) -> ThroughputEvaluator:
    """Return the evaluator of a problem whose objective is `Throughput` or derives from it.

    Raises
    ------
    ProblemError
        If the objective is another one.
    UsageError
        If the objective's class attribute `evaluator` is not a suitable class, or it raises.
    """
    problem.require_rates()
    made: ThroughputEvaluator = problem.evaluator
    return made


def evaluator_of_pass(problem: Problem) -> Any:
    """Return the evaluator of a problem whose objective is about one pass: `MakespanEvaluator`.

    Raises
    ------
    ProblemError
        If the objective is another one.
    """
    problem.require_pass()
    return problem.evaluator


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


def qualities(problem: Problem, placements: Sequence[Placement]) -> Floats:
    """Return the quality of each placement, (K,); -1 for a placement without a score.

    Raises
    ------
    SimulationError
        If no placement has a score.
    """
    rows = np.stack([placement.devices for placement in placements])
    scored = qualities_of_rows(problem, rows)
    if scored.max() == NO_SCORE:
        return evaluator(problem).quality(rows)  # raises the error that says why
    return scored


def qualities_of_rows(problem: Problem, rows: Ints) -> Floats:
    """Return the quality of placements, (K,) for (K, V) devices; -1 for one without a score."""
    return where_scored(evaluator(problem).quality, rows)


def where_scored(measure: Callable[[Ints], Floats], rows: Ints) -> Floats:
    """Return a measure of placements, (K,) for (K, V) devices; -1 where it cannot be computed.

    All are computed in one call; if that fails, one by one.
    """
    try:
        return measure(rows)
    except SimulationError:
        values = np.full(len(rows), NO_SCORE)
        for i, row in enumerate(rows):
            with suppress(SimulationError):
                values[i] = measure(row)[0]
        return values
