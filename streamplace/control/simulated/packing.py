"""Numbers of instances as deployments on few devices."""

from collections.abc import Collection, Mapping
from math import ceil

from streamplace.control.plans import Deployment
from streamplace.control.simulated.job import SimulatedJob
from streamplace.problem.cluster import Device


def packed(
    job: SimulatedJob, counts: Mapping[str, int], rate_s: float, devices: Collection[str]
) -> Deployment:
    """Return a deployment of the counts on the fewest devices that carry the rate; else on all.

    Devices are used in the order of the job. The instances, the largest first, go to the device on
    which they leave the lowest utilisation.

    Parameters
    ----------
    rate_s
        Tuples per second at the source for which there must be cores, including headroom.
    devices
        The devices that are there, at least one.
    """
    usable = [device for device in job.devices if device.name in devices]
    found = None
    for count in range(1, len(usable) + 1):
        found = _spread(job, counts, usable[:count])
        if job.loads(found).capacity_s >= rate_s * (1 - 1e-9):
            break
    if found is None:
        raise ValueError("devices: must be at least one of the job's")
    return found


def counts_for(job: SimulatedJob, rate_s: float) -> dict[str, int]:
    """Return the smallest numbers of instances of which each needs at most a core, by operator."""
    needed = {each.name: rate_s * each.tuples * each.core_s for each in job.operators}
    return {
        each.name: min(max(1, ceil(needed[each.name] - 1e-9)), each.most) for each in job.operators
    }


def _spread(job: SimulatedJob, counts: Mapping[str, int], devices: list[Device]) -> Deployment:
    used = {device.name: 0.0 for device in devices}
    cores = {device.name: float(device.cores) for device in devices}
    hosts: dict[str, list[str]] = {each.name: [] for each in job.operators}
    work = {each.name: each.core_s * each.tuples / counts[each.name] for each in job.operators}
    for name in sorted(work, key=lambda each: -work[each]):
        for _ in range(counts[name]):
            best = min(used, key=lambda d: (used[d] + work[name]) / cores[d])
            used[best] += work[name]
            hosts[name].append(best)
    return Deployment({name: tuple(on) for name, on in hosts.items()})
