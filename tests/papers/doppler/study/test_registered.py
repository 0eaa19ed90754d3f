"""The registered plan of the study of DOPPLER."""

from streamplace.papers.doppler.study.registered import (
    PLACETO_LONGER,
    PUBLISHED_SETTINGS,
    QUICK,
)
from streamplace.papers.doppler.study.study import DopplerStudy


def test_settings_of_the_paper() -> None:
    stages = DopplerStudy().plan().settings["stages"]
    imitation, simulation = stages[PUBLISHED_SETTINGS]
    assert imitation["epochs"] + simulation["epochs"] == 8000
    for stage in (imitation, simulation):
        assert (stage["samples"], stage["entropy"]) == (1, 0.01)
        assert (stage["exploration"], stage["final_exploration"]) == (0.2, 0.0)
        rates = stage["optimiser"]
        assert (rates["rate"], rates["final_rate"], rates["schedule"]) == (1e-4, 1e-7, "linear")
    (longer,) = stages[PLACETO_LONGER]
    assert (longer["epochs"], longer["exploration"], longer["entropy"]) == (4000, 0.5, 0.01)
    assert (longer["final_exploration"], longer["final_entropy"]) == (0.0, 0.0)
    assert (longer["optimiser"]["rate"], longer["optimiser"]["final_rate"]) == (1e-3, 1e-6)


def test_the_quick_plan_is_one_workload_on_two_devices() -> None:
    study = DopplerStudy(quick=True)
    assert {(one.graph, one.devices) for one in study.workloads} == {("chain-mm", 2)}
    assert study.plan().settings["simulation_epochs"] == QUICK.simulation_epochs == 4
