"""Deployments of chains, and the distributions that queueing theory has for them."""

from collections.abc import Callable
from math import exp, factorial

import numpy as np
from numpy.typing import NDArray

from streamplace import Problem
from streamplace.scoring.flow import flow
from streamplace.sim.tuples import Arrivals, Deployment, TupleRun, deploy, run
from tests.support.graphs import loaded_chain


def deployed_chain(*loads: float, rate: float = 1000.0, selectivity: float = 1.0) -> Deployment:
    """Return a chain whose operators have a device each; a load is a share of one device."""
    problem = loaded_chain(
        *loads, rate=rate, payload_bytes=0.0, selectivity=selectivity, devices=len(loads)
    )
    return deployed(problem, np.arange(len(loads)))


def deployed(problem: Problem, placement: NDArray[np.generic]) -> Deployment:
    """Return the deployment of a placement whose links have no latency L."""
    arrays = flow(problem)
    return deploy(arrays, np.zeros(len(arrays.gap_s)), placement.astype(np.int32))


def long_run(chain: Deployment, *, exponential: bool, seconds: float = 500.0) -> TupleRun:
    """Return a run with Poisson arrivals that is long enough for errors of about 2%."""
    return run(
        chain,
        Arrivals(),
        exponential=exponential,
        duration_s=seconds,
        measured_from_s=seconds / 20,
        seed=1,
    )


def quantile_of(below: Callable[[float], float], share: float, most: float) -> float:
    """Return where a distribution function reaches a share, up to `most`."""
    low, high = 0.0, most
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < share else (low, middle)
    return high


def md1_wait_below(load: float, t: float) -> float:
    """Return P(wait <= t) of an M/D/1 queue whose service takes 1 (Erlang 1909)."""
    terms = ((load * (k - t)) ** k / factorial(k) * exp(-load * (k - t)) for k in range(int(t) + 1))
    return (1 - load) * sum(terms)


def two_below(first: float, second: float, t: float) -> float:
    """Return P(sum <= t) of two exponential times with different rates."""
    left = second * exp(-first * t) - first * exp(-second * t)
    return 1 - left / (second - first)
