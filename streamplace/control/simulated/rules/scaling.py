"""The formulas of the autoscaler of the Flink Kubernetes operator (commit 6e9caeb4).

They follow `JobVertexScaler`, `ScalingMetricEvaluator` and `AutoScalerUtils` of its code, which its
documentation describes differently in places. Rates are tuples per second.
"""

from dataclasses import dataclass
from math import ceil, floor, inf

SOURCE_LAG_S = 300.0  # of the rate: from more waiting on, a backlog is worked off
ROUNDING = 1e-9


@dataclass(frozen=True)
class Options:
    """Options of the autoscaler, with its defaults; times are in seconds.

    Parameters
    ----------
    target, low, high
        Utilisations; None: the target minus or plus .3.
    down, up
        Largest share of its instances by which a vertex shrinks, and grows.
    """

    target: float = 0.7
    low: float | None = None
    high: float | None = None
    down: float = 0.6
    up: float = 100_000.0
    least: int = 1
    most: int = 200
    catch_up_s: float = 1800.0
    restart_s: float = 300.0
    window_s: float = 900.0
    stabilisation_s: float = 300.0
    scale_down_after_s: float = 3600.0


@dataclass(frozen=True)
class Wish:
    """The number of instances that a vertex should have.

    Parameters
    ----------
    outside
        Whether its true rate is outside the band, so that the job is rescaled.
    """

    count: int
    outside: bool


def half_up(value: float) -> float:
    """Return a value rounded to a whole number, halves up, as Java does."""
    return float(floor(value + 0.5)) if abs(value) < inf else value


def capacity(rate: float, catch_up: float, utilisation: float, restart_share: float) -> float:
    """Return the rate that a vertex must be capable of.

    Parameters
    ----------
    rate, catch_up
        The target rate, and the rate at which what waits is to be worked off.
    utilisation
        Cut to 0 to 1; 0 gives infinity.
    restart_share
        Restart time over catch-up time; 0: without restarts.
    """
    share = min(max(utilisation, 0.0), 1.0)
    if share == 0.0:
        return inf
    return half_up(catch_up + rate * restart_share + rate / share)


def wished(
    count: int,
    rate: float,
    true_rate: float,
    options: Options,
    *,
    waiting: float = 0.0,
    behind: bool = False,
) -> Wish:
    """Return the number of instances that a vertex should have, before alignment and delays.

    Parameters
    ----------
    count
        Number of its instances.
    rate
        Its target rate.
    true_rate
        Tuples that all its instances would process per second if they were always busy.
    waiting
        Tuples that wait for it, expressed in its own tuples.
    behind
        Whether a backlog is being worked off, during which nothing is too much.
    """
    catch_up = waiting / options.catch_up_s if options.catch_up_s > 0 else 0.0
    restart = options.restart_s / options.catch_up_s if options.catch_up_s > 0 else 0.0
    factor = capacity(rate, catch_up, options.target, restart) / true_rate
    factor = min(max(factor, 1.0 - options.down), 1.0 + options.up)
    wanted = ceil(factor * count - ROUNDING)
    wanted = max(min(wanted, max(count, options.most)), min(count, options.least))
    high = options.target + 0.3 if options.high is None else options.high
    low = options.target - 0.3 if options.low is None else options.low
    if behind:
        high, low = 1.0, 0.0
    too_little = true_rate < capacity(rate, catch_up, high, 0.0)
    too_much = true_rate > capacity(rate, catch_up, low, restart)
    return Wish(wanted, too_little or too_much)


def aligned(count: int, wanted: int, groups: int, *, only_divisors: bool = False) -> int:
    """Return the number of instances aligned to key groups or partitions of sources.

    Parameters
    ----------
    count, wanted
        The present and the wished number.
    groups
        Number of key groups or partitions.
    only_divisors
        The mode EVENLY_SPREAD instead of BALANCED.
    """
    for tried in range(wanted, (min(groups, count) if wanted < count else groups) + 1):
        if groups % tried == 0:
            return tried
        if not only_divisors and groups // tried < groups // wanted:
            return tried
    return wanted
