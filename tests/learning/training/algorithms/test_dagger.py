"""DAgger: the loss is an expert's likelihood in the policy's states, and training lowers it."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from streamplace import Cluster, Operator, Problem, StreamGraph
from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.teachers import LeastUtilisation, Teacher
from streamplace.learning.training import fit
from tests.support.policies import KINDS, policy_of
from tests.support.stages import dagger, loop_of, small_policy, small_problems, stages_of


def single_operator(devices: str) -> Problem:
    """Return a problem with a single decision."""
    graph = StreamGraph([Operator("a", 1e5, 10.0)], [])
    return Problem(graph, Cluster.parse(devices), source_rate=1000.0)


def logs_of(policy: Constructive[Any, Any], problem: Problem) -> list[float]:
    """Return the log-probability of each device for a single operator."""
    rows = np.arange(len(problem.cluster.devices), dtype=np.int32)[None, :, None]
    batch = policy.batch([policy.encode(problem)])
    with torch.no_grad():
        found = policy.rollout(batch, rows.shape[1], Sampler(), rows)
    return [float(x) for x in found.log_probability[0]]


def loss_of(policy: Constructive[Any, Any], problem: Problem, **keys: object) -> float:
    """Return the loss of the first step on one problem."""
    return float(next(loop_of([dagger(**keys)], policy, [problem]).steps())["loss"])


@pytest.mark.parametrize("ties", ["any", "each"])
@pytest.mark.parametrize("name", KINDS)
def test_the_loss_with_one_best_device(name: str, ties: str) -> None:
    """The best device for a single operator is the fastest."""
    problem = single_operator("1x1500,1x4000,1x2500")
    policy = policy_of(name)
    expected = -logs_of(policy, problem)[1]
    assert loss_of(policy, problem, ties=ties) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", ["b", "b+f1", "b+f1&f2"])
def test_the_loss_with_two_equal_devices(name: str) -> None:
    """A policy that distinguishes equal devices may choose either."""
    problem = single_operator("2x4000,1x1500")
    first, second, _ = logs_of(policy_of(name), problem)
    either = -math.log(math.exp(first) + math.exp(second))
    assert loss_of(policy_of(name), problem, ties="any") == pytest.approx(either, rel=1e-4)
    both = -(first + second)
    assert loss_of(policy_of(name), problem, ties="each") == pytest.approx(both, rel=1e-4)


@pytest.mark.parametrize("ties", ["any", "each"])
@pytest.mark.parametrize("name", ["device-scorer", "b+f1&f2, one name"])
def test_equal_devices_that_are_not_offered_do_not_count(name: str, ties: str) -> None:
    """A policy that breaks symmetries is offered only the first of two equal devices."""
    problem = single_operator("2x4000,1x1500")
    expected = -logs_of(policy_of(name), problem)[0]
    assert loss_of(policy_of(name), problem, ties=ties) == pytest.approx(expected, rel=1e-4)


def test_the_entropy_bonus_lowers_the_loss() -> None:
    problem = single_operator("1x1500,1x4000,1x2500")
    policy = policy_of("b")
    logs = logs_of(policy, problem)
    entropy = -sum(math.exp(x) * x for x in logs)
    found = loss_of(policy_of("b"), problem, entropy=0.5)
    assert found == pytest.approx(-logs[1] - 0.5 * entropy, rel=1e-5)


def agreement_of(policy: Constructive[Any, Any]) -> float:
    """Return the mean probability of the expert's choices along greedy placements."""
    total, decisions = 0.0, 0
    teacher = Teacher(LeastUtilisation)
    for problem in small_problems():
        batch = policy.batch([policy.encode(problem)])
        with torch.no_grad():
            found = policy.rollout(batch, 1, Sampler(), teacher=teacher)
        assert found.agreement is not None
        total += float(found.agreement[..., 1].exp().sum())
        decisions += len(problem.graph.names)
    return total / decisions


@pytest.mark.long
@pytest.mark.parametrize("exploration", [0.0, 0.5])
@pytest.mark.parametrize(
    ("kind", "max_loss_ratio", "min_rise"),
    [("device-scorer", 0.2, 0.5), ("encoder-decoder", 0.9, 0.1)],
)
def test_agreement_with_the_expert_rises(
    kind: str, max_loss_ratio: float, min_rise: float, exploration: float
) -> None:
    """The encoder-decoder does not observe device loads, so its loss falls less."""
    policy = small_policy(kind)
    before = agreement_of(policy)
    optimiser = {"rate": 2e-2, "final_rate": 1e-3}
    stage = dagger(epochs=80, problems_per_step=6, exploration=exploration, optimiser=optimiser)
    found = fit(policy, small_problems(), stages_of(stage), np.random.default_rng(0))
    losses = [record["loss"] for record in found.records]
    assert np.mean(losses[-5:]) < max_loss_ratio * np.mean(losses[:5])
    assert agreement_of(policy) > before + min_rise


def test_metrics_of_a_step() -> None:
    record = next(loop_of([dagger(samples=3, problems_per_step=6)]).steps())
    assert record["decisions"] == 3 * sum(len(p.graph.names) for p in small_problems())
    assert record["entropy"] > 0
    assert "reward" not in record
    assert "evaluations" not in record
