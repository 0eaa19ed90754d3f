"""Gamma distributions against scipy's, and the quantiles of mixtures."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaincc

from streamplace.sim.queueing.estimate import mixture_quantile, mixture_tail

ONE = np.ones(1)


@given(shape=st.floats(0.01, 900), relative=st.floats(0.001, 20))
def test_tails_are_those_of_scipy(shape: float, relative: float) -> None:
    x = shape * relative
    found = mixture_tail(ONE, 0 * ONE, shape * ONE, shape * ONE, x)
    assert found == pytest.approx(gammaincc(shape, x), rel=1e-8, abs=1e-10)


@given(shape=st.floats(1e3, 1e9), deviations=st.floats(-6, 6))
def test_tails_of_large_shapes(shape: float, deviations: float) -> None:
    x = shape + deviations * shape**0.5
    found = mixture_tail(ONE, 0 * ONE, shape * ONE, shape * ONE, x)
    assert found == pytest.approx(gammaincc(shape, x), abs=2e-4)


@given(
    columns=st.lists(
        st.tuples(st.floats(0.1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)),
        min_size=1,
        max_size=4,
    ),
    share=st.sampled_from([0.5, 0.9, 0.99]),
)
def test_quantiles_are_where_tails_fall_to_the_rest(
    columns: list[tuple[float, float, float, float]], share: float
) -> None:
    weight, least, above, variance = (np.array(column) for column in zip(*columns, strict=True))
    mixture = weight / weight.sum(), least, least + above, variance
    x = float(mixture_quantile(*mixture, share))
    assert mixture_tail(*mixture, x * (1 + 1e-6) + 1e-9) <= 1 - share + 1e-6
    assert mixture_tail(*mixture, x * (1 - 1e-6) - 1e-9) >= 1 - share - 1e-6


def test_a_mean_far_below_the_deviation_is_nearly_always_the_least_value() -> None:
    mixture = ONE, 0 * ONE, 2.2250738585072014e-308 * ONE, ONE
    assert mixture_quantile(*mixture, 0.5) == pytest.approx(0, abs=1e-12)
    assert mixture_tail(*mixture, 1e-9) == 0
    shape = 1e-11  # just above the limit: the mean is shape, with variance shape
    assert mixture_tail(ONE, 0 * ONE, shape * ONE, shape * ONE, 1e-9) < 1e-9


def test_a_shifted_exponential_distribution() -> None:
    found = mixture_quantile(ONE, 3 * ONE, 5 * ONE, 4 * ONE, 0.99)
    assert found == pytest.approx(3 + 2 * log(100), rel=1e-6)
