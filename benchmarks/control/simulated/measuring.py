"""What a controller measures of a simulated job in a window, with noise, and what it costs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.control.simulated.job import Loads, SimulatedJob
from benchmarks.control.simulated.run import JobState, Segment
from benchmarks.control.simulated.trace import STEP_S, Trace
from streamplace.control.observation import Observation, Reading
from streamplace.util.arrays import Floats


def with_measured_costs(job: SimulatedJob, observation: Observation) -> SimulatedJob:
    """Return the job with measured seconds and tuples, where there are measurements.

    Busy instances that share a device with too few cores also wait for these: where the busy shares
    of the instances of a device sum to more than its cores, they count in proportion.
    """
    source = observation.readings.get(job.operators[0].name)
    if source is None or source.tuples_s <= 0.0:
        return job
    load = dict.fromkeys(job.cores, 0.0)
    for name, reading in observation.readings.items():
        for host in observation.hosts.get(name, ()):
            load[host] += reading.busy / job.cores[host]
    operators = []
    for operator in job.operators:
        reading = observation.readings.get(operator.name, source)
        if reading.tuples_s <= 0.0 or reading.busy <= 0.0:
            operators.append(operator)
            continue
        crowded = max([1.0, *(load[host] for host in observation.hosts.get(operator.name, ()))])
        core_s = reading.busy * reading.instances / crowded / reading.tuples_s
        tuples = reading.tuples_s / source.tuples_s
        operators.append(replace(operator, core_s=core_s, tuples=tuples))
    return SimulatedJob(tuple(operators), job.devices)


NOISE = 0.02  # standard deviation of the logarithm of a measured value
HIDDEN = 0.05  # share of the time with tuples waiting, from which on backpressure hides the rate


def observed(
    job: SimulatedJob,
    trace: Trace,
    state: JobState,
    segments: Sequence[Segment],
    rng: np.random.Generator,
) -> Observation:
    """Return the observation of a window.

    An instance is busy for its load. While tuples wait, the largest load is a whole instance or
    device, and the instances of such a device are as busy as if the heaviest one was busy all the
    time, because they wait for its cores. Operators before the one that is the limit are under
    backpressure while they are not busy.

    Parameters
    ----------
    state
        The state at the end of the window.
    segments
        What happened in it, at least one step. Only the last deployment is measured.
    """
    now = [each for each in segments if each.deployment == segments[-1].deployment]
    seconds = sum(len(each.served) for each in segments) * STEP_S
    steps = sum(len(each.served) for each in now)
    read_s = sum(float(each.served.sum()) for each in now) / (steps * STEP_S)
    busy = np.sum([busy_of(each) for each in now], axis=0) / steps
    full = sum(float(np.sum(each.waiting > 0.0)) for each in now) / steps
    loads, readings = now[-1].loads, {}
    limit = limit_of(loads)
    for v, operator in enumerate(job.operators):
        of = busy[loads.operator == v]
        pressed = full * (1.0 - float(of.mean())) if v < limit else 0.0
        busiest = min(1.0, float(of.max()) * _noise(rng))
        mean = min(busiest, float(of.mean()) * _noise(rng))
        tuples_s = read_s * operator.tuples * _noise(rng)
        readings[operator.name] = Reading(tuples_s, mean, busiest, pressed, len(of))
    all_read_s = sum(float(each.served.sum()) for each in segments) / seconds * _noise(rng)
    growth_s = sum(float((each.offered - each.served).sum()) for each in segments) / seconds
    hidden = trace.hides and full > HIDDEN
    lost = {name for name, speed in trace.speeds(max(state.step - 1, 0)).items() if speed == 0.0}
    return Observation(
        at_s=state.step * STEP_S,
        seconds=seconds,
        started_s=state.started_s,
        readings=readings,
        offered_s=max(all_read_s + (0.0 if trace.hides else growth_s), 0.0),
        waiting=None if trace.hides else state.waiting,
        devices=frozenset(job.cores) - lost,
        hosts=state.deployment.hosts,
        hidden="backpressure hides the offered rate" if hidden else "",
        read_s=all_read_s,
    )


def limit_of(loads: Loads) -> int:
    """Return the index of the operator whose instance is the limit, or is on the device that is."""
    if loads.own.max() >= loads.on_device.max():
        return int(loads.operator[np.argmax(loads.own)])
    on = loads.device == np.argmax(loads.on_device)
    return int(loads.operator[on][np.argmax(loads.own[on])])


def busy_of(segment: Segment) -> Floats:
    """Return the steps that each instance was busy in a segment, (I,)."""
    loads, share = segment.loads, segment.served / STEP_S
    full = segment.waiting > 0.0
    busy = loads.own * float(share[~full].sum())
    pressed = loads.own.copy()
    d = int(np.argmax(loads.on_device))
    if loads.on_device[d] > loads.own.max():
        on = loads.device == d
        pressed[on] *= loads.on_device[d] / pressed[on].max()
    return np.asarray(busy + pressed * float(share[full].sum()))


def _noise(rng: np.random.Generator) -> float:
    return float(np.exp(rng.normal(0.0, NOISE)))
