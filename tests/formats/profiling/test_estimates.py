"""Standard errors of costs estimated from counters whose noise is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from streamplace.formats.profiling.estimates import Estimate, or_exact, slope, solve_flows
from tests.support.placers import seeded_rng

MANY = 3000
TRUE = 2.0  # busy time per tuple


def measured(intervals: int, reading_noise: float) -> list[Estimate]:
    """Return estimates from counters of busy time and tuples.

    The cost of each tuple varies by half of its mean, and the counter of busy time is read with an
    error that the next reading corrects.
    """
    rng = seeded_rng()
    found = []
    for _ in range(MANY):
        tuples = rng.poisson(1000, intervals).astype(float)
        busy = TRUE * tuples + rng.normal(0, TRUE / 2, intervals) * np.sqrt(tuples)
        busy += np.diff(rng.normal(0, reading_noise, intervals + 1))
        found.append(slope(busy, tuples))
    return found


@pytest.mark.parametrize("intervals", [3, 5, 10, 30])
def test_the_standard_error_is_the_spread_of_the_estimates(intervals: int) -> None:
    found = measured(intervals, reading_noise=0.0)
    values = np.array([estimate.value for estimate in found])
    errors = np.array([estimate.error for estimate in found])
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(values.std(), rel=0.12)
    assert values.mean() == pytest.approx(TRUE, rel=1e-3)


@pytest.mark.parametrize("intervals", [3, 5, 10, 30])
@pytest.mark.parametrize("reading_noise", [0.0, 30.0])
def test_widened_errors_cover_the_true_value(intervals: int, reading_noise: float) -> None:
    """With reading errors, standard errors are mostly too large, since they may count as a walk."""
    found = measured(intervals, reading_noise)
    values = np.array([estimate.value for estimate in found])
    widened = np.array([estimate.widened_error for estimate in found])
    covered = np.mean(np.abs(values - TRUE) <= 1.96 * widened)
    least, most = (0.9, 1.0) if reading_noise else (0.92, 0.975)
    assert least <= covered <= most


@pytest.mark.parametrize("intervals", [3, 4, 5, 10, 31, 1000])
def test_errors_are_widened_by_students_distribution(intervals: int) -> None:
    exact = stats.t.ppf(0.975, intervals - 1) / stats.norm.ppf(0.975)
    widened = Estimate(1.0, 0.1, intervals=intervals).widened_error
    assert widened == pytest.approx(0.1 * exact, rel=0.01)
    assert Estimate(1.0, 0.1).widened_error == 0.1
    assert Estimate(1.0).widened_error is None


def test_fewer_than_three_intervals_give_no_standard_error() -> None:
    x = np.array([100.0, 120.0, 90.0])
    y = np.array([210.0, 230.0, 185.0])
    for count in (1, 2):
        found = slope(y[:count], x[:count])
        assert (found.how, found.error) == ("measured", None)
        assert or_exact(found) == 0.0
    found = slope(y, x)
    assert found.error is not None
    assert found.intervals == 3
    assert or_exact(found) == found.widened_error
    assert found.times(10.0).widened_error == pytest.approx(10 * or_exact(found))


def test_rounding_and_bounds_are_no_standard_errors() -> None:
    assert or_exact(Estimate(5.0, 1e-12, intervals=9)) == 0.0
    assert or_exact(Estimate(5.0, 1e9, intervals=9)) == 5000.0  # the largest that graphs may have
    assert or_exact(Estimate(5.0, 1.0, "bound", "at most")) == 0.0
    assert or_exact(Estimate.missing("nothing")) == 0.0


@pytest.mark.parametrize("independent", [True, False])
def test_standard_error_of_a_slope(independent: bool) -> None:
    """Errors of readings are either independent or they accumulate.

    30 intervals are too few to distinguish these cases, so the standard error of independent errors
    may be too large. Errors that accumulate have the right one.
    """
    rng = np.random.default_rng(3)
    slopes, errors = [], []
    for _ in range(400):
        x = rng.uniform(50, 150, 30)
        off = rng.normal(0, 10, 31)
        y = 2 * x + (np.diff(off) if independent else off[1:])
        found = slope(y, x)
        slopes.append(found.value or 0.0)
        errors.append(found.error or 0.0)
    assert np.mean(slopes) == pytest.approx(2, rel=0.01)
    least, most = (0.9, 7) if independent else (0.9, 1.1)
    assert least < np.median(errors) / np.std(slopes) < most


@given(st.lists(st.floats(0.5, 100), min_size=4, max_size=4))
def test_flows_are_recovered_from_sums(flows: list[float]) -> None:
    a, b, c, d = (np.array([flow]) for flow in flows)
    rows = [
        ([(0, 1.0), (1, 1.0)], a + b, 1.0),
        ([(1, 1.0)], b, 1.0),
        ([(2, 2.0)], 2 * c, 1.0),
        ([(0, 1.0)], a * 1.0001, 1e-4),
    ]
    found, known = solve_flows(rows, 4, 1)
    assert known.tolist() == [True, True, True, False]
    assert found[:3, 0] == pytest.approx([a[0], b[0], c[0]], rel=1e-4)
    assert d[0] > 0


def test_counters_near_0_yield_missing_numbers() -> None:
    """The squares of these numbers are 0 or infinite, so they cannot be used."""
    grown = np.full(3, 5e-324)
    assert slope(grown, grown).value is None
    assert slope(np.full(3, 1e200), np.full(3, 1e200)).value is None
