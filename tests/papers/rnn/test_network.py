"""The network against plain numpy, and what it refuses."""

from typing import Any

import numpy as np
import pytest
import torch

import streamplace as sp
from benchmarks.reference import rnn as plain
from streamplace.errors import UnsuitableError
from streamplace.learning.policy.decoding import Sampler
from streamplace.scoring.orders import traversal_order
from tests.support.graphs import chain_graph
from tests.support.policies import seeded_generator
from tests.support.rnn import VARIANTS, giph_problem, rnn

TOLERANCE = 1e-5


@pytest.mark.parametrize("sizes", VARIANTS, ids=str)
def test_probabilities_equal_those_of_the_plain_network(sizes: dict[str, Any]) -> None:
    """The problems of a batch have different sizes; each plain one is computed alone."""
    policy, samples = rnn(**sizes), 3
    problems = sorted((giph_problem(i) for i in range(3)), key=lambda p: -len(p.graph.names))
    assert len({len(problem.graph.names) for problem in problems}) > 1
    batch = policy.batch([policy.encode(problem) for problem in problems])
    with torch.no_grad():
        made = policy.rollout(batch, samples, Sampler(seeded_generator()))
    parameters = {name: x.detach().numpy() for name, x in policy.named_parameters()}
    config = policy.config
    for p, problem in enumerate(problems):
        operators = len(problem.graph.names)
        order = traversal_order(problem, config.order).tolist()
        rows = plain.vectors(problem, order, config.labels, config.out_streams, config.operators)
        allowed = problem.feasibility.allowed[problem.feasibility.unit_of]
        for s in range(samples):
            assert made.actions[p, s, :operators, 0].tolist() == order
            taken = made.actions[p, s, :operators, 1].numpy()
            for t, logits in enumerate(plain.logits(parameters, rows, taken)):
                offered = np.where(allowed[order[t]], np.exp(logits), 0.0)
                expected = np.log(offered[taken[t]] / offered.sum())
                assert abs(float(made.log_prob[p, s, t].sum()) - expected) < TOLERANCE


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"devices": 5}, "requires 5 devices (got 6)"),
        ({"operators": 9}, "allows at most 9 operators (got"),
        ({"out_streams": 1}, "allows at most 1 streams out of an operator (got"),
        ({"labels": ["type0"]}, "operators require the label 'type1', which this policy does not"),
        ({"labels": []}, "does not know (its labels: none)"),
    ],
)
def test_problems_that_do_not_fit_are_refused(sizes: dict[str, Any], message: str) -> None:
    problem, policy = giph_problem(), rnn(**sizes)
    with pytest.raises(UnsuitableError) as caught:
        policy.check(problem)
    assert message in str(caught.value)
    with pytest.raises(UnsuitableError):
        policy.rollout(policy.batch([rnn().encode(problem)]), 1, Sampler())


def test_frozen_attention_has_no_gradient() -> None:
    problem = giph_problem()
    for frozen in (False, True):
        policy = rnn(frozen_attention=frozen)
        made = policy.rollout(policy.batch([policy.encode(problem)]), 2, Sampler())
        made.log_probability.sum().backward()  # type: ignore[no-untyped-call]
        without = {name for name, x in policy.named_parameters() if x.grad is None}
        names = {name for name, _ in policy.attention.named_parameters(prefix="attention")}
        assert without == (names if frozen else set())


def test_colocated_operators_follow_the_first() -> None:
    """The device of the second operator of a group is certain."""
    rules = sp.Constraints(colocate=[["a", "c"]])
    problem = sp.Problem(chain_graph(1e5, 2e5, 3e5), "3x1000", constraints=rules)
    policy = rnn(devices=3)
    with torch.no_grad():
        made = policy.rollout(
            policy.batch([policy.encode(problem)]), 20, Sampler(seeded_generator())
        )
    assert (made.placements[0, :, 0] == made.placements[0, :, 2]).all()
    assert made.log_prob[0, :, 2].abs().max() == 0.0
    assert made.log_prob[0, :, 0, 1].max() < 0.0
