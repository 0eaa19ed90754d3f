"""Costs of operators as measured, without what they only wait for cores."""

from dataclasses import replace

from streamplace.control.observation import Observation
from streamplace.control.simulated.job import SimulatedJob


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
