"""The grouping network and the heads: gradients of scores, levels, and independence of a batch."""

from typing import Any

import numpy as np
import pytest
import torch

from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.papers.hsdag.graphs import (
    Graph,
    Inner,
    Pooling,
    Smooth,
    disjoint_union,
    normalised,
)
from streamplace.papers.hsdag.kernels import LOADS
from streamplace.papers.hsdag.network import parted
from streamplace.papers.hsdag.policy import Hsdag
from streamplace.scoring.registry import evaluator
from tests.support.hsdag import STREAM, hsdag, pass_problem, stream_problem


def path(vertices: int) -> Graph:
    ends = np.array([[v, v + 1] for v in range(vertices - 1)], np.int32).reshape(-1, 2)
    ones = np.ones(len(ends))
    return Graph(np.array([vertices], np.int32), ends, ones, ones, ends, np.ones(vertices))


def kept(values: torch.Tensor) -> torch.Tensor:
    return values


def rolled(policy: Hsdag, *problems: Any, samples: int = 2, seed: int = 0) -> Trajectories:
    batch = policy.batch([policy.encode(problem) for problem in problems])
    start = np.zeros((len(problems), samples, int(batch.sizes[0])), np.int32)
    steps = [policy.episode(one) for one in batch.encoded]
    scored = [evaluator(problem) for problem in problems]
    return policy.rollout(batch, start, steps, Sampler.seeded(seed), scored)


def test_smoothing_is_the_product_with_the_normalised_matrix() -> None:
    graph = path(5)
    adjacency = np.eye(5) + np.eye(5, k=1) + np.eye(5, k=-1)
    scale = np.diag(adjacency.sum(axis=1) ** -0.5)
    values = torch.randn(5, 3, dtype=torch.float32, requires_grad=True)
    made: torch.Tensor = Smooth.apply(normalised(graph), values)  # type: ignore[no-untyped-call]
    expected = torch.from_numpy(scale @ adjacency @ scale).float()
    assert torch.allclose(made, expected @ values, atol=1e-6)
    weights = torch.randn(5, 3)
    (made * weights).sum().backward()  # type: ignore[no-untyped-call]
    assert values.grad is not None
    assert torch.allclose(values.grad, expected.T @ weights, atol=1e-6)


@pytest.mark.parametrize("sums", [False, True])
def test_gradients_of_scores_equal_finite_differences(sums: bool) -> None:
    torch.manual_seed(0)
    pooling, graph, values = Pooling(4, sums=sums), path(5), torch.randn(5, 4)
    group_of = torch.tensor([0, 0, 0, 1, 1])
    inside = torch.tensor([0, 0, 1])  # the groups of the edges 0-1, 1-2 and 3-4

    def total(scores: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = pooling(normalised(graph), values, group_of, 2, Inner(inside, scores))
        return made.double().sin().sum()

    scores = torch.tensor([0.2, 0.5, 0.7], requires_grad=True)
    total(scores).backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    for number in range(3):
        step = torch.zeros(3)
        step[number] = 1e-2
        with torch.no_grad():
            slope = float(total(scores + step) - total(scores - step)) / 2e-2
        assert abs(slope) > 1e-3
        assert float(scores.grad[number]) == pytest.approx(slope, rel=2e-2, abs=1e-4)


def test_factors_by_hand() -> None:
    inner = Inner(torch.tensor([0, 0, 2]), torch.tensor([0.2, 0.6, 0.5]))
    assert inner.factors(4, sums=False).tolist() == pytest.approx([0.4, 1.0, 0.5, 1.0])
    assert inner.factors(4, sums=True).tolist() == pytest.approx([1.6, 1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    "sizes",
    [{}, {"levels": 2}, {"pooling": "sum"}, STREAM],
    ids=["plain", "levels", "sum", "stream"],
)
def test_gradients_reach_every_parameter(sizes: dict[str, Any]) -> None:
    policy = hsdag(devices=3, **sizes)
    rolled(policy, stream_problem()).log_probability.sum().backward()  # type: ignore[no-untyped-call]
    for name, parameter in policy.named_parameters():
        assert parameter.grad is not None, name
        assert float(parameter.grad.abs().max()) > 0.0, name


def test_levels_make_ever_fewer_groups() -> None:
    problem = pass_problem(60)
    counts = []
    for levels in (1, 2, 3):
        policy = hsdag(devices=2, levels=levels, chains=False)
        one = policy.encode(problem)
        features = torch.from_numpy(one.features)
        least = np.array([one.least], np.int32)
        parsed = policy.network(features, one.graph, least, kept)
        assert len(parsed.levels) == levels
        assert parsed.vectors.shape == (parsed.group_of.max() + 1, one.features.shape[1])
        assert parsed.graph.vertices == len(parsed.vectors)
        counts.append(len(parsed.vectors))
    assert 60 > counts[0] > counts[1] >= counts[2] >= 2


def test_groups_of_a_union_are_those_of_its_graphs() -> None:
    policy = hsdag(devices=2, levels=2, chains=False)
    ones = [policy.encode(pass_problem(size)) for size in (30, 12, 12)]
    graph = disjoint_union([one.graph for one in ones])
    features = torch.from_numpy(np.concatenate([one.features for one in ones]))
    least = np.array([one.least for one in ones], np.int32)
    together = policy.network(features, graph, least, kept)
    parts = parted(together.levels, graph.sizes)
    for one, levels in zip(ones, parts, strict=True):
        alone = policy.network(torch.from_numpy(one.features), one.graph, least[:1], kept)
        for own, expected in zip(levels, alone.levels, strict=True):
            assert own.tolist() == expected.tolist()


def test_heavy_groups_come_first_and_read_the_loads() -> None:
    policy = hsdag(**STREAM)
    made = rolled(policy, stream_problem(), samples=1)
    step = made.record.walks[0].steps[0]  # type: ignore[attr-defined]
    heaviest = np.argsort(-step.offer.cost.mean(axis=1), kind="stable")
    assert step.loads.shape == (*step.offer.cost.shape, LOADS)
    load = np.zeros(step.offer.cost.shape[1])
    for g in heaviest.tolist():
        assert np.expm1(step.loads[g, :, 0]) == pytest.approx(load, rel=1e-4, abs=1e-5)
        load[step.chosen[g]] += step.offer.cost[g, step.chosen[g]]


def test_dropout_is_only_in_gradients_and_repeats() -> None:
    policy, problem = hsdag(devices=2, dropout=0.5), pass_problem()
    plain = rolled(policy, problem).log_probability
    policy.train()
    dropped, again = (rolled(policy, problem) for _ in range(2))
    assert torch.equal(dropped.actions, again.actions)
    assert torch.equal(dropped.log_probability, again.log_probability)
    assert not torch.allclose(dropped.log_probability, plain)
    batch = policy.batch([policy.encode(problem)])
    assert torch.equal(policy.evaluate(batch, dropped).log_prob, dropped.log_prob)


def test_a_policy_with_capacity_places_on_any_number_of_devices() -> None:
    policy = hsdag(**STREAM)
    problem = stream_problem()
    wide = problem.with_cluster(type(problem.cluster).parse("7x2500"))
    made = rolled(policy, problem, wide)
    assert made.placements[0].max() < 3
    assert made.placements[1].max() >= 3
