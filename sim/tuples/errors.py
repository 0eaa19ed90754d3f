"""How exact a run is: standard errors of latencies, which depend on each other, and relaxation."""

from math import ceil, hypot, sqrt

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.tuples.deployment import Deployment
from streamplace.sim.tuples.state import BURST, PHASE_S, Arrivals

BATCHES = 20  # of successive latencies; 20 are usual (Law and Kelton, section 9.5)
LEAST = 10  # latencies in each of them; means of fewer say little. A guess
MOST_CORRELATION = 0.95  # of successive batches: nearer to 1, the error would be without limit
MEDIAN = 0.5  # above it, the error of the mean is added; see `standard_errors`
ROUNDING = 1e-6  # of the number of tuples below a quantile, so that .99 x 100 is 99


def summary(latencies_s: Floats, quantiles: dict[str, float]) -> dict[str, float]:
    """Return the mean and some quantiles: the smallest latencies that these shares do not exceed.

    Parameters
    ----------
    quantiles
        Name -> share.
    """
    mean = {"mean": float(latencies_s.mean())}
    return mean | {name: quantile(latencies_s, share) for name, share in quantiles.items()}


def quantile(latencies_s: Floats, share: float) -> float:
    """Return the smallest latency that a share of the tuples does not exceed."""
    at = _index(share, len(latencies_s))
    return float(np.partition(latencies_s, at)[at])


def standard_errors(latencies_s: Floats, quantiles: dict[str, float]) -> dict[str, float] | None:
    """Return the standard errors of `summary`, in seconds; None with fewer than 200 latencies.

    The error of the mean follows from the means of 20 batches of successive latencies (Law and
    Kelton, Simulation Modeling and Analysis, section 9.5). Near saturation, successive batches are
    still correlated, so their variance is multiplied by (1 + r) / (1 - r), with the correlation r
    of an autoregressive process of first order (Fishman, 1971). For a quantile, the same holds for
    the share of latencies that do not exceed it; its error is the larger distance to the quantiles
    of the share plus and minus its error (Woodruff, 1952). Above the median, the relative error
    of the mean is added in squares, since a run has few of the episodes in which the highest
    latencies occur, and these say little about the scale of all of them.
    """
    if len(latencies_s) < BATCHES * LEAST:
        return None
    ordered, count = np.sort(latencies_s), len(latencies_s)
    of_mean = _error(latencies_s)
    errors = {"mean": of_mean}
    relative = of_mean / float(latencies_s.mean()) if latencies_s.any() else 0.0
    for name, share in quantiles.items():
        at = float(ordered[_index(share, count)])
        of_share = _error((latencies_s <= at).astype(np.float64))
        low, high = (
            float(ordered[_index(min(max(one, 0.0), 1.0), count)])
            for one in (share - of_share, share + of_share)
        )
        of_scale = relative * at if share > MEDIAN else 0.0
        errors[name] = hypot(max(high - at, at - low), of_scale)
    return errors


def _error(values: Floats) -> float:
    """Return the standard error of the mean of successive values."""
    means = np.array([part.mean() for part in np.array_split(values, BATCHES)])
    apart = means - means.mean()
    total = float(apart @ apart)
    # All batches have the same mean.
    if total == 0.0:
        return 0.0
    bias = 1.0 / BATCHES  # of the correlation of independent values
    correlation = float(apart[1:] @ apart[:-1]) / total + bias
    correlation = min(max(correlation, 0.0), MOST_CORRELATION)
    inflated = (1.0 + correlation) / (1.0 - correlation)
    return sqrt(total / (BATCHES - 1) / BATCHES * inflated)


def _index(share: float, count: int) -> int:
    return min(max(ceil(share * count - ROUNDING) - 1, 0), count - 1)


def relaxation_s(deployed: Deployment, arrivals: Arrivals, *, exponential: bool) -> float:
    """Return the longest relaxation time of the deployment's devices, operators and links.

    The correlation of the number of tuples in an M/M/1 queue falls with exp(-t / τ), where τ is
    E[S] / (1 - √u)² for the service time S and the utilisation u (Cohen, The Single Server Queue,
    section II.2.1). For other services, τ is multiplied by (1 + c²) / 2, with the squared
    coefficient of variation c² of S, as in heavy traffic (Abate and Whitt 1987). The tuples that an
    operator sends at once count as one service. With bursts, the relaxation is that during a burst,
    or of the variance that bursts add to arrivals, whichever is shorter.

    Parameters
    ----------
    exponential
        Whether services have exponential times instead of constant ones.
    """
    at_once = np.ones(len(deployed.rate))
    at_once[: deployed.streams] = np.maximum(deployed.selectivity, 1.0)
    rate, service_s = deployed.rate / at_once, deployed.service_s * at_once
    squared = 2.0 if exponential else 1.0
    on = deployed.device[deployed.operator_of]
    queues = [
        _queues(on, rate, service_s, deployed.cores, squared),
        _queues(deployed.operator_of, rate, service_s, deployed.threads, squared),
    ]
    if len(deployed.link):
        crossed = deployed.links >= 0
        rates = np.broadcast_to(rate[: deployed.streams, None], crossed.shape)[crossed]
        link_s = (deployed.link_s * at_once[: deployed.streams, None])[crossed]
        servers = np.ones(len(deployed.link), np.int32)
        queues.append(_queues(deployed.links[crossed], rates, link_s, servers, 1.0))
    longest = 0.0
    for utilisation, mean_s, variation, arriving in queues:
        for u, s, v, r in zip(utilisation, mean_s, variation, arriving, strict=True):
            if 0.0 < u < 1.0:
                longest = max(longest, _of_one(u, s, v, r, bursts=arrivals.process == "bursts"))
    return longest


def _of_one(u: float, mean_s: float, variation: float, rate: float, *, bursts: bool) -> float:
    """Return the relaxation time of one queue of utilisation u."""
    steady = mean_s * (1.0 + variation) / 2.0 / (1.0 - u**0.5) ** 2
    if not bursts:
        return float(steady)
    added = 2.0 * (BURST - 1.0) ** 2 * rate * PHASE_S / 2.0  # to the dispersion of arrivals, 1
    long = mean_s * (1.0 + added + variation) / 2.0 / (1.0 - u**0.5) ** 2
    if BURST * u >= 1.0:
        return float(max(long, PHASE_S / 2.0))
    within = mean_s * (1.0 + variation) / 2.0 / (1.0 - (BURST * u) ** 0.5) ** 2
    return float(max(min(long, within), PHASE_S / 2.0))


def _queues(
    at: NDArray[np.integer], rate: Floats, service_s: Floats, servers: Ints, squared: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return utilisation, mean service, its squared variation and the rate of each of Q queues.

    Parameters
    ----------
    at, rate, service_s
        (K,) queue, services/s and mean seconds of each kind of service.
    servers
        (Q,) servers of each queue; the mean service is divided among them.
    squared
        E[S²] / E[S]² of each kind.
    """
    sums = [
        np.bincount(at, weights, minlength=len(servers)).astype(np.float64)
        for weights in (rate, rate * service_s, rate * squared * service_s**2)
    ]
    arriving, work, second = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_s = np.where(arriving > 0, work / arriving, 0.0)
        variation = np.where(work > 0, second * arriving / work**2 - 1.0, 0.0)
    return work / servers, mean_s / servers, variation, arriving
