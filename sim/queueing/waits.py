"""Means and variances of waits in queues with Poisson arrivals of batches.

One server: Pollaczek and Khinchine's mean and Takacs' second moment (Kleinrock, Queueing Systems I,
1975, 5.7), with batches as customers:

    E[W] = r E[B^2] / 2 (1 - u),    E[W^2] = 2 E[W]^2 + r E[B^3] / 3 (1 - u)

Several servers: that of M/M/c, by Erlang's C formula, times the variability that batches and
services have compared with exponential services (Lee and Longton 1959; Allen and Cunneen 1978), and
exponential where a tuple waits at all, as for M/M/c.
"""

import numpy as np

from sim.flow import Floats, Ints
from sim.jit import bare, kernel
from sim.queueing.batches import Work

FULL = 1.0 - 1e-9  # utilisation from which a queue counts as overloaded, whatever the rounding


@bare
def erlang_c(servers: int, load: float) -> float:
    """Return the probability of waiting in an M/M/c queue.

    Parameters
    ----------
    load
        Arrival rate times mean service, below the number of servers.
    """
    blocked = 1.0
    for k in range(1, servers + 1):
        blocked = load * blocked / (k + load * blocked)
    return blocked / (1.0 - load / servers * (1.0 - blocked))


@kernel
def waits_of(work: Work, servers: Ints) -> tuple[Floats, Floats]:
    """Return mean and variance of the wait of a batch at R queues, (R,) each; inf if overloaded."""
    count = work.first.shape[0]
    mean, variance = np.zeros(count), np.zeros(count)
    for r in range(count):
        load, c = work.first[r], servers[r]
        if load >= FULL * c:
            mean[r] = variance[r] = np.inf
        elif load > 0.0 and c == 1:
            mean[r] = work.second[r] / (2.0 * (1.0 - load))
            variance[r] = mean[r] ** 2 + work.third[r] / (3.0 * (1.0 - load))
        elif load > 0.0:
            waiting, service = erlang_c(c, load), load / work.tuples[r]
            variability = work.second[r] / (2.0 * load * service)
            mean[r] = waiting * service / (c - load) * variability
            variance[r] = mean[r] ** 2 * (2.0 / waiting - 1.0)
    return mean, variance
