"""REINFORCE: its losses against plain Python, and its running baseline."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamplace import Problem
from streamplace.learning.policy.weights import parameter_hash
from streamplace.learning.training import fit
from streamplace.learning.training.algorithms.base import Step
from streamplace.learning.training.algorithms.reinforce import (
    MIN_SPREAD,
    Reinforce,
    advantages,
    policy_loss,
)
from tests.support.graphs import preset_graph
from tests.support.stages import loop_of, reinforce, small_policy, small_problems, stages_of

ONE_SAMPLE = {"samples": 1, "memory": {"size": 1, "samples": 0}}


def running(**keys: Any) -> Reinforce:
    """Return the algorithm at the start of a stage with a running baseline."""
    loop = loop_of([reinforce(baseline="running", **keys)])
    loop.begin()
    assert isinstance(loop.algorithm, Reinforce)
    return loop.algorithm


def baselines(algorithm: Reinforce, *steps: list[list[float | None]]) -> list[list[float]]:
    """Return the baselines after each step of rewards of problems 0, 1, …; None does not count."""
    found = []
    for rows in steps:
        counted = np.array([[value is not None for value in row] for row in rows])
        reward = np.array([[value or 0.0 for value in row] for row in rows])
        made = algorithm._baseline_of(np.arange(len(rows)), reward, counted)
        assert made is not None
        found.append(made.tolist())
    return found


def test_the_baseline_is_the_mean_of_the_means_of_steps() -> None:
    first, second, third = baselines(
        running(), [[1.0, 3.0], [8.0, None]], [[6.0, 6.0], [None, None]], [[1.0, 0.0], [4.0, 0.0]]
    )
    assert first == [2.0, 8.0]
    assert second == [(2 + 6) / 2, 0.0]  # nothing to learn from on the second problem
    assert third == [(2 + 6 + 0.5) / 3, (8 + 2) / 2]


def test_a_window_forgets_steps() -> None:
    steps: list[list[list[float | None]]] = [[[float(value)]] for value in (9, 1, 2)]
    assert baselines(running(window=2), *steps)[-1] == [1.5]


def test_the_mean_of_a_step_needs_no_state() -> None:
    loop = loop_of([reinforce()])
    loop.begin()
    assert not any("baseline" in name for name in loop.state())


def test_one_sample_per_step_is_enough() -> None:
    """Without a running baseline, the advantage of a single sample is 0."""
    with pytest.raises(ValueError, match="learning needs at least 2 placements per problem"):
        stages_of(reinforce(**ONE_SAMPLE))
    stages = stages_of(reinforce(**ONE_SAMPLE, baseline="running", epochs=2))
    policy = small_policy()
    before = parameter_hash(policy)
    fit(policy, small_problems(), stages, np.random.default_rng(0))
    assert parameter_hash(policy) != before


def test_random_placements_that_are_only_stored_are_named_as_the_policy_names_them() -> None:
    """Exchanging two equal devices leaves half of the 16 placements of four operators."""
    stage = reinforce(samples=2, random_samples=200.0, learns_from_random=False)
    stage |= {"memory": {"size": 100, "samples": 1, "threshold": -1e9}}
    problem = Problem(preset_graph("series-parallel", 4), "2x2500", source_rate=1e3)
    loop = loop_of([stage], small_policy(), [problem])
    loop.begin()
    assert isinstance(loop.algorithm, Reinforce)
    record: dict[str, float | int] = {}
    loop.algorithm.loss(Step(np.array([0]), [0], 0, 0.0), record)
    assert len({row.tobytes() for row in loop.algorithm.memory.of(0)}) == 8
    assert record["decisions"] == 4 * 2


Table = list[list[tuple[float, float, bool]]]  # rows of (reward, log-probability, counted)

eighths = st.integers(-8, 8).map(lambda n: n / 8)
cells = st.tuples(eighths, st.integers(-20, 0).map(float), st.booleans())
tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=4)
)


def column(table: Table, which: int) -> torch.Tensor:
    """Return one of the three columns of a table as a tensor, (rows, samples)."""
    return torch.tensor([[cell[which] for cell in row] for row in table], dtype=torch.float64)


def advantages_of(
    row: list[tuple[float, float, bool]], normalise: bool, baseline: float | None = None
) -> list[float]:
    """Return the advantages of one problem's samples, in plain Python."""
    rewards = [reward for reward, _, counted in row if counted]
    mean = sum(rewards) / len(rewards) if rewards else 0.0
    mean = mean if baseline is None else baseline
    variance = sum((r - mean) ** 2 for r in rewards) / len(rewards) if rewards else 0.0
    spread = math.sqrt(variance)
    unit = spread + MIN_SPREAD if normalise else 1.0
    return [(reward - mean) / unit if counted else 0.0 for reward, _, counted in row]


@given(tables, st.booleans())
def test_advantages(table: Table, normalise: bool) -> None:
    found = advantages(column(table, 0), column(table, 2).bool(), normalise)
    expected = [advantages_of(row, normalise) for row in table]
    assert found.tolist() == pytest.approx(np.array(expected), abs=1e-12)


@given(tables, st.booleans(), st.data())
def test_advantages_above_a_baseline(table: Table, normalise: bool, data: st.DataObject) -> None:
    baseline = data.draw(st.lists(eighths, min_size=len(table), max_size=len(table)))
    known = torch.tensor(baseline, dtype=torch.float64)
    found = advantages(column(table, 0), column(table, 2).bool(), normalise, known)
    expected = [advantages_of(row, normalise, b) for row, b in zip(table, baseline, strict=True)]
    assert found.tolist() == pytest.approx(np.array(expected), abs=1e-12)


@given(tables)
def test_the_loss_is_a_mean_over_samples_that_count(table: Table) -> None:
    counted = column(table, 2).bool()
    advantage = column(table, 0)
    found = policy_loss(column(table, 1), advantage, counted)
    for row, loss in zip(table, found.tolist(), strict=True):
        terms = [reward * logp for reward, logp, counts in row if counts]
        assert loss == pytest.approx(-sum(terms) / max(1, len(terms)), abs=1e-12)


def test_uncounted_samples_have_no_gradient() -> None:
    logp = torch.tensor([[-1.0, -2.0, -3.0]], requires_grad=True)
    counted = torch.tensor([[True, False, True]])
    advantage = advantages(torch.tensor([[1.0, 50.0, 0.0]]), counted, normalise=False)
    policy_loss(logp, advantage, counted).sum().backward()  # type: ignore[no-untyped-call]
    assert logp.grad is not None
    assert logp.grad.tolist() == [[-0.25, 0.0, 0.25]]


def test_a_single_sample_has_no_advantage() -> None:
    alone = advantages(torch.tensor([[3.0]]), torch.tensor([[True]]), normalise=True)
    assert alone.tolist() == [[0.0]]


LOGITS = [0.3, -1.0, 0.7]
REWARDS = [0.2, 1.0, 0.5]


def gradient(taken: tuple[int, ...]) -> np.ndarray:
    """Return the gradient of the loss with respect to softmax logits, for these actions."""
    logits = torch.tensor(LOGITS, dtype=torch.float64, requires_grad=True)
    logp = torch.log_softmax(logits, dim=0)[list(taken)].unsqueeze(0)
    counted = torch.ones(1, len(taken), dtype=torch.bool)
    reward = torch.tensor([[REWARDS[a] for a in taken]], dtype=torch.float64)
    policy_loss(logp, advantages(reward, counted, False), counted).sum().backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    found: np.ndarray = logits.grad.numpy()
    return found


def softmax() -> np.ndarray:
    """Return the probabilities of the three actions."""
    weights = np.exp(np.array(LOGITS))
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("taken", [(0, 1), (2, 2, 1), (0, 1, 2, 1)])
def test_the_gradient_is_the_reinforce_estimator(taken: tuple[int, ...]) -> None:
    """The gradient is -mean((R - mean R) · d log π), with d log π(a) = 1_a - π."""
    probability = softmax()
    mean = sum(REWARDS[a] for a in taken) / len(taken)
    expected = np.zeros(3)
    for a in taken:
        expected -= (REWARDS[a] - mean) * (np.eye(3)[a] - probability) / len(taken)
    assert gradient(taken) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("samples", [2, 3])
def test_the_mean_gradient_is_that_of_the_expected_reward(samples: int) -> None:
    """The mean is (S - 1) / S of the gradient, because each sample is part of its baseline."""
    probability = softmax()
    mean = sum(
        float(np.prod(probability[list(taken)])) * gradient(taken)
        for taken in product(range(3), repeat=samples)
    )
    reward = np.array(REWARDS)
    of_expected = probability * (reward - probability @ reward)
    assert mean == pytest.approx(-(samples - 1) / samples * of_expected, abs=1e-12)
