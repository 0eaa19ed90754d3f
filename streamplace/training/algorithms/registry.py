"""Table of the training algorithms by stage class."""

from typing import Any

from streamplace.training.algorithms.base import Algorithm
from streamplace.training.algorithms.imitation import Dagger, Imitation
from streamplace.training.algorithms.reinforce import Reinforce
from streamplace.training.algorithms.step_reinforce import StepReinforce
from streamplace.training.learner import Learner
from streamplace.training.optimiser import Optimiser
from streamplace.training.stages import (
    DaggerStage,
    ImitationStage,
    ReinforceStage,
    Stage,
    StepReinforceStage,
)

ALGORITHMS: dict[type[Stage], type[Algorithm[Any]]] = {
    ImitationStage: Imitation,
    DaggerStage: Dagger,
    ReinforceStage: Reinforce,
    StepReinforceStage: StepReinforce,
}


def make_algorithm(
    stage: Stage, learner: Learner, optimiser: Optimiser, number: int = 0
) -> Algorithm[Any]:
    """Return a new algorithm for a stage, which has this number in its run."""
    return ALGORITHMS[type(stage)](stage, learner, optimiser, number)
