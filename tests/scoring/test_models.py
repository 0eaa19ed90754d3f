"""Models whose evaluators score by equations."""

from streamplace.problem.objective import MODELS
from streamplace.scoring.models import ClosedFormEvaluator
from streamplace.scoring.registry import (
    CLOSED_FORMS,
    class_of,
)


def test_closed_forms_are_the_models_of_evaluators_by_equations() -> None:
    by_equations = [model for model in MODELS if issubclass(class_of(model), ClosedFormEvaluator)]
    assert by_equations == [*CLOSED_FORMS]
