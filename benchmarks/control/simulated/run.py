"""The run of a simulated job: what is served and what waits, window by window."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.control.simulated.job import Loads, SimulatedJob, work_off
from benchmarks.control.simulated.trace import STEP_S, Trace
from streamplace.control.plans import Deployment
from streamplace.util.arrays import Floats

RECOVERY_S = 5.3  # without output after a TaskManager is killed, measured on Flink 2.3.0
PREPARED_S = (3.7, 4.5)  # from a restart until all run again, measured on Flink 2.3.0
GAP_S = (1.0, 3.2)  # without output meanwhile, likewise


@dataclass(frozen=True)
class JobState:
    """A job between two steps.

    Parameters
    ----------
    step
        The next step.
    deployment
        Where its instances run.
    waiting
        Tuples that wait at the source.
    started_s
        When it last began to run, in seconds since the start of the trace.
    down
        Begin and end of the last downtime, likewise.
    """

    step: int
    deployment: Deployment
    waiting: float = 0.0
    started_s: float = 0.0
    down: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Segment:
    """Some steps during which devices and deployment stay the same.

    Parameters
    ----------
    served, waiting, capacity
        (n,) tuples served in each step, that wait after it, and that could be served in it.
    """

    deployment: Deployment
    loads: Loads
    offered: Floats
    served: Floats
    waiting: Floats
    capacity: Floats


def advance(
    job: SimulatedJob, trace: Trace, state: JobState, end: int
) -> tuple[JobState, list[Segment]]:
    """Run a job up to a step; return its state there, and the segments until then.

    When a device is lost, Flink starts its instances on the others, after `RECOVERY_S` without
    output. They do not return by themselves.
    """
    segments = []
    for until in [*trace.changes(state.step, end), end]:
        state = _recovered(job, trace, state)
        state, segment = _advance(job, trace, state, until)
        segments.append(segment)
    return state, segments


def restarted(
    state: JobState, deployment: Deployment, rng: np.random.Generator, gap_s: tuple[float, float]
) -> tuple[JobState, float]:
    """Return the state after the beginning of a restart elsewhere, and the downtime in seconds.

    The downtime, which is drawn from `gap_s`, ends when the restart does.
    """
    downtime_s = float(rng.uniform(*gap_s))
    ends_s = state.step * STEP_S + max(float(rng.uniform(*PREPARED_S)), downtime_s)
    down = (ends_s - downtime_s, ends_s)
    return replace(state, deployment=deployment, started_s=ends_s, down=down), downtime_s


def moved(job: SimulatedJob, deployment: Deployment, lost: Collection[str]) -> Deployment:
    """Return the deployment with the instances of lost devices on the others.

    Each goes to the device with the fewest instances per core; if all devices are lost, it stays.
    """
    cores = {name: count for name, count in job.cores.items() if name not in lost}
    on = [host for hosts in deployment.hosts.values() for host in hosts]
    count = {name: on.count(name) for name in cores}
    hosts: dict[str, tuple[str, ...]] = {}
    for name, before in deployment.hosts.items():
        now = list(before)
        for i, host in enumerate(before):
            if host in lost and cores:
                now[i] = min(cores, key=lambda d: (count[d] + 1) / cores[d])
                count[now[i]] += 1
        hosts[name] = tuple(now)
    return Deployment(hosts)


def _recovered(job: SimulatedJob, trace: Trace, state: JobState) -> JobState:
    lost = {name for name, speed in trace.speeds(state.step).items() if speed == 0.0}
    if not state.deployment.devices & lost:
        return state
    at_s = state.step * STEP_S
    return replace(
        state,
        deployment=moved(job, state.deployment, lost),
        started_s=at_s + RECOVERY_S,
        down=(at_s, at_s + RECOVERY_S),
    )


def _advance(
    job: SimulatedJob, trace: Trace, state: JobState, end: int
) -> tuple[JobState, Segment]:
    speeds = trace.speeds(state.step)
    down = any(speeds.get(device) == 0.0 for device in state.deployment.devices)
    slow = {name: speed for name, speed in speeds.items() if speed > 0.0}
    loads = job.loads(state.deployment, slow)
    at: Floats = np.arange(state.step, end, dtype=np.float64) * STEP_S
    begin_s, end_s = state.down
    gone_s = np.clip(np.minimum(at + STEP_S, end_s) - np.maximum(at, begin_s), 0.0, STEP_S)
    capacity = np.asarray(loads.capacity_s * (0.0 if down else 1.0) * (STEP_S - gone_s))
    offered = trace.rates[state.step : end] * STEP_S
    after, served = work_off(state.waiting, offered, capacity)
    segment = Segment(state.deployment, loads, offered, served, after, capacity)
    waiting = float(after[-1]) if len(after) else state.waiting
    return replace(state, step=end, waiting=waiting), segment
