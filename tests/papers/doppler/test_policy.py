"""DOPPLER against plain numpy, its rules, and what forces its choices."""

from typing import Any

import numpy as np
import pytest
import torch

import streamplace as sp
from benchmarks.reference.doppler import Networks
from benchmarks.reference.doppler_state import Plain, PlainState
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.papers.doppler.policy import Doppler
from tests.support.doppler import VARIANTS, doppler, flow_problem, pass_problem
from tests.support.policies import seeded_generator

TOLERANCE = 1e-5
SAMPLES = 2


def rolled_out(policy: Doppler, *problems: sp.Problem, **more: Any) -> Trajectories:
    """Return trajectories of problems, largest first."""
    batch = policy.batch([policy.encode(problem) for problem in problems])
    with torch.no_grad():
        return policy.rollout(batch, SAMPLES, Sampler(seeded_generator()), **more)


@pytest.mark.parametrize("sizes", VARIANTS, ids=str)
@pytest.mark.parametrize("objective", ["makespan", "throughput"])
def test_probabilities_equal_those_of_the_plain_networks(
    sizes: dict[str, Any], objective: str
) -> None:
    """The problems of a batch have different sizes; each plain one is computed alone."""
    make = pass_problem if objective == "makespan" else flow_problem
    policy, problems = doppler(**sizes).double(), [make(11, 1), make(8, 2), make(8, 3)]
    made = rolled_out(policy, *problems)
    config = policy.config
    of = {name: x.detach().numpy() for name, x in policy.named_parameters()}
    networks = Networks(of, config.rounds, config.per_step)
    for p, problem in enumerate(problems):
        operators, plain = len(problem.graph.names), Plain.of(problem)
        for s in range(SAMPLES):
            actions = [(int(v), int(d)) for v, d in made.actions[p, s, :operators]]
            expected = networks.log_probabilities(plain, actions)
            found = made.log_prob[p, s, :operators].numpy()
            assert found == pytest.approx(np.array(expected), abs=TOLERANCE, rel=0.0)


@pytest.mark.parametrize("make", [pass_problem, flow_problem])
def test_the_rule_for_devices_takes_the_earliest_start(make: Any) -> None:
    problem = make(10, 4)
    made = rolled_out(doppler(variant="sel-only"), problem)
    state = PlainState(Plain.of(problem))
    for v, d in made.actions[0, 0].tolist():
        best = [row[4] for row in state.device_features(v)]
        assert best[d] == pytest.approx(min(best))
        state.place(v, d)


def test_the_rule_for_operators_takes_the_longest_path() -> None:
    problem = pass_problem(12, 5)
    made, plain = rolled_out(doppler(variant="plc-only"), problem), Plain.of(problem)
    state = PlainState(plain)
    length = plain.features[:, 4]
    for v, d in made.actions[0, 0].tolist():
        assert length[v] == max(length[w] for w in state.candidates())
        state.place(v, d)


def test_forced_actions_are_taken_where_they_are_known() -> None:
    """The first half of the actions is forced, and the device of the last operator."""
    problem, policy = pass_problem(10, 6), doppler()
    forced = rolled_out(policy, problem).actions.numpy().copy()
    free = forced.copy()
    free[:, :, 5:] = -1
    again = rolled_out(policy, problem, forced=free)
    assert np.array_equal(again.actions[:, :, :5].numpy(), forced[:, :, :5])
    assert (again.actions[:, :, 5:] >= 0).all()


def test_forced_placements_are_made_in_the_order_of_the_longest_path() -> None:
    problem, policy = pass_problem(10, 7), doppler()
    placements = np.random.default_rng(0).integers(3, size=(1, SAMPLES, 10), dtype=np.int32)
    made = rolled_out(policy, problem, forced=placements)
    assert np.array_equal(made.placements, placements)
    order = policy.encode(problem).order
    assert (made.actions[0, :, :, 0].numpy() == order).all()
    partly = placements.copy()
    partly[:, :, 3:] = -1
    assert np.array_equal(
        rolled_out(policy, problem, forced=partly).placements[:, :, :3], partly[:, :, :3]
    )


def test_one_policy_places_on_any_number_of_devices() -> None:
    policy = doppler()
    problems = [pass_problem(9, 1, devices) for devices in (5, 1, 3)]
    together = rolled_out(policy, *problems)
    for p, problem in enumerate(problems):
        alone = rolled_out(policy, problem, forced=together.actions[p : p + 1].numpy())
        assert torch.allclose(alone.log_prob, together.log_prob[p : p + 1], atol=1e-4)
        assert together.placements[p].max() < len(problem.cluster.devices)
    assert together.log_prob[1, :, :, 1].abs().max() == 0.0


def test_colocated_operators_follow_the_first() -> None:
    free = pass_problem(8, 3)
    names = free.graph.names
    problem = free.with_constraints(sp.Constraints(colocate=[[names[0], names[-1]]]))
    placed = rolled_out(doppler(), problem).placements[0]
    assert (placed[:, 0] == placed[:, -1]).all()


def test_networks_begin_with_orthogonal_layers() -> None:
    policy = Doppler(doppler().config)
    assert policy.place is not None
    weight = policy.place.head.mix.weight
    assert torch.allclose(weight @ weight.t(), torch.eye(len(weight)), atol=1e-5)
    assert policy.place.head.mix.bias.abs().max() == 0.0
