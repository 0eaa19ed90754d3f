"""The controller: what to do at the end of each window of measurements."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from streamplace.control.attempts import Attempt, PastActions, Verdict, verdict_of
from streamplace.control.choice import ROUNDING, Choice, more_or_less
from streamplace.control.decisions import Action, Decision, Outcome, State, clock, lasting, rate
from streamplace.control.history import History, fault_of, not_running
from streamplace.control.load import Load
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment, Plan, Planner
from streamplace.control.settings import ControllerSettings
from streamplace.errors import FormatError, UsageError

VERSION = 1
MORE_SLOTS = "more slots"  # what is blocked after a refusal, beside its plan


class Controller:
    """What is decided at the end of one window after another.

    It has no clock and carries nothing out: the time is that of the observations, and the caller
    calls `began` before the first step of an action and `ended` after the last one. Rollbacks are
    actions, too: they count, and wait for the cool-down and for the budgets.

    Parameters
    ----------
    planner
        The source of plans.
    chooses_devices
        Whether actions can choose the devices of instances. If not, deployments with the same
        numbers of instances are the same.
    """

    def __init__(
        self, settings: ControllerSettings, planner: Planner, *, chooses_devices: bool = True
    ) -> None:
        self._settings, self._planner = settings, planner
        self._chooses_devices = chooses_devices
        self._past, self._history = PastActions(settings), History(settings)
        self._proposed: Attempt | None = None
        self._attempt: Attempt | None = None

    def step(self, observation: Observation) -> Decision:
        """Return what to do at the end of a window."""
        decision = self._decided(observation)
        kept = [
            f"; {name} is kept as it is, since its {metric} is missing"
            for name, metric in sorted(observation.not_timed.items())
        ]
        return replace(decision, why="".join([decision.why, *kept]))

    def _decided(self, observation: Observation) -> Decision:
        self._proposed = None
        if unusable := self._unusable(observation):
            self._history.skip(observation)
            return self._nothing(observation, *unusable)
        load = self._history.add(observation)
        if verdict := self._verdict(observation):
            return self._after_worse(observation, verdict)
        if load.state in (State.STEADY, State.LAGGING):
            return self._nothing(observation, load.state, load.reason)
        if early := self._too_early(observation, load):
            return self._nothing(observation, load.state, f"{load.reason}, {early}")
        if forbidden := self._forbidden(observation, load.is_sure):
            state, why = forbidden
            return self._nothing(observation, state, f"{load.reason}, but {why}")
        choice = more_or_less(
            observation, self._history, self._planned, self._past.downtime_s, self._settings
        )
        return self._chosen(observation, load.state, load.reason, choice)

    def began(self, decision: Decision, at_s: float) -> None:
        """Take note that the last decision is being carried out.

        Parameters
        ----------
        at_s
            Seconds since 1970.

        Raises
        ------
        UsageError
            If the last decision was another one, or not to act.
        """
        proposed = self._proposed
        if proposed is None or decision.action is not Action.ACT or decision.plan != proposed.plan:
            raise UsageError("began: the decision is not the last one, or is not to act")
        self._past.begin(at_s)
        if proposed.is_rollback and self._attempt is not None:
            self._past.block(self._key(self._attempt.plan.deployment), at_s, self._settings.block_s)
        self._attempt, self._proposed = replace(proposed, begun_s=at_s), None

    def ended(self, outcome: Outcome) -> None:
        """Take note of how the action ended.

        Raises
        ------
        UsageError
            If no action is under way.
        """
        attempt = self._attempt
        if attempt is None or not attempt.is_under_way:
            raise UsageError("ended: no action is under way")
        self._past.end(outcome.at_s, outcome.downtime_s)
        self._attempt = None
        if not outcome.succeeded:
            key, seconds = self._key(attempt.plan.deployment), outcome.blocks_s(self._settings)
            self._past.block(key, outcome.at_s, seconds)
            if not outcome.changed:
                self._past.block(MORE_SLOTS, outcome.at_s, seconds)
        elif not attempt.is_rollback and attempt.served_s is not None:
            self._attempt = replace(attempt, ended_s=outcome.at_s)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as a JSON value."""
        attempts = {"proposed": self._proposed, "attempt": self._attempt}
        return {
            "version": VERSION,
            "budget": self._past.to_dict(),
            "history": self._history.to_dict(),
            **{k: None if each is None else each.to_dict() for k, each in attempts.items()},
        }

    def restore(self, value: Mapping[str, Any]) -> None:
        """Go on from a state; see `to_dict`.

        Raises
        ------
        FormatError
            If another version wrote the state, or it is not one.
        """
        if value.get("version") != VERSION:
            raise FormatError(
                f"state of the controller: version {value.get('version')!r:.40} is unknown; "
                f"this streamplace reads version {VERSION}"
            )
        try:
            self._past.restore(value["budget"])
            self._history.restore(value["history"])
            attempts = [value[name] for name in ("proposed", "attempt")]
            self._proposed, self._attempt = (
                None if each is None else Attempt.from_dict(each) for each in attempts
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(f"state of the controller: {error!r:.200} is wrong") from None

    def _unusable(self, observation: Observation) -> tuple[State, str] | None:
        """Return why a window cannot be used, in words; None if it can."""
        attempt, stabilisation_s = self._attempt, self._settings.stabilisation_s
        # Actions and recoveries explain odd measurements, so that they come before faults of these.
        if attempt is not None and attempt.is_under_way:
            return State.STARTING, f"an action began at {clock(attempt.begun_s or 0.0)}"
        if waiting := not_running(observation):
            return State.RECOVERING, waiting
        if fault := fault_of(observation, self._history.last_s):
            return State.BLIND, fault
        stable_s = max(observation.started_s, self._past.last_s) + stabilisation_s
        if observation.begin_s < stable_s:
            acted = self._past.last_s > observation.started_s
            return State.STABILISING, (
                f"the window began before {clock(stable_s)}, {lasting(stabilisation_s)} after the "
                f"last {'action' if acted else 'start of the job'}"
            )
        return None

    def _planned(self, observation: Observation, rate_s: float, seconds: float) -> Plan | str:
        """Return a plan; see `Planner`.

        Slots may come when they are asked for, so plans need not make do with those that are there.
        After a refusal they must, also where they have grown since. Labels limit slots otherwise.
        """
        if self._chooses_devices or not self._past.blocked(MORE_SLOTS, observation.at_s):
            observation = replace(observation, free_slots=None)
        return self._planner(observation, rate_s, seconds)

    def _too_early(self, observation: Observation, load: Load) -> str:
        """Return for how long a load must last before anything is done; empty once it has."""
        history, settings = self._history, self._settings
        if load.is_sure:
            return ""
        if history.count < settings.agreeing:
            return f"in {history.count} of the {settings.agreeing} windows in a row that must agree"
        lasted_s = observation.at_s - history.since_s
        if load.state is State.UNDERUSED and lasted_s < settings.scale_down_after_s:
            return f"for {lasting(lasted_s)} of {lasting(settings.scale_down_after_s)}"
        return ""

    def _forbidden(
        self, observation: Observation, is_sure: bool = False
    ) -> tuple[State, str] | None:
        """Return why no action is allowed now, in words; None if one is.

        A load that is sure does not wait for the cool-down: the last action was not enough. A plan
        that is not enough either waits, so that it is not replaced in every window.
        """
        if not is_sure and (why := self._past.cooling(observation.at_s)):
            return State.COOLING_DOWN, why
        if why := self._past.spent(observation.at_s):
            return self._history.state, why
        return None

    def _chosen(
        self, observation: Observation, state: State, reason: str, choice: Choice
    ) -> Decision:
        """Return the decision for a choice, unless its plan is what runs already or blocked."""
        now, plan, worth = Deployment(observation.hosts), choice.plan, choice.worth
        if plan is None:
            return self._nothing(observation, state, f"{reason}, {choice.reason}")
        if self._key(plan.deployment) == self._key(now):
            return self._nothing(observation, state, f"{reason}, but the plan is what runs already")
        if state is State.OVERLOADED and worth and plan.carries_s <= plan.now_carries_s * ROUNDING:
            none = f"but no plan carries more than the {rate(plan.now_carries_s)} of what runs"
            return self._nothing(observation, state, f"{reason}, {none}")
        action, why = choice.action, choice.reason
        if not choice.is_enough and (cooling := self._past.cooling(observation.at_s)):
            why = f"{choice.reason}, but {cooling}"
            return self._nothing(observation, State.COOLING_DOWN, f"{reason}, {why}")
        blocked = self._past.blocked(self._key(plan.deployment), observation.at_s)
        if action is Action.ACT and blocked:
            action, why = Action.NOTHING, f"{why}, but {blocked}"
        if action is Action.ACT:
            self._proposed = Attempt(now, plan, self._history.served_s)
        known = () if worth is None else (worth.gain, worth.price, worth.unit)
        return Decision(observation.at_s, state, action, f"{reason}, {why}", plan, *known)

    def _verdict(self, observation: Observation) -> Verdict | None:
        """Return what speaks against the last action; None if nothing does."""
        if self._attempt is None or not self._attempt.is_on_trial:
            return None
        verdict = verdict_of(self._attempt, observation, self._history.served_s, self._settings)
        self._attempt = None if verdict is None else verdict.attempt
        return verdict

    def _after_worse(self, observation: Observation, verdict: Verdict) -> Decision:
        """Return the decision after an action that made the job worse, as far as is known."""
        if not verdict.rolls_back:
            state = State.ROLLING_BACK if verdict.attempt.worse else self._history.state
            return self._nothing(observation, state, verdict.reason)
        attempt, at_s = verdict.attempt, observation.at_s
        if gone := sorted(attempt.before.devices - observation.devices):
            why = f"but {gone[0]} is gone, on which the job ran before"
        elif why := self._past.blocked(self._key(attempt.before), at_s):
            why = f"but {why}"
        else:
            if forbidden := self._forbidden(observation):
                why = f"{verdict.reason}, but {forbidden[1]}"
                return self._nothing(observation, State.ROLLING_BACK, why)
            now = Deployment(observation.hosts)
            plan = attempt.plan.undone(attempt.before)
            self._proposed = Attempt(now, plan, self._history.served_s, is_rollback=True)
            text = f"{verdict.reason}, so the job goes back to what ran before"
            return Decision(at_s, State.ROLLING_BACK, Action.ACT, text, plan)
        self._past.block(self._key(attempt.plan.deployment), at_s, self._settings.block_s)
        self._attempt = None
        return self._nothing(observation, State.ROLLING_BACK, f"{verdict.reason}, {why}")

    def _nothing(self, observation: Observation, state: State, reason: str) -> Decision:
        return Decision(observation.at_s, state, Action.NOTHING, reason)

    def _key(self, deployment: Deployment) -> str:
        """Return a text that is equal for deployments that actions cannot tell apart."""
        return deployment.key if self._chooses_devices else deployment.numbers_key
