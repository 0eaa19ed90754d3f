"""The interface of rules, and the rule that never acts."""

from typing import Protocol

from streamplace.control.decisions import Action, Decision, Outcome
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment


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
