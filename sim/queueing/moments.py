"""Mean and variance of the latency at every operator, from the sources down.

The latency of a tuple at an operator is a mixture over the ways by which tuples reach it. Waits on
links and for threads, and services, count as independent. Waits for a device's cores count as fully
dependent between the operators of a device: a queue changes little while one tuple passes several
times (the snapshot principle, Reiman 1984).

One server: Pollaczek and Khinchine's mean and Takacs' second moment (Kleinrock, Queueing Systems I,
1975, 5.7), with batches as customers:

    E[W] = r E[B^2] / 2 (1 - u),    E[W^2] = 2 E[W]^2 + r E[B^3] / 3 (1 - u)

Several servers: that of M/M/c, by Erlang's C formula, times the variability that batches and
services have compared with exponential services (Lee and Longton 1959; Allen and Cunneen 1978), and
exponential where a tuple waits at all, as for M/M/c.
"""

from typing import NamedTuple

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, inner, kernel
from streamplace.sim.tuples.deployment import Deployment

FULL = 1.0 - 1e-9  # utilisation from which a queue counts as overloaded, whatever the rounding
MOST_VISITS = 20_000_000  # operators x devices, 160 MB; above, all waits count as independent


class Work(NamedTuple):
    """The moments of the work that arrives at R servers, devices or links, per second.

    Of batches of work B that arrive at rate r, with several kinds of batches summed.
    """

    first: Floats  # (R,) sum of r E[B]
    second: Floats  # (R,) sum of r E[B^2], seconds
    third: Floats  # (R,) sum of r E[B^3], seconds^2
    tuples: Floats  # (R,) tuples/s


@inner
def no_work(servers: int) -> Work:
    """Return the work of servers at which nothing arrives."""
    return Work(np.zeros(servers), np.zeros(servers), np.zeros(servers), np.zeros(servers))


@bare
def add_batches(work: Work, r: int, rate: float, mean: float, variance: float) -> None:
    """Add batches of a mean and variance, whose third moment is that of a gamma distribution."""
    if mean <= 0.0:
        return
    spread = variance / (mean * mean)
    work.first[r] += rate * mean
    work.second[r] += rate * (variance + mean * mean)
    work.third[r] += rate * mean**3 * (1.0 + spread) * (1.0 + 2.0 * spread)


@kernel
def work_of_devices(deployed: Deployment, exponential: bool, factor: float) -> tuple[Work, Floats]:
    """Return the work that arrives at devices, and the mean service before a stream's tuple.

    All tuples that an operator sends to one device at a time are a batch. The second array, (E,),
    is the mean time that services of the same batch take before a tuple of the stream, on one core.

    Parameters
    ----------
    factor
        Factor of all rates.
    """
    streams, devices = deployed.target.shape[0], deployed.cores.shape[0]
    operators = deployed.device.shape[0]
    work, before = no_work(devices), np.zeros(streams)
    mean, variance, listed = np.zeros(devices), np.zeros(devices), np.zeros(devices, np.int32)
    for u in range(operators):
        own, count = streams + u, 0
        if deployed.rate[own] > 0.0:
            seconds = deployed.service_s[own]
            of_own = seconds * seconds if exponential else 0.0
            rate = factor * deployed.rate[own]
            add_batches(work, deployed.device[u], rate, seconds, of_own)
            work.tuples[deployed.device[u]] += rate
        for k in range(deployed.first_out[u], deployed.first_out[u + 1]):
            e = deployed.out_stream[k]
            d, s = deployed.device[deployed.target[e]], deployed.selectivity[e]
            if s <= 0.0:
                continue
            work.tuples[d] += factor * deployed.rate[e]
            if mean[d] == 0.0:
                listed[count] = d
                count += 1
            seconds = deployed.service_s[e]
            own_s = max(0.0, seconds - deployed.link_s[e].max())  # links space copies
            before[e] = mean[d] + _ahead(s) * own_s
            mean[d] += s * seconds
            variance[d] += (s if exponential else 0.0) * seconds**2 + _spread(s) * seconds**2
        for i in range(count):
            d = listed[i]
            outputs = factor * outputs_of(deployed, u)
            add_batches(work, d, outputs, mean[d], variance[d])
            mean[d] = variance[d] = 0.0
    return work, before


@kernel
def work_of_threads(deployed: Deployment, exponential: bool, factor: float) -> Work:
    """Return the work that arrives at the threads of each operator; see `work_of_devices`."""
    streams, operators = deployed.target.shape[0], deployed.device.shape[0]
    work = no_work(operators)
    for u in range(operators):
        own = streams + u
        if deployed.rate[own] > 0.0:
            seconds = deployed.service_s[own]
            of_own = seconds * seconds if exponential else 0.0
            add_batches(work, u, factor * deployed.rate[own], seconds, of_own)
            work.tuples[u] += factor * deployed.rate[own]
        for k in range(deployed.first_out[u], deployed.first_out[u + 1]):
            e = deployed.out_stream[k]
            s, seconds = deployed.selectivity[e], deployed.service_s[e]
            variance = ((s if exponential else 0.0) + _spread(s)) * seconds**2
            rate = factor * outputs_of(deployed, u)
            add_batches(work, deployed.target[e], rate, s * seconds, variance)
            work.tuples[deployed.target[e]] += factor * deployed.rate[e]
    return work


@kernel
def work_of_links(deployed: Deployment, factor: float) -> tuple[Work, Floats]:
    """Return the work that arrives at links, and the mean time before a stream's tuple, (E,).

    All tuples that an operator sends over one link at a time are a batch on their first link.
    """
    streams, links = deployed.target.shape[0], deployed.link.shape[0]
    work, before = no_work(links), np.zeros(streams)
    mean, variance = np.zeros(links), np.zeros(links)
    listed = np.zeros(streams, np.int32)  # a link again while its messages take no time
    for u in range(deployed.device.shape[0]):
        count = 0
        for k in range(deployed.first_out[u], deployed.first_out[u + 1]):
            e = deployed.out_stream[k]
            s = deployed.selectivity[e]
            for stage in range(deployed.links.shape[1]):
                n, seconds = deployed.links[e, stage], deployed.link_s[e, stage]
                if n < 0 or s <= 0.0:
                    break
                work.tuples[n] += factor * deployed.rate[e]
                if stage > 0:
                    add_batches(work, n, factor * deployed.rate[e], seconds, 0.0)
                    continue
                if mean[n] == 0.0:
                    listed[count] = n
                    count += 1
                before[e] = mean[n] + _ahead(s) * seconds
                mean[n] += s * seconds
                variance[n] += _spread(s) * seconds**2
        for i in range(count):
            n = listed[i]
            add_batches(work, n, factor * outputs_of(deployed, u), mean[n], variance[n])
            mean[n] = variance[n] = 0.0
    return work, before


@bare
def outputs_of(deployed: Deployment, u: int) -> float:
    """Return the tuples/s that operator u processes."""
    for k in range(deployed.first_out[u], deployed.first_out[u + 1]):
        e = deployed.out_stream[k]
        if deployed.selectivity[e] > 0.0:
            rate: float = deployed.rate[e] / deployed.selectivity[e]
            return rate
    return 0.0


@bare
def _spread(selectivity: float) -> float:
    """Return the variance of the number of copies, which are rounded at random."""
    part = selectivity - int(selectivity)
    return part * (1.0 - part)


@bare
def _ahead(selectivity: float) -> float:
    """Return the mean number of copies before a copy: E[N(N - 1)] / 2 E[N]."""
    whole = int(selectivity)
    part = selectivity - whole
    return whole * (whole - 1.0 + 2.0 * part) / (2.0 * selectivity)


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
            of_waiting = service / (c - load) * variability  # mean wait of those that wait
            mean[r] = waiting * of_waiting
            variance[r] = mean[r] * (2.0 * of_waiting - mean[r])
    return mean, variance


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
