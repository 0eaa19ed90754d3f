"""The interface of rules, DS2, the rule that never acts, and the controller as a rule."""

from dataclasses import dataclass
from math import ceil
from typing import Protocol

from benchmarks.control.simulated.job import SimulatedJob
from benchmarks.control.simulated.planner import packed
from streamplace.control.decisions import Action, Decision, Outcome
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment

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


class Rule(Protocol):
    """A rule that is asked at the end of each window."""

    def step(self, observation: Observation) -> Deployment | None:
        """Return where the job is to be restarted; None: nothing is done."""
        ...

    def ended(self, begun_s: float, ended_s: float, downtime_s: float) -> None:
        """Take note of the restart that the last step asked for; all times are in seconds."""
        ...


class Never:
    """The rule that does nothing."""

    def step(self, observation: Observation) -> Deployment | None:
        """Return None."""
        return None

    def ended(self, begun_s: float, ended_s: float, downtime_s: float) -> None:
        """Do nothing."""


class Deciding(Protocol):
    """What `Controller` has."""

    def step(self, observation: Observation) -> Decision:
        """Return what to do at the end of a window."""
        ...

    def began(self, decision: Decision, at_s: float) -> None:
        """Take note that the last decision is being carried out."""
        ...

    def ended(self, outcome: Outcome) -> None:
        """Take note of how the action ended."""
        ...


class Controlled:
    """A controller as a rule, whose decisions to act are carried out.

    Attributes
    ----------
    reasons
        The reasons of its decisions, one per window.
    """

    def __init__(self, controller: Deciding) -> None:
        self._controller = controller
        self._decision: Decision | None = None
        self.reasons: list[str] = []

    def step(self, observation: Observation) -> Deployment | None:
        """Return the deployment of the controller's plan if it decides to act."""
        self._decision = self._controller.step(observation)
        self.reasons.append(self._decision.reason)
        if self._decision.action is not Action.ACT or self._decision.plan is None:
            return None
        return self._decision.plan.deployment

    def ended(self, begun_s: float, ended_s: float, downtime_s: float) -> None:
        """Let the controller take note of the restart."""
        if self._decision is not None:
            self._controller.began(self._decision, begun_s)
            self._controller.ended(Outcome(ended_s, True, downtime_s))
