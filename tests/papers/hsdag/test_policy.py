"""HSDAG as a policy: walks, actions, repair, and the checks that it makes."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import streamplace as sp
from benchmarks.reference.graph_parsing import has_cycle
from streamplace.errors import UnsuitableError
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.papers.hsdag import policy as module
from streamplace.papers.hsdag.graphs import Graph
from streamplace.papers.hsdag.policy import Hsdag, HsdagWalk, Record
from streamplace.scoring.flow import flow
from streamplace.scoring.registry import evaluator
from streamplace.util.arrays import Ints
from tests.support.graphs import preset_graph
from tests.support.hsdag import STREAM, hsdag, pass_problem, stream_problem


def rolled(
    policy: Hsdag, problem: sp.Problem, samples: int = 2, **sampling: object
) -> Trajectories:
    batch = policy.batch([policy.encode(problem)])
    start = np.zeros((1, samples, len(problem.graph.names)), np.int32)
    sampler = Sampler(torch.Generator().manual_seed(0), **sampling)  # type: ignore[arg-type]
    return policy.rollout(batch, start, [policy.config.steps], sampler, [evaluator(problem)])


def record_of(made: Trajectories) -> Record:
    assert isinstance(made.record, Record)
    return made.record


def test_steps_change_features_by_the_vectors_of_groups() -> None:
    policy = hsdag(devices=2)
    (walk, _) = record_of(rolled(policy, pass_problem())).walks
    for before, after in zip(walk.steps, walk.steps[1:], strict=False):
        change = after.features - before.features
        for g in range(before.offer.count):
            members = change[before.offer.group_of == g]
            assert members == pytest.approx(np.tile(members[:1], (len(members), 1)), abs=1e-6)
        assert np.abs(change).max() > 0.0
    assert np.array_equal(walk.steps[0].features, walk.one.features)


def test_parts_of_actions_are_devices_of_operators() -> None:
    policy, problem = hsdag(devices=2), pass_problem()
    made = rolled(policy, problem)
    assert made.actions.shape == (1, 2, 3, 12)
    assert np.array_equal(made.actions[0, :, -1].numpy(), made.placements[0])
    (walk, _) = record_of(made).walks
    decided = (made.entropy[0, 0, 0] > 0).sum()
    assert int(decided) == walk.steps[0].offer.count


def test_losses_are_those_of_the_placements() -> None:
    policy, problem = hsdag(devices=3), stream_problem()
    made = rolled(policy, problem)
    scored = evaluator(problem)
    for s, walk in enumerate(record_of(made).walks):
        assert made.losses is not None
        assert made.losses[0, s] == pytest.approx(scored.loss(walk.devices))
        assert made.best is not None
        assert scored.loss(made.best[0, s])[0] == pytest.approx(made.losses[0, s].min())


@pytest.mark.parametrize("capacity", [False, True])
def test_the_first_sample_is_the_likeliest_on_request(capacity: bool) -> None:
    policy = hsdag(devices=2, **(STREAM if capacity else {}))
    problem = pass_problem()
    made = rolled(policy, problem, samples=20, first_is_likeliest=True)
    batch = policy.batch([policy.encode(problem)])
    start = np.zeros((1, 1, 12), np.int32)
    greedy = policy.rollout(batch, start, [3], Sampler(), [evaluator(problem)])
    assert torch.equal(made.actions[:, :1], greedy.actions)
    assert not (made.actions == greedy.actions).all()


@pytest.mark.parametrize("capacity", [False, True])
def test_exploration_is_uniform_over_the_devices_that_are_allowed(capacity: bool) -> None:
    graph, cluster = preset_graph("layered", 12, 0), sp.Cluster.equal(3)
    few = sp.Constraints(allowed=dict.fromkeys(graph.names[:4], cluster.names[:2]))
    problem = sp.Problem(graph, cluster, source_rate=1e4, constraints=few)
    policy = hsdag(devices=3, min_groups=12, **(STREAM if capacity else {}))
    made = rolled(policy, problem, samples=60, exploration=1.0)
    devices = made.actions[0].reshape(-1, 12).numpy()
    assert devices[:, :4].max() == 1
    shares = [float((devices[:, 5] == d).mean()) for d in range(3)]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.12)


def test_placements_that_violate_constraints_are_repaired() -> None:
    problem = stream_problem()
    apart = sp.Constraints(exlocate=[list(problem.graph.names[:2])])
    restricted = problem.with_constraints(apart)
    (walk, _) = record_of(rolled(hsdag(devices=3), restricted)).walks
    assert all(restricted.feasibility.violation(row) is None for row in walk.devices)


def test_parts_of_long_episodes_have_the_same_probabilities(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy, problem = hsdag(devices=2), pass_problem()
    whole = rolled(policy, problem)
    whole.log_probability.sum().backward()  # type: ignore[no-untyped-call]
    expected = [p.grad.clone() for p in policy.parameters() if p.grad is not None]
    policy.zero_grad()
    monkeypatch.setattr(module, "VERTICES", 20)
    parts = rolled(policy, problem)
    parts.log_probability.sum().backward()  # type: ignore[no-untyped-call]
    assert torch.allclose(whole.log_prob, parts.log_prob, atol=1e-5)
    for before, parameter in zip(expected, policy.parameters(), strict=True):
        assert torch.allclose(before, parameter.grad, atol=1e-4)  # type: ignore[arg-type]


def test_quotients_have_no_cycle_on_request() -> None:
    problem = pass_problem(60)
    cycles = []
    for acyclic in (False, True):
        policy = hsdag(devices=2, chains=False, acyclic=acyclic)
        for walk in record_of(rolled(policy, problem)).walks:
            for step in walk.steps:
                group_of = step.offer.group_of
                groups = [
                    {*np.flatnonzero(group_of == g).tolist()} for g in range(step.offer.count)
                ]
                cycles.append((acyclic, has_cycle(groups, walk.one.graph.directed.tolist())))
    assert any(cycle for acyclic, cycle in cycles if not acyclic)
    assert not any(cycle for acyclic, cycle in cycles if acyclic)


def test_another_number_of_devices_is_refused() -> None:
    with pytest.raises(UnsuitableError, match="requires 2 devices"):
        hsdag(devices=2).check(stream_problem())
    hsdag(**STREAM).check(stream_problem())


def test_groups_of_a_problem_are_limited() -> None:
    problem = stream_problem(60)
    made = hsdag(levels=5, min_groups=1, heaviest=0.5, chains=False, **STREAM).grouping(problem)
    work = np.bincount(made.group_of, flow(problem).work)
    share = work * len(problem.cluster.devices) / work.sum()
    assert 1 < made.count < 60
    assert (share[np.bincount(made.group_of) > 1] <= 0.5 + 1e-9).all()


def test_untrained_groups_follow_heavy_streams() -> None:
    """Scores begin with the log of the traffic, whatever the random parameters."""
    names = [f"o{n}" for n in range(8)]
    heavy = [1.0, 1e-4, 1.0, 1e-4, 1.0, 1e-4, 1.0]
    operators = [sp.Operator(name, 1e4, 1000.0) for name in names]
    streams = [
        sp.Stream(a, b, payload_bytes=1e4 * amount)
        for a, b, amount in zip(names, names[1:], heavy, strict=False)
    ]
    problem = sp.Problem(sp.StreamGraph(operators, streams), "2x2500", source_rate=1e3)
    for seed in range(5):
        policy = hsdag(seed, **STREAM | {"min_groups": 4, "chains": False})
        assert policy.grouping(problem).group_of.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_features_stay_on_request() -> None:
    (walk, _) = record_of(rolled(hsdag(devices=2, updates=False), pass_problem())).walks
    assert all(np.array_equal(step.features, walk.one.features) for step in walk.steps)


def test_walks_can_be_watched() -> None:
    policy, watched = hsdag(devices=2), list[HsdagWalk]()
    policy.watch = watched.extend
    made = rolled(policy, pass_problem())
    assert watched == record_of(made).walks


def test_another_parser_makes_the_groups() -> None:
    policy, problem = hsdag(devices=2), pass_problem()
    count = policy.encode(problem).graph.vertices

    def in_pairs(graph: Graph, least: Ints, scores: torch.Tensor) -> Ints:
        groups = (count + 1) // 2
        starts = np.repeat(np.arange(len(graph.sizes)) * groups, count)
        return (starts + np.tile(np.arange(count) // 2, len(graph.sizes))).astype(np.int32)

    policy.network.parser = in_pairs
    for walk in record_of(rolled(policy, problem)).walks:
        for step in walk.steps:
            assert step.offer.group_of.tolist() == [v // 2 for v in range(count)]


@pytest.mark.parametrize("message", [np.inf, 1e308])
def test_messages_that_are_all_the_cost_have_no_warning(message: float) -> None:
    """Such messages overflow, and groups without traffic between them send none."""
    policy = hsdag(devices=3, **STREAM)
    walk = record_of(rolled(policy, stream_problem())).walks[0]
    offer = walk.steps[0].offer
    traffic = offer.one.graph.traffic.copy()
    traffic[0] = 0.0
    one = replace(offer.one, message=message, graph=replace(offer.one.graph, traffic=traffic))
    groups = replace(offer, one=one, group_of=np.arange(one.size, dtype=np.int32)).groups
    assert not np.isnan(groups.message).any()
    assert groups.message.min() == 0.0
    assert groups.message.max() > 1e300
