"""DS2 at the end of every window (Kalavri et al., OSDI 2018), with a target utilisation."""

from dataclasses import dataclass
from math import ceil

from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment
from streamplace.control.simulated.job import SimulatedJob
from streamplace.control.simulated.packing import packed

ROUNDING = 1e-9


@dataclass(frozen=True)
class Ds2:
    """The rule p = ⌈offered rate · tuples per source tuple / (true rate of an instance · target)⌉.

    The true rate of an instance is the tuples that it processes per second of useful time. It acts
    whenever a number changes. An operator that processed nothing keeps its number, and an unknown
    offered rate counts as what was read.
    """

    job: SimulatedJob
    target: float = 0.7

    def step(self, observation: Observation) -> Deployment | None:
        """Return the deployment of other numbers of instances, if any."""
        source = observation.readings.get(self.job.operators[0].name)
        if source is None or source.tuples_s <= 0.0 or not observation.devices:
            return None
        read_s = source.tuples_s
        rate_s = read_s if observation.offered_s is None else observation.offered_s
        counts = {}
        for operator in self.job.operators:
            reading = observation.readings[operator.name]
            counts[operator.name] = reading.instances
            if reading.tuples_s > 0.0 and reading.busy > 0.0:
                true_rate = reading.tuples_s / (reading.busy * reading.instances)
                needed = rate_s * reading.tuples_s / read_s / (true_rate * self.target)
                counts[operator.name] = min(max(1, ceil(needed - ROUNDING)), operator.most)
        if counts == observation.parallelism:
            return None
        return packed(self.job, counts, rate_s / self.target, observation.devices)

    def ended(self, begun_s: float, ended_s: float, downtime_s: float) -> None:
        """Do nothing: the rule has no memory."""
