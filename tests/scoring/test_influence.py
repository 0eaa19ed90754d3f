"""First-order shares of variance, compared with their exact values."""

import numpy as np
import pytest

from streamplace.scoring import influence
from streamplace.scoring.influence import first_order_shares
from tests.support.placers import seeded_rng

DRAWS = 16_384


def test_shares_of_a_sum_are_those_of_its_terms() -> None:
    z = seeded_rng().standard_normal((DRAWS, 3))
    shares = first_order_shares(z, 3 * z[:, 0] + z[:, 1])
    assert shares == pytest.approx([0.9, 0.1, 0.0], abs=0.015)


def test_effects_need_not_be_linear() -> None:
    """Var(exp(z)) is e (e - 1), and Var(z²) is 2."""
    z = seeded_rng().standard_normal((DRAWS, 2))
    result = np.exp(z[:, 0]) + z[:, 1] ** 2
    expected = np.e * (np.e - 1) / (np.e * (np.e - 1) + 2)
    assert first_order_shares(z, result) == pytest.approx([expected, 1 - expected], abs=0.05)


def test_an_interaction_is_no_first_order_share() -> None:
    z = seeded_rng().standard_normal((DRAWS, 2))
    assert first_order_shares(z, z[:, 0] * z[:, 1]) == pytest.approx([0, 0], abs=0.02)


def test_a_number_without_effect_has_no_share_of_few_draws() -> None:
    """Without its correction, 32 bins of 200 draws would show a share of 15%."""
    rng = seeded_rng()
    shares = [
        first_order_shares(rng.standard_normal((200, 1)), rng.standard_normal(200))[0]
        for _ in range(200)
    ]
    assert np.mean(shares) < 0.04


def test_constant_results_and_few_draws_have_no_shares() -> None:
    z = seeded_rng().standard_normal((100, 2))
    assert first_order_shares(z, np.ones(100)).tolist() == [0, 0]
    assert first_order_shares(z[:5], z[:5, 0]).tolist() == [0, 0]


def test_of_many_numbers_the_most_correlated_have_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(influence, "MOST", 2)
    z = seeded_rng().standard_normal((DRAWS, 5))
    shares = first_order_shares(z, 2 * z[:, 3] + z[:, 1] + 0.1 * z[:, 0])
    assert np.flatnonzero(shares).tolist() == [1, 3]
