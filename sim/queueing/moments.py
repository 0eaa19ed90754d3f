"""Mean and variance of the latency at every operator, from the sources down.

The latency of a tuple at an operator is a mixture over the ways by which tuples reach it. Waits on
links and for threads, and services, count as independent. Waits for a device's cores count as fully
dependent between the operators of a device: a queue changes little while one tuple passes several
times (the snapshot principle, Reiman 1984).
"""

from typing import NamedTuple

import numpy as np

from sim.flow import Floats, Ints
from sim.jit import kernel
from sim.tuples.deployment import Deployment

MOST_VISITS = 20_000_000  # operators x devices; above, all waits count as independent


class Hops(NamedTuple):
    """What a tuple of each kind of service spends before and in its service, (E + V,) each."""

    mean: Floats  # seconds
    variance: Floats  # without waits for the cores of the device
    least: Floats  # seconds without any wait and with the shortest services
    device_variance: Floats  # (D,) variance of the wait for cores


class Moments(NamedTuple):
    """Moments of the latency of tuples that operators have processed, (V,) each."""

    rate: Floats  # tuples/s
    mean: Floats  # seconds
    variance: Floats
    least: Floats  # seconds that every tuple spends


@kernel
def moments_of(deployed: Deployment, source: Ints, hops: Hops) -> Moments:
    """Return the moments at every operator.

    Parameters
    ----------
    source
        (E,) int32 operator from which each stream leads; every stream into an operator precedes
        the streams out of it.
    """
    operators, streams = deployed.device.shape[0], deployed.target.shape[0]
    devices = deployed.cores.shape[0]
    depends = operators * devices <= MOST_VISITS
    visits = np.zeros((operators, devices if depends else 0))
    rate, first, second = np.zeros(operators), np.zeros(operators), np.zeros(operators)
    least = np.full(operators, np.inf)
    for v in range(operators):
        own = streams + v
        if deployed.rate[own] > 0.0:
            rate[v], first[v] = deployed.rate[own], deployed.rate[own] * hops.mean[own]
            second[v] = deployed.rate[own] * (hops.variance[own] + hops.mean[own] ** 2)
            least[v] = hops.least[own]
    for e in range(streams):
        u, w = source[e], deployed.target[e]
        if deployed.rate[e] <= 0.0 or rate[u] <= 0.0:
            continue
        of_u = first[u] / rate[u]
        mean = of_u + hops.mean[e]
        variance = second[u] / rate[u] - of_u**2 + hops.variance[e]
        rate[w] += deployed.rate[e]
        first[w] += deployed.rate[e] * mean
        second[w] += deployed.rate[e] * (variance + mean * mean)
        least[w] = min(least[w], least[u] + hops.least[e])
        if depends:
            share = deployed.rate[e] / rate[u]
            for d in range(devices):  # visits are sums of tuples/s until divided below
                visits[w, d] += share * visits[u, d]
            visits[w, deployed.device[u]] += deployed.rate[e]
    mean, variance = np.zeros(operators), np.zeros(operators)
    for v in range(operators):
        if rate[v] <= 0.0:
            continue
        mean[v] = first[v] / rate[v]
        variance[v] = max(0.0, second[v] / rate[v] - mean[v] ** 2)
        for d in range(devices if depends else 0):
            n = visits[v, d] / rate[v] + (1.0 if d == deployed.device[v] else 0.0)
            if n > 0.0:
                variance[v] += n * n * hops.device_variance[d]
    return Moments(rate, mean, variance, least)
