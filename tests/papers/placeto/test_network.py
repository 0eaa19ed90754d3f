"""Tests of Placeto's kernels against the network in plain torch."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor

import streamplace as sp
from benchmarks.reference.placeto import PlainNetwork, digraph, state_features
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.placeto.policy import Placeto
from streamplace.scoring.registry import throughput_evaluator
from tests.support.graphs import preset_graph
from tests.support.refiners import episode, pass_problem, placeto

EXTRA = 4  # steps beyond one sweep
VARIANTS = [
    {},
    {"rounds": 2},
    {"closest": 2},
    {"order": "dfs-postorder"},
    {"rounds": 1, "closest": 1, "order": "random"},
]


def stream_problem(operators: int = 8) -> sp.Problem:
    graph = preset_graph("layered", operators, 3)
    return sp.Problem(graph, sp.Cluster.parse("1x4000,2x1500"), source_rate=1e5)


def plain_logits(policy: Placeto, problem: sp.Problem, made: Trajectories, s: int) -> list[Tensor]:
    """Return the logits of all steps of a sample, computed from its actions alone."""
    network = PlainNetwork(
        dict(policy.named_parameters()),
        digraph(problem),
        policy.config.rounds,
        policy.config.closest,
    )
    numbers = policy.encode(problem).arrays.numbers.astype(np.float64)
    devices = np.zeros(len(problem.graph.names), np.int32)
    visits, logits = [0] * len(devices), []
    for operator, device in made.actions[0, s].tolist():
        times = times_of(problem, devices)
        x = state_features(numbers, devices, policy.config.devices, operator, visits, times)
        logits.append(network.logits(x, operator, times))
        devices[operator] = device
        visits[operator] += 1
    return logits


def times_of(problem: sp.Problem, devices: np.ndarray) -> np.ndarray:
    """Return start times, or the loads of the operators' devices under throughput."""
    if isinstance(problem.objective, sp.Makespan):
        return np.array(makespan_evaluator(problem).score(devices).timetable.start)
    loads = throughput_evaluator(problem).score(devices).devices
    return np.array([loads[d].utilisation for d in devices])


@pytest.mark.parametrize("sizes", VARIANTS, ids=str)
@pytest.mark.parametrize("make", [pass_problem, stream_problem])
def test_probabilities_and_gradients_equal_the_plain_network(make, sizes) -> None:  # type: ignore[no-untyped-def]
    problem, policy = make(), placeto(**sizes)
    made = episode(policy, problem, samples=2, steps=len(problem.graph.names) + EXTRA)
    expected = []
    for s in range(2):
        logs = torch.log_softmax(torch.stack(plain_logits(policy, problem, made, s)), dim=1)
        chosen = made.actions[0, s, :, 1]
        expected.append(logs.gather(1, chosen[:, None])[:, 0])
        torch.testing.assert_close(made.log_prob[0, s, :, 1], expected[-1], rtol=1e-5, atol=1e-5)
        entropy = -(logs.exp() * logs).sum(dim=1)
        torch.testing.assert_close(made.entropy[0, s, :, 1], entropy, rtol=1e-5, atol=1e-5)
    weight = torch.linspace(-1.0, 1.0, expected[0].numel())
    gradients = []
    for total in (
        sum((one * weight).sum() for one in expected),
        (made.log_prob.sum(dim=3)[0] * weight).sum(),
    ):
        policy.zero_grad()
        total.backward()  # type: ignore[union-attr]
        gradients.append([p.grad.clone() for p in policy.parameters() if p.grad is not None])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5 * float(one.abs().max()))


def test_gradients_of_entropy_flow_too() -> None:
    policy, problem = placeto(), pass_problem()
    episode(policy, problem).entropy.sum().backward()  # type: ignore[no-untyped-call]
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in policy.parameters())


def test_equal_streams_between_two_operators_count_once() -> None:
    once = sp.StreamGraph([("a", 1e6, 8), ("b", 2e6, 8)], [("a", "b")])
    twice = sp.StreamGraph([("a", 1e6, 8), ("b", 2e6, 8)], [("a", "b", 0.5), ("a", "b", 0.5)])
    policy = placeto()
    arrays = [policy.encode(sp.Problem(g, "3x1000", source_rate=1.0)).arrays for g in (once, twice)]
    for name in ("source", "target", "first_in", "first_out"):
        one, other = (getattr(each.streams, name) for each in arrays)
        np.testing.assert_array_equal(one, other)


def test_a_policy_for_other_devices_is_refused() -> None:
    with pytest.raises(sp.StreamplaceError, match=r"requires 3 devices \(got 2\)"):
        placeto().check(pass_problem(devices="2x2500"))


def test_initial_weights_are_glorot_and_biases_zero() -> None:
    torch.manual_seed(0)
    fresh = Placeto(placeto().config)
    for name, parameter in fresh.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any()
            continue
        limit = (6 / (parameter.shape[1] + parameter.shape[2])) ** 0.5
        assert 0.8 * limit < float(parameter.detach().abs().max()) <= limit


def test_embeddings_of_deep_graphs_do_not_overflow() -> None:
    """Each level of a chain multiplies the embeddings; 300 levels would exceed all numbers."""
    names = [f"v{i}" for i in range(300)]
    graph = sp.StreamGraph([(name, 1e6, 8.0) for name in names], list(pairwise(names)))
    problem = sp.Problem(graph, sp.Cluster.parse("1x4000,2x1500"), objective=sp.Makespan())
    policy = placeto()
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.abs_().mul_(2.0)
    made = episode(policy, problem)
    assert torch.isfinite(made.log_prob).all()
    assert set(made.placements.ravel()) <= {0, 1, 2}
    made.log_prob.sum().backward()  # type: ignore[no-untyped-call]
    assert all(torch.isfinite(p.grad).all() for p in policy.parameters() if p.grad is not None)
