"""Tests of GiPH's networks against a plain one, and of the gradients of its kernels."""

from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.reference.giph import PlainGiph, pair_graph
from streamplace.papers.giph.gp_net import gp_net
from streamplace.papers.giph.network import Messages, against, along, union
from streamplace.papers.giph.policy import Giph
from streamplace.papers.giph.view import View, view_of
from tests.support.giph import giph, giph_problem, random_start, random_view


@pytest.mark.parametrize("rounds", [0, 3])
@pytest.mark.parametrize("number", range(3))
def test_logits_equal_the_plain_network(number: int, rounds: int) -> None:
    sizes: dict[str, Any] = {"variant": "giph-k", "rounds": rounds} if rounds else {}
    policy = giph(number, **sizes)
    view, graph, x, f = plain_graph(policy, number)
    plain = PlainGiph(dict(policy.named_parameters()), rounds).logits(graph, x, f)
    torch.testing.assert_close(policy.network(view), plain, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rounds", [0, 2])
def test_gradients_equal_those_of_the_plain_network(rounds: int) -> None:
    sizes: dict[str, Any] = {"variant": "giph-k", "rounds": rounds} if rounds else {}
    policy = giph(4, **sizes)
    view, graph, x, f = plain_graph(policy, 1)
    plain = PlainGiph(dict(policy.named_parameters()), rounds)
    gradients = []
    for logits in (policy.network(view), plain.logits(graph, x, f)):
        policy.zero_grad()
        (logits * torch.linspace(-1.0, 1.0, len(logits))).sum().backward()
        gradients.append([p.grad.clone() for p in policy.parameters() if p.grad is not None])
    assert len(gradients[0]) == len(list(policy.parameters()))
    for mine, other in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)


def test_a_pass_without_edge_features_has_the_same_terms_for_all_edges() -> None:
    view = random_view(2)
    messages = Messages(5, 0, 0)
    own = torch.randn(len(view.x), 5, requires_grad=True)
    one = messages(along(view), own, torch.zeros(len(view.source), 0))
    wide = Messages(5, 1, 0)
    with torch.no_grad():
        for name in ("message", "update"):
            mine, other = getattr(wide, name), getattr(messages, name)
            mine.weight.zero_()
            mine.bias.zero_()
            mine.weight[:5, :5], mine.bias[:5] = other.weight, other.bias
    other = wide(along(view), own, torch.zeros(len(view.source), 1))
    torch.testing.assert_close(one, other)


def test_embeddings_of_sinks_against_the_streams_are_their_own() -> None:
    view = random_view(0)
    own = torch.randn(len(view.x), 5)
    made = Messages(5, 4, 0)(against(view), own, torch.from_numpy(view.f))
    receives = np.isin(np.arange(len(own)), view.source)
    assert not receives.all()
    torch.testing.assert_close(made[~receives], own[~receives])
    assert (made[receives] >= own[receives]).all()


@pytest.mark.parametrize("variant", ["giph", "giph-k", "giph-ne", "giph-ne-pol", "graphsage-ne"])
def test_logits_of_a_union_are_those_of_its_parts(variant: str) -> None:
    policy = giph(1, variant=variant)
    views = [random_view(number) for number in range(3)]
    together = policy.network(union(views))
    torch.testing.assert_close(together, torch.cat([policy.network(view) for view in views]))


def plain_graph(policy: Giph, number: int) -> tuple[View, Any, Any, Any]:
    """Return a view of a problem, and the same graph and features by pair and by edge."""
    problem = giph_problem(number)
    one = policy.encode(problem)
    devices = random_start(problem, number)
    potential = np.random.default_rng(number).normal(size=len(one.pairs.operator))
    view = view_of(one.pairs, gp_net(one.pairs, devices), potential, np.ones(len(potential), bool))
    names = list(zip(one.pairs.operator.tolist(), one.pairs.device.tolist(), strict=True))
    feasible = [[d for v, d in names if v == u] for u in range(one.size)]
    streams = dict.fromkeys(
        zip(one.pairs.source.tolist(), one.pairs.target.tolist(), strict=True), 0.0
    )
    graph = pair_graph(devices.tolist(), feasible, streams, lambda data, k, m: (0.0, 0.0, 0.0))
    x = {names[n]: torch.from_numpy(row) for n, row in enumerate(view.x)}
    ends = zip(view.source.tolist(), view.target.tolist(), strict=True)
    f = {(names[a], names[b]): torch.from_numpy(view.f[m]) for m, (a, b) in enumerate(ends)}
    return view, graph, x, f
