"""The choice whether to carry out a plan: whether it pays, and catches up in time."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, sqrt

from streamplace.control.decisions import Action, State, change, lasting, rate
from streamplace.control.history import History
from streamplace.control.load import GROWING
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment, Plan, Planner
from streamplace.control.settings import ControllerSettings
from streamplace.control.worth import (
    Worth,
    catch_up_s,
    planned_rate,
    worth_of_less,
    worth_of_more,
)
from streamplace.placers.budget import Budget

ROUNDING = 1.0 + 1e-9  # a plan for just the time to catch up is in time, whatever the rounding
# Of all searches for a plan at most, the latter of a window, so that the next one is not missed.
SECONDS, OF_WINDOW = 40.0, 0.5
# Of the time that is left, for one search: one that finds nothing leaves time for lower rates.
OF_LEFT = 0.25
LEAST = 1e-6  # of a rate, below which no plan is looked for: halving by ratio never gets to 0


@dataclass(frozen=True)
class Choice:
    """A plan and what to do with it.

    Parameters
    ----------
    reason
        Why, in words that continue a sentence.
    plan, worth
        None if there is no plan, or none that is worth anything.
    is_enough
        Whether the plan carries all that is offered, and what waits in time.
    """

    action: Action
    reason: str
    plan: Plan | None = None
    worth: Worth | None = None
    is_enough: bool = True


@dataclass(frozen=True)
class _Aim:
    """A plan for a rate at which some of what waits is worked off in time.

    Parameters
    ----------
    plan
        The plan, or why there is none.
    planned_s
        The rate of the plan in tuples/s.
    ahead_s
        The part of it that does not arrive yet, but will at the end of the cool-down.
    waiting
        Tuples that wait now and are to be worked off in time.
    until_s
        Seconds after a restart until they are, and those of the restart; inf without a plan.
    """

    plan: Plan | str
    planned_s: float
    ahead_s: float
    waiting: float
    until_s: float


def more_or_less(
    observation: Observation,
    history: History,
    planner: Planner,
    downtime_s: float,
    settings: ControllerSettings,
) -> Choice:
    """Choose for a job that is overloaded or underused, by what its last windows have in common.

    Parameters
    ----------
    history
        The windows so far, of which the observation is the last one.
    downtime_s
        Seconds without output to expect of an action.
    """
    budget = Budget(min(SECONDS, OF_WINDOW * settings.window_s))
    return _Choosing(observation, history, planner, downtime_s, settings, budget).choice()


@dataclass(frozen=True)
class _Choosing:
    """What a choice depends on; see `more_or_less`.

    Parameters
    ----------
    budget
        The time for all searches, so that the next window is not missed.
    """

    observation: Observation
    history: History
    planner: Planner
    downtime_s: float
    settings: ControllerSettings
    budget: Budget

    def choice(self) -> Choice:
        aims = []
        for goal in self._goals():
            aims.append(self._aim(*goal))
            if aims[-1].until_s <= self.settings.catch_up_s * ROUNDING:
                return self._in_time(aims[-1])
        partial = self._partial(aims[-1]) if self._is_more else ""
        return self._none(aims[0], partial) if isinstance(partial, str) else partial

    @property
    def _is_more(self) -> bool:
        return self.history.state is State.OVERLOADED

    @property
    def _rate_s(self) -> float:
        offered_s = self.observation.offered_s or 0.0
        return offered_s if self._is_more else self.history.largest_rate_s

    @property
    def _waiting(self) -> float:
        return self.observation.waiting or 0.0

    def _goals(self) -> Iterator[tuple[float, float]]:
        """Yield the tuples/s ahead and the waiting tuples of each aim, the best aim first.

        Neither what may come nor what waits already is a reason to leave a job overloaded.
        """
        ahead_s = min(self.observation.rise_s2 * self.settings.cool_down_s, self._rate_s)
        of_more = [(ahead_s, self._waiting), (0.0, self._waiting), (0.0, 0.0)]
        yield from dict.fromkeys(of_more if self._is_more else of_more[1:2])

    def _aim(self, ahead_s: float, waiting: float) -> _Aim:
        planned_s = planned_rate(self._rate_s, waiting, self.downtime_s, self.settings) + ahead_s
        plan, until_s = self._plan(planned_s), inf
        if isinstance(plan, Plan):
            until_s = catch_up_s(plan, self._rate_s, waiting, self.downtime_s)
        return _Aim(plan, planned_s, ahead_s, waiting, until_s)

    def _plan(self, rate_s: float) -> Plan | str:
        """Return a plan for a rate, or why there is none: also that no time is left for it."""
        if self.budget.seconds_left() <= 0:
            return f"the time for plans, {self._limit}, is over"
        return self.planner(self.observation, rate_s, self.budget.share(OF_LEFT).seconds_left())

    @property
    def _limit(self) -> str:
        return lasting(self.budget.seconds or 0.0)

    def _in_time(self, aim: _Aim) -> Choice:
        """Return the choice of a plan that carries all, if that pays."""
        plan = aim.plan
        assert isinstance(plan, Plan), "without a plan, nothing is in time"
        what = self._what(plan)
        if aim.ahead_s:
            what += f", for {rate(self._rate_s + aim.ahead_s)}, since the rate rises on"
        if aim.waiting < self._waiting:
            until_s = catch_up_s(plan, self._rate_s, self._waiting, self.downtime_s)
            what += f", which works off what waits within {lasting(until_s)} only"
        what += self._slow_checkpoint()
        if not self._is_more:
            worth = worth_of_less(plan, self._rate_s, aim.until_s, self.downtime_s, self.settings)
            return _if_it_pays(worth, plan, what)
        worth = self._worth_of_more(plan, aim.ahead_s)
        # Only headroom is lost, for which no job is restarted.
        if not worth.gain:
            return Choice(Action.ADVISE, f"and {worth.text}; {what}", plan, worth)
        return _if_it_pays(worth, plan, what)

    def _partial(self, last: _Aim) -> Choice | str:
        """Return the choice of a plan that carries more of the rate, but not all of it in time.

        Without such a plan, return for which lower rates there is none, in words; empty if one
        carries more, but by what is noise: plans that differ by less would replace each other.

        Parameters
        ----------
        last
            The aim that asked for least.
        """
        plan = self._most() if isinstance(last.plan, str) else last.plan
        if plan is None:
            return self._none_for_less()
        worth, carried_s = self._worth_of_more(plan), min(plan.carries_s, self._rate_s)
        # Plans that differ by noise would replace each other in every window.
        if worth.gain <= GROWING * carried_s * self.settings.horizon_s:
            return ""
        what = f"{self._what(plan)}, which carries {rate(plan.carries_s)}"
        if plan.carries_s * ROUNDING >= self._rate_s:
            what += f" and {self._late()}"
        else:
            what += f", and no plan carries all{f': {last.plan}' if last.plan != plan else ''}"
        what += self._slow_checkpoint()
        return _if_it_pays(worth, plan, what, is_enough=False)

    @property
    def _served_s(self) -> float:
        return self.history.served_s or 0.0

    @property
    def _lowest_s(self) -> float:
        """The rate above which plans are looked for, where none carries all."""
        return max(self._served_s, LEAST * self._rate_s)

    def _most(self) -> Plan | None:
        """Return the plan that carries most of the rate; None if none carries more than now.

        It is found by halving an interval, geometrically: a job may be overloaded a thousand times.
        The search ends where the rest is noise.
        """
        best: Plan | None = None
        low_s, high_s = self._lowest_s, self._rate_s
        while high_s > low_s * (1.0 + GROWING):
            middle_s = sqrt(low_s * high_s)
            plan = self._plan(middle_s)
            if isinstance(plan, str):
                high_s = middle_s
                continue
            low_s = max(middle_s, plan.carries_s)
            if best is None or plan.carries_s > best.carries_s:
                best = plan
        return best

    def _none_for_less(self) -> str:
        """Return for which lower rates there is no plan either, in words."""
        if self.budget.seconds_left() <= 0:
            return f", nor was one for less found within the {self._limit} for plans"
        if self._rate_s <= self._lowest_s * (1.0 + GROWING):
            return ""  # none was looked for
        return (
            f", nor for {GROWING:.0%} more than the {rate(self._served_s)} that are carried"
            if self._served_s
            else ", nor for any lower rate"
        )

    def _none(self, aim: _Aim, nor: str) -> Choice:
        """Return the choice to do nothing, since no plan carries more, or enough.

        Parameters
        ----------
        nor
            For which lower rates there is none either, in words.
        """
        if isinstance(plan := aim.plan, Plan):
            carries = f"but {self._what(plan)}, which carries {rate(plan.carries_s)}"
            return Choice(Action.NOTHING, f"{carries} and {self._late()}", plan)
        text = (
            f"but there is no plan for {rate(aim.planned_s)} ({rate(self._rate_s)} arrive, and "
            f"what waits is worked off within {lasting(self.settings.catch_up_s)}){nor}: {plan}"
        )
        return Choice(Action.NOTHING, text)

    def _worth_of_more(self, plan: Plan, ahead_s: float = 0.0) -> Worth:
        served_s = self.history.served_s
        return worth_of_more(
            self.observation, plan, served_s, self.downtime_s, self.settings, ahead_s=ahead_s
        )

    def _what(self, plan: Plan) -> str:
        return f"the plan is {change(Deployment(self.observation.hosts), plan.deployment)}"

    def _late(self) -> str:
        return (
            f"would not work off within {lasting(self.settings.catch_up_s)} what waits after a "
            f"restart at {rate(self._rate_s)}; add devices, or raise --catch-up"
        )

    def _slow_checkpoint(self) -> str:
        took_s = self.observation.checkpoint_s or 0.0
        if took_s <= self.downtime_s:
            return ""
        return (
            f"; the last checkpoint took {lasting(took_s)}, and a change may wait as long for one"
        )


def _if_it_pays(worth: Worth, plan: Plan, what: str, *, is_enough: bool = True) -> Choice:
    """Return the choice to carry out a plan if it pays, and to do nothing otherwise."""
    if worth.pays:
        return Choice(Action.ACT, f"and {worth.text}; {what}", plan, worth, is_enough)
    reason = f"but {worth.text}, which does not pay; {what}"
    return Choice(Action.NOTHING, reason, plan, worth, is_enough)
