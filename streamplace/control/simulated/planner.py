"""A planner for simulated jobs."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment, Plan
from streamplace.control.simulated.job import SimulatedJob
from streamplace.control.simulated.measuring import with_measured_costs
from streamplace.control.simulated.packing import counts_for, packed


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

    def __call__(self, observation: Observation, rate_s: float) -> Plan | str:
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
