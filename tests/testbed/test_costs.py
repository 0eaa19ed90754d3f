"""The regression that gives LogP's o, on recorded samples and on samples of known costs."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.testbed.costs import Costs, Sample, fitted, median, quartiles

RECORDED = (
    Sample(7.2e-3, 96.0, 9.6e3),
    Sample(8.1e-3, 191.0, 19.1e3),
    Sample(9.8e-3, 380.0, 38.0e3),
    Sample(17.4e-3, 731.0, 73.1e3),
    Sample(7.1e-3, 96.0, 2.40e6),
    Sample(9.1e-3, 191.0, 2.29e6),
)
"""Medians of twelve samples each on two cores of an AMD EPYC, with links of 20 Mbit/s."""


@given(st.floats(0, 0.02), st.floats(0, 1e-4), st.floats(0, 1e-9))
def test_known_costs_are_found(fixed_s: float, o_s: float, o_s_byte: float) -> None:
    loads = [(one.messages_s, one.bytes_s) for one in RECORDED]
    samples = [Sample(fixed_s + o_s * n + o_s_byte * b, n, b) for n, b in loads]
    expected = (fixed_s, o_s, o_s_byte)
    assert astuple(fitted(samples)) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_o_is_what_one_more_message_costs() -> None:
    """Everything that the network costs, divided by messages, is 75 us at the lowest rate."""
    found = fitted(RECORDED)
    assert found.o_s == pytest.approx(16e-6, rel=0.1)
    assert found.fixed_s == pytest.approx(5.1e-3, rel=0.1)
    for one in RECORDED:
        predicted = found.fixed_s + found.o_s * one.messages_s + found.o_s_byte * one.bytes_s
        assert predicted == pytest.approx(one.network_s, rel=0.2)
    assert max(one.network_s / one.messages_s for one in RECORDED) > 4 * found.o_s


def test_a_disturbed_repetition_does_not_change_the_median() -> None:
    quiet = [Costs(5e-3, 16e-6 + step * 1e-6, 4e-10) for step in (-2, -1, 1, 2)]
    disturbed = Costs(5e-3, 150e-6, 4e-10)
    repetitions = [*quiet, disturbed]
    assert median(repetitions).o_s == pytest.approx(17e-6)
    first, third = quartiles(repetitions)
    assert (first.o_s, third.o_s) == pytest.approx((15e-6, 18e-6))
    assert np.mean([one.o_s for one in repetitions]) > 40e-6


def test_noise_does_not_make_a_cost_negative() -> None:
    repetitions = [Costs(5e-3, 16e-6, byte) for byte in (-3e-10, -1e-10, 2e-10)]
    assert median(repetitions) == Costs(5e-3, 16e-6, 0.0)
    assert quartiles(repetitions)[0].o_s_byte == pytest.approx(-2e-10)
