"""Losses and gradients of the algorithms with a policy gradient, against plain Python."""

import math
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamplace.learning.training.algorithms.policy_gradient import MIN_SPREAD, PolicyGradient

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
    found = PolicyGradient.advantages(column(table, 0), column(table, 2).bool(), normalise)
    expected = [advantages_of(row, normalise) for row in table]
    assert found.tolist() == pytest.approx(np.array(expected), abs=1e-12)


@given(tables, st.booleans(), st.data())
def test_advantages_above_a_baseline(table: Table, normalise: bool, data: st.DataObject) -> None:
    baseline = data.draw(st.lists(eighths, min_size=len(table), max_size=len(table)))
    known = torch.tensor(baseline, dtype=torch.float64)
    found = PolicyGradient.advantages(column(table, 0), column(table, 2).bool(), normalise, known)
    expected = [advantages_of(row, normalise, b) for row, b in zip(table, baseline, strict=True)]
    assert found.tolist() == pytest.approx(np.array(expected), abs=1e-12)


@given(tables)
def test_the_loss_is_a_mean_over_samples_that_count(table: Table) -> None:
    counted = column(table, 2).bool()
    advantage = column(table, 0)
    found = PolicyGradient.policy_loss(column(table, 1), advantage, counted)
    for row, loss in zip(table, found.tolist(), strict=True):
        terms = [reward * logp for reward, logp, counts in row if counts]
        assert loss == pytest.approx(-sum(terms) / max(1, len(terms)), abs=1e-12)


def test_uncounted_samples_have_no_gradient() -> None:
    logp = torch.tensor([[-1.0, -2.0, -3.0]], requires_grad=True)
    counted = torch.tensor([[True, False, True]])
    advantage = PolicyGradient.advantages(
        torch.tensor([[1.0, 50.0, 0.0]]), counted, normalise=False
    )
    PolicyGradient.policy_loss(logp, advantage, counted).sum().backward()  # type: ignore[no-untyped-call]
    assert logp.grad is not None
    assert logp.grad.tolist() == [[-0.25, 0.0, 0.25]]


def test_a_single_sample_has_no_advantage() -> None:
    alone = PolicyGradient.advantages(torch.tensor([[3.0]]), torch.tensor([[True]]), normalise=True)
    assert alone.tolist() == [[0.0]]


LOGITS = [0.3, -1.0, 0.7]
REWARDS = [0.2, 1.0, 0.5]


def gradient(taken: tuple[int, ...]) -> np.ndarray:
    """Return the gradient of the loss with respect to softmax logits, for these actions."""
    logits = torch.tensor(LOGITS, dtype=torch.float64, requires_grad=True)
    logp = torch.log_softmax(logits, dim=0)[list(taken)].unsqueeze(0)
    counted = torch.ones(1, len(taken), dtype=torch.bool)
    reward = torch.tensor([[REWARDS[a] for a in taken]], dtype=torch.float64)
    PolicyGradient.policy_loss(
        logp, PolicyGradient.advantages(reward, counted, False), counted
    ).sum().backward()  # type: ignore[no-untyped-call]
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
