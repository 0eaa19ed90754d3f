"""Waits in single queues: Erlang's and Pollaczek's formulas, computed in another way."""

from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.sim.queueing.moments import Work, waits_of


def erlang_c(servers: int, load: float) -> float:
    """Return Erlang's C formula by its sums."""
    last = load**servers / factorial(servers) * servers / (servers - load)
    return last / (sum(load**k / factorial(k) for k in range(servers)) + last)


def wait(rate: float, second: float, third: float, servers: int = 1) -> tuple[float, float]:
    """Return mean and variance of the wait for services of mean 1."""
    first, of_two, of_three = (np.array([rate * moment]) for moment in (1.0, second, third))
    work = Work(first, of_two, of_three, np.array([rate]))
    mean, variance = waits_of(work, np.array([servers], np.int32))
    return float(mean[0]), float(variance[0])


@given(load=st.floats(0.01, 0.98))
def test_exponential_services(load: float) -> None:
    """The wait is 0 with probability 1 - load, else exponential with rate 1 - load."""
    mean, variance = wait(load, 2.0, 6.0)
    assert mean == pytest.approx(load / (1 - load))
    assert variance == pytest.approx(2 * load / (1 - load) ** 2 - mean**2)


@given(load=st.floats(0.01, 0.98))
def test_constant_services(load: float) -> None:
    mean, variance = wait(load, 1.0, 1.0)
    assert mean == pytest.approx(load / (2 * (1 - load)))
    assert variance == pytest.approx(mean**2 + load / (3 * (1 - load)))


@given(servers=st.integers(2, 60), share=st.floats(0.01, 0.98))
def test_several_servers(servers: int, share: float) -> None:
    load = servers * share
    mean, variance = wait(load, 2.0, 6.0, servers)
    waiting = erlang_c(servers, load)
    assert mean == pytest.approx(waiting / (servers - load), rel=1e-6)
    assert variance == pytest.approx(2 * waiting / (servers - load) ** 2 - mean**2, rel=1e-6)


@pytest.mark.parametrize("servers", [1, 3])
def test_overloaded_queues_have_no_mean(servers: int) -> None:
    assert wait(float(servers), 2.0, 6.0, servers) == (np.inf, np.inf)
    assert wait(0.0, 2.0, 6.0, servers) == (0.0, 0.0)


@pytest.mark.parametrize("load", [0.03, 0.08])
def test_nobody_waits_for_one_of_many_idle_servers(load: float) -> None:
    """The probability of waiting for 128 servers, at most load**128 / 128!, is next to 0 or 0."""
    assert wait(load, 2.0, 6.0, 128) == pytest.approx((0.0, 0.0))
