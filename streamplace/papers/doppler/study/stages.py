"""The stages by which the systems of the study are trained."""

from collections.abc import Mapping
from typing import Any

from streamplace.learning.training.config import read_config
from streamplace.learning.training.stages import Stage, StepReinforceStage
from streamplace.papers.doppler.study.registered import (
    EPSILON_GREEDY,
    EVERY_STEP,
    OF_SEARCH,
    PLACETO,
    PLACETO_LONGER,
    PRETRAINED,
    PUBLISHED_SETTINGS,
    RELEASED_CODE,
    WITHOUT_IMITATION,
    Registered,
)
from streamplace.papers.placeto.trials import PUBLISHED, WHOLE
from streamplace.problem.problem import Problem

TEACHER_EVALUATIONS = 4000  # of the search that is imitated
TEACHER = "critical-path:samples=1"
OF_PLACETO = (PLACETO, PRETRAINED, PLACETO_LONGER)
RATES: dict[str, Any] = {"rate": 1e-3, "final_rate": 1e-5, "schedule": "linear"}
OF_PAPER: Mapping[str, Any] = {
    "samples": 1,
    "exploration": 0.2,
    "entropy": 1e-2,
    "optimiser": {"rate": 1e-4, "final_rate": 1e-7, "schedule": "linear"},
}
"""What stages with the settings of the paper have instead of those of the released code."""


def imitation_of(system: str, size: Registered) -> Stage | None:
    """Return the first stage of a system; None if it has none."""
    if system == WITHOUT_IMITATION:
        return None
    if system == RELEASED_CODE:
        return _released(0, size.released_imitation_epochs)
    if system == PUBLISHED_SETTINGS:
        return _released(0, size.paper_imitation_epochs).changed(**OF_PAPER)
    if system == OF_SEARCH:
        teacher = f"search:evaluations={TEACHER_EVALUATIONS}"
        return _imitation(teacher, size.search_epochs)
    return Stage.of(
        {
            "algorithm": "dagger",
            "teacher": "critical-path",
            "ties": "each",
            "epochs": size.imitation_epochs,
            "samples": size.imitation_samples,
            "greedy": True,
            "exploration": 1.0,
            "final_exploration": 0.0,
            "entropy": 1e-3,
            "optimiser": RATES,
        }
    )


def _imitation(teacher: str, epochs: int) -> Stage:
    keys = {"algorithm": "imitation", "teacher": teacher, "epochs": epochs, "optimiser": RATES}
    return Stage.of(keys)


def simulation_of(system: str, size: Registered, devices: int) -> Stage:
    """Return the second stage of a system on a number of devices."""
    if system in (RELEASED_CODE, PUBLISHED_SETTINGS):
        stage = _released(1, size.released_simulation_epochs)
        if system == PUBLISHED_SETTINGS:
            own = {**OF_PAPER, "epochs": size.paper_simulation_epochs, "discount": 1.0}
            stage = stage.changed(**own)
        return stage
    is_greedy = system == EPSILON_GREEDY
    return Stage.of(
        {
            "algorithm": "reinforce",
            "epochs": size.every_step_epochs if system == EVERY_STEP else size.simulation_epochs,
            "greedy": is_greedy,
            "exploration": 0.2 if is_greedy else 0.0,
            "final_exploration": 0.0 if is_greedy else None,
            "samples": size.samples(devices),
            "reward": "log-loss",
            "baseline": "step",
            "normalise": True,
            "memory": {"size": 1, "samples": 0},
            "optimiser": RATES | {"rate": 3e-3, "largest_gradient": 1.0},
        }
    )


def stage_settings(system: str, size: Registered) -> list[dict[str, Any]]:
    """Return the settings of a system's stages on the fewest devices, for the registered plan.

    The number of Placeto's sweeps depends on the graph.
    """
    simulation = simulation_of(system, size, size.devices[0])
    stages: tuple[Stage | None, ...] = imitation_of(system, size), simulation
    if system in OF_PLACETO:
        longer = WHOLE.model_copy(update={"epochs": size.longer_sweeps})
        stages = (*pretraining_of(system, size), longer if system == PLACETO_LONGER else PUBLISHED)
    return [stage.model_dump(mode="json") for stage in stages if stage is not None]


def pretraining_of(system: str, size: Registered) -> tuple[Stage, ...]:
    """Return the stages before Placeto's own: as many episodes of imitation as DOPPLER has."""
    if system != PRETRAINED:
        return ()
    return (_imitation(TEACHER, size.imitation_epochs * size.imitation_samples),)


def placeto_stage(system: str, problem: Problem, size: Registered) -> StepReinforceStage:
    """Return Placeto's stage: sweeps from a critical path, with one evaluation per operator."""
    if system == PLACETO_LONGER:
        return WHOLE.model_copy(update={"start": TEACHER, "epochs": size.longer_sweeps})
    evaluations = size.evaluations(len(problem.cluster.devices))
    sweeps = max(1, evaluations // len(problem.graph.names))
    return PUBLISHED.model_copy(update={"start": TEACHER, "epochs": sweeps})


def _released(number: int, epochs: int) -> Stage:
    """Return a stage of the shipped config, which has the settings of the released code."""
    return read_config("doppler").stage[number].model_copy(update={"epochs": epochs})
