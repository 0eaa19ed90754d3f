"""Bootstrap intervals: coverage, pairing, and samples without an interval."""

import numpy as np
import pytest

from streamplace.util import effect
from streamplace.util.effect import mean_intervals


def test_intervals_contain_the_true_mean_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    samples = rng.normal(3.0, 2.0, (400, 60))
    intervals = mean_intervals(samples, 7)  # rows are resampled alike, as if each were alone
    covered = ((intervals[:, 0] <= 3.0) & (intervals[:, 1] >= 3.0)).mean()
    assert 0.90 < covered < 0.98


def test_their_width_is_that_of_the_normal_approximation() -> None:
    values = np.random.default_rng(1).normal(size=(1, 500))
    ((low, high),) = mean_intervals(values, 0)
    assert high - low == pytest.approx(2 * 1.96 * values.std() / np.sqrt(500), rel=0.05)
    assert low < values.mean() < high


def test_rows_are_resampled_alike() -> None:
    values = np.random.default_rng(2).normal(size=30)
    first, second = mean_intervals(np.stack([values, values + 1.0]), 5)
    assert second == pytest.approx(first + 1.0)


def test_resampling_in_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(4).normal(size=(2, 30))
    rng = np.random.default_rng(5)
    means = [values.T[rng.integers(30, size=30)].mean(axis=0) for _ in range(effect.RESAMPLES)]
    expected = np.quantile(means, [0.025, 0.975], axis=0).T
    for at_once in (1, 7 * 60, 10**9):
        monkeypatch.setattr(effect, "AT_ONCE", at_once)
        assert mean_intervals(values, 5) == pytest.approx(expected, rel=1e-12)


def test_the_seed_decides() -> None:
    values = np.random.default_rng(3).normal(size=(1, 30))
    assert (mean_intervals(values, 1) == mean_intervals(values, 1)).all()
    assert (mean_intervals(values, 1) != mean_intervals(values, 2)).any()


def test_no_interval_for_two_members_or_infinite_values() -> None:
    assert np.isnan(mean_intervals(np.array([[1.0, 2.0]]))).all()
    some = mean_intervals(np.array([[1.0, np.inf, 1.0], [1.0, 1.0, 1.0]]))
    assert np.isnan(some[0]).all()
    assert (some[1] == 1.0).all()
