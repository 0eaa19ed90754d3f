"""Stages of the systems of the study of DOPPLER."""

from streamplace.learning.training.stages import ReinforceStage
from streamplace.papers.doppler.study.registered import (
    DOPPLER,
    EPSILON_GREEDY,
    FULL,
    PLACETO,
    PRETRAINED,
)
from streamplace.papers.doppler.study.stages import imitation_of, simulation_of
from streamplace.papers.doppler.study.study import DopplerStudy


def test_the_full_plan_has_the_registered_episodes() -> None:
    assert [FULL.evaluations(devices) for devices in FULL.devices] == [4000, 1000]
    for system, episodes in ((DOPPLER, 4000), ("DOPPLER, settings of the released code", 4000)):
        stage = simulation_of(system, FULL, 4)
        assert isinstance(stage, ReinforceStage)
        assert stage.epochs * stage.samples == episodes
    assert imitation_of("without imitation", FULL) is None


def test_the_plan_has_the_stages_of_every_system() -> None:
    stages = DopplerStudy().plan().settings["stages"]
    algorithms = {system: [one["algorithm"] for one in own] for system, own in stages.items()}
    assert algorithms[DOPPLER] == ["dagger", "reinforce"]
    assert algorithms[PLACETO] == ["placeto"]
    assert algorithms[PRETRAINED] == ["imitation", "placeto"]
    chosen = [own[-1] for system, own in stages.items() if system == EPSILON_GREEDY]
    assert [(one["greedy"], one["exploration"]) for one in chosen] == [(True, 0.2)]
