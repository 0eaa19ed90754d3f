"""Simulated jobs and traces of six hours, by seed."""

from typing import NamedTuple

import numpy as np

from benchmarks.control.simulated.job import SimulatedJob, SimulatedOperator
from benchmarks.control.simulated.planner import counts_for, packed
from benchmarks.control.simulated.run import JobState
from benchmarks.control.simulated.trace import KINDS, STEP_S, Disturbance, Trace, rates
from streamplace import Device

HOURS = 6
STEPS = round(HOURS * 3600 / STEP_S)
MEAN_RATE_S = 1000.0
CORES = 4
DEVICES = 8
TARGET = 0.7
HIDING = 0.1  # share of jobs whose sources do not report what waits
MOST_DISTURBED = 2  # devices lost, and devices slow


class Case(NamedTuple):
    """A job, what happens to it, and how it begins."""

    seed: int
    job: SimulatedJob
    trace: Trace
    first: JobState


def case(seed: int) -> Case:
    """Return the case of a seed; kinds of rates take turns."""
    rng = np.random.default_rng([seed, 17])
    kind = list(KINDS)[seed % len(KINDS)]
    job = _job(rng)
    offered = rates(kind, MEAN_RATE_S, STEPS, rng)
    losses = [_disturbance(rng, 0.0) for _ in range(int(rng.integers(MOST_DISTURBED + 1)))]
    slow = [
        _disturbance(rng, float(rng.uniform(0.3, 0.8)))
        for _ in range(int(rng.integers(MOST_DISTURBED + 1)))
    ]
    trace = Trace(kind, offered, (*losses, *slow), hides=bool(rng.random() < HIDING))
    begin_s = float(offered[:30].mean()) / TARGET
    return Case(
        seed, job, trace, JobState(0, packed(job, counts_for(job, begin_s), begin_s, job.cores))
    )


def _job(rng: np.random.Generator) -> SimulatedJob:
    """Return three to five operators that use a fifth of a core to four cores at the mean rate."""
    operators, tuples = [], 1.0
    for v in range(int(rng.integers(3, 6))):
        cores = float(np.exp(rng.uniform(np.log(0.2), np.log(4.0))))
        name = "source" if v == 0 else f"operator {v}"
        operators.append(SimulatedOperator(name, cores / MEAN_RATE_S / tuples, tuples))
        tuples *= float(rng.choice([0.25, 0.5, 1.0, 1.0, 2.0]))
    devices = tuple(Device(f"d{i}", 1000.0, CORES) for i in range(DEVICES))
    return SimulatedJob(tuple(operators), devices)


def _disturbance(rng: np.random.Generator, speed: float) -> Disturbance:
    """Return a disturbance of ten minutes to an hour and a half on one of the first devices."""
    begin = int(rng.integers(30, STEPS - 60))
    end = min(begin + int(rng.integers(60, 540)), STEPS)
    return Disturbance(f"d{int(rng.integers(DEVICES // 2))}", begin, end, speed)
