"""Small simulated jobs and traces."""

import numpy as np

from benchmarks.control.simulated.job import SimulatedJob, SimulatedOperator
from benchmarks.control.simulated.measuring import observed
from benchmarks.control.simulated.run import JobState, advance
from benchmarks.control.simulated.trace import Disturbance, Trace
from streamplace import Device
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment

CHAIN = SimulatedJob(
    (
        SimulatedOperator("read", 0.0002),
        SimulatedOperator("parse", 0.001),
        SimulatedOperator("store", 0.002, tuples=0.5),
    ),
    tuple(Device(f"d{i}", 1000.0, 2) for i in range(4)),
)
SMALL = Deployment({"read": ("d0",), "parse": ("d0",), "store": ("d1",)})
"""Carries 1,000 tuples/s: the instances parse and store then use one core each."""


def constant(
    rate_s: float, steps: int = 360, *disturbances: Disturbance, hides: bool = False
) -> Trace:
    """Return a trace of a constant rate."""
    return Trace("steps", np.full(steps, rate_s), disturbances, hides)


def window_of(
    trace: Trace, state: JobState | None = None, steps: int = 30, seed: int = 0
) -> Observation:
    """Return the observation of a window of `CHAIN`, from the start or a state."""
    state = state or JobState(0, SMALL)
    after, segments = advance(CHAIN, trace, state, state.step + steps)
    return observed(CHAIN, trace, after, segments, np.random.default_rng(seed))
