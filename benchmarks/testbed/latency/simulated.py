"""Simulated latencies of scaled problems."""

from typing import Literal

from streamplace import Placement, Problem
from streamplace.latency.tuples import run_tuples
from streamplace.sim.engine import Settings
from streamplace.sim.tuples.errors import quantile
from streamplace.util.arrays import Floats, Ints

Service = Literal["exponential", "deterministic"]
QUANTITIES = ("mean", "p50", "p99")


def simulated(
    problem: Problem, devices: Ints, service: Service, seed: int, warm_s: float, seconds: float
) -> Floats:
    """Return the latencies of a run in the order in which tuples left sinks, (N,) seconds.

    Its arrivals are those of a run on the testbed with this seed.
    """
    settings = Settings(
        duration_s=warm_s + seconds,
        tick_s=None,
        measure_from_s=warm_s,
        arrivals="poisson",
        service=service,
        seed=seed,
    )
    return run_tuples(Placement(problem, devices), settings).latencies_s


def value(latencies_s: Floats, quantity: str) -> float:
    """Return ``mean`` or a percentile such as ``p99`` of at least one latency, in seconds."""
    if quantity == "mean":
        return float(latencies_s.mean())
    return quantile(latencies_s, float(quantity[1:]) / 100)


def values(latencies_s: Floats) -> dict[str, float]:
    """Return all `QUANTITIES` of latencies, in seconds."""
    return {quantity: value(latencies_s, quantity) for quantity in QUANTITIES}
