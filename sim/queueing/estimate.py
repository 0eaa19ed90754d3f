"""The estimated latency of a placement: means, and quantiles by gamma distributions."""

from dataclasses import dataclass
from math import erfc, exp, inf, lgamma, log, sqrt

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare, kernel
from streamplace.sim.queueing.moments import (
    Hops,
    Moments,
    moments_of,
    waits_of,
    work_of_devices,
    work_of_links,
    work_of_threads,
)
from streamplace.sim.tuples.deployment import Deployment
from streamplace.sim.tuples.state import Arrivals

# Shape from which Wilson and Hilferty's approximation is used, as series need many terms there.
NORMAL_FROM = 1e3
NO_SHAPE = 1e-12  # shape below which the scale could overflow
STEPS = 100  # of a bisection: more than a double has bits
TERMS = 10_000  # of a series or fraction, which ends long before for shapes up to `NORMAL_FROM`
SMALL = 1e-14  # relative change at which sums and fractions end


@bare
def tail(shape: float, x: float) -> float:
    """Return P(X > x) of a gamma distribution of scale 1.

    By its series below shape + 1, else by the continued fraction (Abramowitz and Stegun, 6.5.29 and
    6.5.31), and by the cube root of X, which is nearly normal, for large shapes (Wilson and
    Hilferty 1931).
    """
    if x <= 0.0:
        return 1.0
    if shape > NORMAL_FROM:
        spread = 1.0 / (9.0 * shape)
        return 0.5 * erfc(((x / shape) ** (1.0 / 3.0) - 1.0 + spread) / sqrt(2.0 * spread))
    density = exp(shape * log(x) - x - lgamma(shape))
    if x < shape + 1.0:
        term, total = 1.0 / shape, 1.0 / shape
        for n in range(1, TERMS):
            term *= x / (shape + n)
            total += term
            if term < SMALL * total:
                break
        return 1.0 - density * total
    b = x + 1.0 - shape
    # As good as infinite, by which Lentz's method begins.
    c, d = 1e300, 1.0 / b
    fraction = d
    for n in range(1, TERMS):
        a = n * (shape - n)
        b += 2.0
        d = 1.0 / (a * d + b)
        c = b + a / c
        fraction *= c * d
        if abs(c * d - 1.0) < SMALL:
            break
    return density * fraction


@kernel
def mixture_tail(weight: Floats, least: Floats, mean: Floats, variance: Floats, x: float) -> float:
    """Return P(X > x) of a mixture of M gamma distributions, each shifted by its least value.

    Parameters
    ----------
    weight, least, mean, variance
        (M,) weights of sum 1, and the least value, mean and variance of each distribution, of which
        one without variance is constant.
    """
    total = 0.0
    for i in range(weight.shape[0]):
        above = mean[i] - least[i]
        # Constant but for rounding: the scale would be nearly 0 over 0.
        if above <= 1e-9 * mean[i] or variance[i] <= 1e-18 * mean[i] ** 2:
            total += weight[i] if mean[i] > x else 0.0
        elif above * above <= NO_SHAPE * variance[i]:  # nearly always the least value
            total += weight[i] if least[i] > x else 0.0
        else:
            scale = variance[i] / above
            total += weight[i] * tail(above / scale, (x - least[i]) / scale)
    return total


@kernel
def mixture_quantile(
    weight: Floats, least: Floats, mean: Floats, variance: Floats, share: float
) -> float:
    """Return the value that a share of a mixture does not exceed; see `mixture_tail`."""
    low = float(least.min())
    high: float = (mean + 4.0 * np.sqrt(variance)).max()
    while mixture_tail(weight, least, mean, variance, high) > 1.0 - share:
        low, high = high, 2.0 * high
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        if mixture_tail(weight, least, mean, variance, middle) > 1.0 - share:
            low = middle
        else:
            high = middle
        # No latency is printed or compared with more digits.
        if high - low <= 1e-9 * high:
            break
    return high


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
