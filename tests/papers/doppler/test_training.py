"""Training of DOPPLER: the shipped configs, and stages of imitation."""

from pathlib import Path

import numpy as np
import pytest
import torch

from streamplace.families import Recipe
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.training import fit, read_config, train
from streamplace.placers.registry import make_placer
from tests.support.doppler import doppler, pass_problem
from tests.support.policies import batch_of
from tests.support.stages import dagger, imitation, reinforce, stages_of

GRAPHS = [Recipe("layered", 2, range(5, 8), seed=2).graph(i) for i in range(2)]
ALONE = {"problems_per_step": 1}


@pytest.mark.parametrize("name", ["doppler", "doppler-stream"])
def test_shipped_configs_train(name: str, tmp_path: Path) -> None:
    config = read_config(name)
    stages = [stage.model_copy(update={"epochs": 1}) for stage in config.stage]
    section = config.policy.model_copy(update={"sizes": doppler().config})
    config = config.model_copy(update={"stage": stages, "policy": section})
    trained = train(GRAPHS, config, tmp_path / "run")
    assert trained.steps >= len(stages)


def test_rates_and_exploration_of_the_config_fall_linearly_to_almost_nothing() -> None:
    for stage in read_config("doppler").stage:
        assert stage.optimiser is not None
        assert stage.optimiser.schedule == "linear"
        assert stage.optimiser.final_rate == 1e-7
        assert stage.model_dump()["final_exploration"] == 0.0


@pytest.mark.long
def test_imitation_makes_a_placer_s_placement_the_most_probable() -> None:
    problem, policy = pass_problem(10, 2), doppler(length=16)
    optimiser = {"rate": 1e-2, "final_rate": 1e-4}
    stages = stages_of(imitation(teacher="heft", epochs=80, optimiser=optimiser, **ALONE))
    fit(policy, [problem], stages, np.random.default_rng(0))
    expected = make_placer("heft")(problem, np.random.default_rng(0)).devices
    assert (
        policy.sample(batch_of(policy, problem), 1, Sampler())[0, 0].tolist() == expected.tolist()
    )


@pytest.mark.long
def test_imitation_of_the_critical_path_learns_operators_and_devices() -> None:
    problem, policy = pass_problem(10, 4), doppler(length=16)
    keys = {"teacher": "critical-path", "epochs": 60, "samples": 4, "exploration": 0.5}
    stages = stages_of(dagger(**keys, optimiser={"rate": 1e-2, "final_rate": 1e-4}, **ALONE))
    losses = [record["loss"] for record in fit(policy, [problem], stages, _rng()).records]
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10])


def test_rewards_change_both_networks() -> None:
    problem, policy = pass_problem(8, 5), doppler()
    before = {name: x.detach().clone() for name, x in policy.named_parameters()}
    stage = reinforce(reward="loss", baseline="running", discount=0.99, epochs=3, **ALONE)
    fit(policy, [problem], stages_of(stage), _rng())
    same = {name for name, x in policy.named_parameters() if torch.equal(x, before[name])}
    assert not {name for name in same if "head" in name or "update" in name}


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)
