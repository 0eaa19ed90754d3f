"""The estimated latency of a placement: means, and quantiles by gamma distributions."""

from dataclasses import dataclass
from math import inf

import numpy as np

from sim.flow import Floats, Ints
from sim.queueing.batches import work_of_devices, work_of_links, work_of_threads
from sim.queueing.gamma import mixture_quantile
from sim.queueing.moments import Hops, Moments, moments_of
from sim.queueing.waits import waits_of
from sim.tuples.arrivals import Arrivals
from sim.tuples.deployment import Deployment


@dataclass(frozen=True, eq=False)
class Estimate:
    """The estimated latency of the tuples that sinks process, as a mixture of M distributions.

    There is one distribution for each sink and state of the arrivals, a gamma distribution of the
    estimated mean and variance above the time that every tuple takes at least.

    Parameters
    ----------
    weight, least_s, mean_s, variance
        (M,) shares of the tuples, least value, mean and variance of each distribution, in seconds.
    """

    weight: Floats
    least_s: Floats
    mean_s: Floats
    variance: Floats

    @property
    def is_finite(self) -> bool:
        """Whether no queue grows without limit."""
        return bool(np.isfinite(self.mean_s).all())

    @property
    def mean(self) -> float:
        """The mean in seconds; inf if some queue grows without limit."""
        return float(self.weight @ self.mean_s) if self.is_finite else inf

    def quantile(self, share: float) -> float:
        """Return the seconds that a share of the tuples does not exceed; inf as for `mean`."""
        if not self.is_finite:
            return inf
        columns = self.weight, self.least_s, self.mean_s, self.variance
        return float(mixture_quantile(*columns, share))

    def value(self, quantity: str) -> float:
        """Return ``mean``, or a quantile such as ``p99``, in seconds."""
        return self.mean if quantity == "mean" else self.quantile(float(quantity[1:]) / 100)


def estimated(
    deployed: Deployment, source: Ints, arrivals: Arrivals, *, exponential: bool
) -> Estimate:
    """Return the estimated latency of a placement.

    The states of arrivals with bursts last long compared with queues, so each counts as a process
    of its own, by its share of the tuples.

    Parameters
    ----------
    source
        (E,) operator from which each stream leads, in the order of the flow's streams.
    """
    parts, weights = [], []
    for factor in arrivals.factors:
        found = _moments(deployed, source, exponential=exponential, factor=factor)
        at = [v for v in deployed.sinks.tolist() if found.rate[v] > 0]
        parts.append([column[at] for column in (found.least, found.mean, found.variance)])
        weights.append(factor * found.rate[at])
    weight = np.concatenate(weights)
    return Estimate(weight / weight.sum(), *map(np.concatenate, zip(*parts, strict=True)))


def _moments(deployed: Deployment, source: Ints, *, exponential: bool, factor: float) -> Moments:
    """Return the moments of the latency at every operator with rates of one factor."""
    streams, kinds = deployed.streams, deployed.operator_of
    own = deployed.service_s
    on_device, before = work_of_devices(deployed, exponential, factor)
    on_threads = work_of_threads(deployed, exponential, factor)
    on_link, before_on_link = work_of_links(deployed, factor)
    cores = deployed.cores[deployed.device]
    device_mean, device_variance = waits_of(on_device, deployed.cores)
    apart = deployed.threads < cores  # elsewhere the queue for threads is that for cores
    threads = np.bincount(deployed.device, deployed.threads, minlength=len(deployed.cores))
    shared = threads > deployed.cores  # elsewhere a core is idle whenever a thread is
    shared[deployed.device[~apart]] = True
    device_mean, device_variance = (
        np.where(shared, column, 0.0) for column in waits_of(on_device, deployed.cores)
    )
    thread_mean, thread_variance = (
        np.where(apart, column, 0.0) for column in waits_of(on_threads, deployed.threads)
    )
    link_mean, link_variance = waits_of(on_link, np.ones(len(deployed.link), np.int32))
    mean = own + device_mean[deployed.device[kinds]] + thread_mean[kinds]
    variance = thread_variance[kinds] + (own**2 if exponential else 0.0)
    least = np.zeros(len(own)) if exponential else own.copy()
    travel = deployed.link_s.sum(axis=1) + deployed.latency_s
    servers = np.where(apart, deployed.threads, cores)[deployed.target]
    mean[:streams] += travel + before / servers + before_on_link
    least[:streams] += travel
    crossed = deployed.links >= 0
    for column, waits in ((mean, link_mean), (variance, link_variance)):
        if len(waits):
            column[:streams] += np.where(crossed, waits[deployed.links], 0.0).sum(axis=1)
    return moments_of(deployed, source, Hops(mean, variance, least, device_variance))
