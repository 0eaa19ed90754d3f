"""Baselines and the discounted gradient of GiPH's training."""

from functools import partial

import pytest

from tests.support.step_stages import advantages, looped

looped = partial(looped, algorithm="giph")


@pytest.mark.parametrize(
    ("baseline", "mean"), [("steps", [2.0, 3.0, 4.0]), ("earlier-steps", [0.0, 2.0, 3.0])]
)
def test_baselines_of_the_rewards_so_far(baseline: str, mean: list[float]) -> None:
    (found,) = advantages(looped(baseline=baseline, discount=0.0), [2.0, 4.0, 6.0])
    assert found == [2.0 - mean[0], 4.0 - mean[1], 6.0 - mean[2]]


def test_the_gradient_of_later_steps_is_discounted() -> None:
    settings = {"baseline": "none", "discount": 0.5, "discounts_gradient": True}
    assert advantages(looped(**settings), [0.0, 2.0, 4.0]) == [[2.0, 0.5 * 4.0, 0.25 * 4.0]]
