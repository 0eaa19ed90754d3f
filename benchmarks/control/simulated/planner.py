"""A planner for simulated jobs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import ceil, inf

from benchmarks.control.simulated.job import SimulatedJob
from benchmarks.control.simulated.measuring import with_measured_costs
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment, Plan
from streamplace.problem.cluster import Device


@dataclass(frozen=True)
class SimplePlanner:
    """A planner that chooses the smallest counts for a rate, and the fewest devices for them.

    Parameters
    ----------
    job
        Its operators' costs count where none are measured.
    target
        Utilisation that plans aim at.
    most_scale_down
        Largest share of the instances of an operator that a plan removes.
    machine_price
        Price of a second of a device.
    measures
        Whether measured costs replace those of the job.
    """

    job: SimulatedJob
    target: float
    most_scale_down: float = 1.0
    machine_price: float = 1.0
    measures: bool = True

    def __call__(self, observation: Observation, rate_s: float, seconds: float = inf) -> Plan | str:
        """Return a plan for an offered rate, or why there is none, in words."""
        usable = [each.name for each in self.job.devices if each.name in observation.devices]
        if not usable:
            return "no device is there"
        job = with_measured_costs(self.job, observation) if self.measures else self.job
        needed_s = rate_s / self.target
        counts = self._at_least(counts_for(job, needed_s), observation.parallelism)
        deployment = packed(job, counts, needed_s, usable)
        now = Deployment(observation.hosts)
        return Plan(
            deployment,
            rate_s,
            job.loads(deployment).capacity_s,
            _carries(job, now),
            len(deployment.devices) * self.machine_price,
            len(now.devices) * self.machine_price,
        )

    def _at_least(self, counts: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
        kept = 1.0 - self.most_scale_down
        return {n: max(count, ceil(now.get(n, 0) * kept - 1e-9)) for n, count in counts.items()}


def _carries(job: SimulatedJob, deployment: Deployment) -> float:
    """Return the tuples per second that a deployment sustains; 0 if an operator does not run."""
    if not all(deployment.hosts.get(each.name) for each in job.operators):
        return 0.0
    return job.loads(deployment).capacity_s


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
