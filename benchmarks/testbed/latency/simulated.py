"""Simulated latencies of scaled problems."""

from typing import Literal

from sim.engine import Settings
from streamplace import Placement, Problem
from streamplace.scoring.tuples import run_tuples
from streamplace.util.arrays import Floats, Ints

Service = Literal["exponential", "deterministic"]


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
