"""The choice whether to carry out a plan: whether it pays, and catches up in time."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from streamplace.control.decisions import Action, State, change, lasting, rate, tuples
from streamplace.control.history import History
from streamplace.control.load import GROWING
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment, Plan, Planner
from streamplace.control.rules import Rules
from streamplace.display.text import number

TUPLES, MONEY = "tuples", "money"
ROUNDING = 1.0 + 1e-9


class Worth(NamedTuple):
    """The worth of a plan.

    Attributes
    ----------
    gain, price
        In `unit`, within `Rules.horizon_s`.
    text
        Both in words.
    """

    gain: float
    price: float
    unit: str
    text: str

    @property
    def pays(self) -> bool:
        """Whether the gain is above the price."""
        return self.gain > self.price


def planned_rate(rate_s: float, waiting: float, downtime_s: float, rules: Rules) -> float:
    """Return the rate to plan for, in tuples/s, so that what waits is worked off in time.

    As in Flink's autoscaler, a plan at the target utilisation U then has capacity for
    R / U + (W + R D) / C, with the rate R, the tuples W that wait, the downtime D, and the time C
    to catch up.
    """
    return rate_s + rules.target * (waiting + rate_s * downtime_s) / rules.catch_up_s


def catch_up_s(plan: Plan, rate_s: float, waiting: float, downtime_s: float) -> float:
    """Return the seconds after a restart until nothing waits; inf if the plan has no capacity."""
    spare_s = plan.carries_s - rate_s
    return (waiting + rate_s * downtime_s) / spare_s if spare_s > 0 else inf


def worth_of_more(
    observation: Observation,
    plan: Plan,
    served_s: float | None,
    downtime_s: float,
    rules: Rules,
    *,
    ahead_s: float = 0.0,
) -> Worth:
    """Return the worth of more capacity: the tuples that the plan carries, and what runs does not.

    Parameters
    ----------
    served_s
        Tuples per second that the job carried; None if unknown. Where that is less than is offered,
        the present deployment carries no more.
    ahead_s
        Tuples per second that will be offered on top at the end of the cool-down.
    """
    offered_s, now_s = observation.offered_s or 0.0, plan.now_carries_s
    price = offered_s * downtime_s
    if observation.hidden:  # what is carried now is the least that is offered
        gain = max(plan.carries_s - offered_s, 0.0) * rules.horizon_s
        text = (
            f"{rate(offered_s)} are carried, and more may be offered ({observation.hidden}), so up "
            f"to {tuples(gain)} are gained within {lasting(rules.horizon_s)}, and {tuples(price)} "
            f"are delayed by a restart of {lasting(downtime_s)}"
        )
        return Worth(gain, price, TUPLES, text)
    if served_s is not None and offered_s - served_s > GROWING * offered_s:
        now_s = min(now_s, served_s)
    gain = max(min(offered_s + ahead_s, plan.carries_s) - now_s, 0.0) * rules.horizon_s
    if now_s >= offered_s + ahead_s:
        text = f"all of the offered {rate(offered_s)} are carried, so only headroom is lost"
        return Worth(0.0, price, TUPLES, text)
    offered = f"the offered {rate(offered_s)}"
    if ahead_s:
        offered += f" and {rate(ahead_s)} more at the end of the cool-down"
    text = (
        f"{rate(now_s)} of {offered} are carried, so {tuples(gain)} are gained within "
        f"{lasting(rules.horizon_s)}, and {tuples(price)} are delayed by a restart of "
        f"{lasting(downtime_s)}"
    )
    return Worth(gain, price, TUPLES, text)


def worth_of_less(
    plan: Plan, rate_s: float, caught_up_s: float, downtime_s: float, rules: Rules
) -> Worth:
    """Return the worth of less capacity: the price of the machines that are no longer needed.

    Parameters
    ----------
    rate_s
        Offered tuples per second. All that arrive during the downtime and until nothing waits are
        delayed.
    caught_up_s
        The seconds of `catch_up_s`, finite.
    """
    freed_s = plan.now_price_s - plan.price_s
    delayed = rate_s * (downtime_s + caught_up_s)
    gain, price = freed_s * rules.horizon_s, delayed * rules.delayed_tuple_price
    text = (
        f"devices at a price of {number(freed_s)} per second are freed, {number(gain)} within "
        f"{lasting(rules.horizon_s)}, and {tuples(delayed)} are delayed, at {number(price)}"
    )
    return Worth(gain, price, MONEY, text)


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
    observation: Observation, history: History, planner: Planner, downtime_s: float, rules: Rules
) -> Choice:
    """Choose for a job that is overloaded or underused, by what its last windows have in common.

    Parameters
    ----------
    history
        The windows so far, of which the observation is the last one.
    downtime_s
        Seconds without output to expect of an action.
    """
    return _Choosing(observation, history, planner, downtime_s, rules).choice()


@dataclass(frozen=True)
class _Choosing:
    """What a choice depends on; see `more_or_less`."""

    observation: Observation
    history: History
    planner: Planner
    downtime_s: float
    rules: Rules

    def choice(self) -> Choice:
        aims = []
        for goal in self._goals():
            aims.append(self._aim(*goal))
            if aims[-1].until_s <= self.rules.catch_up_s * ROUNDING:
                return self._in_time(aims[-1])
        return (self._partial(aims[-1]) if self._is_more else None) or self._none(aims[0])

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
        ahead_s = min(self.observation.rise_s2 * self.rules.cool_down_s, self._rate_s)
        of_more = [(ahead_s, self._waiting), (0.0, self._waiting), (0.0, 0.0)]
        yield from dict.fromkeys(of_more if self._is_more else of_more[1:2])

    def _aim(self, ahead_s: float, waiting: float) -> _Aim:
        planned_s = planned_rate(self._rate_s, waiting, self.downtime_s, self.rules) + ahead_s
        plan, until_s = self.planner(self.observation, planned_s), inf
        if isinstance(plan, Plan):
            until_s = catch_up_s(plan, self._rate_s, waiting, self.downtime_s)
        return _Aim(plan, planned_s, ahead_s, waiting, until_s)

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
            worth = worth_of_less(plan, self._rate_s, aim.until_s, self.downtime_s, self.rules)
            return _if_it_pays(worth, plan, what)
        worth = self._worth_of_more(plan, aim.ahead_s)
        if not worth.gain:
            return Choice(Action.ADVISE, f"and {worth.text}; {what}", plan, worth)
        return _if_it_pays(worth, plan, what)

    def _partial(self, last: _Aim) -> Choice | None:
        """Return the choice of a plan that carries more of the rate, but not all of it in time.

        None if no plan carries more by what is no noise: plans that differ by less would replace
        each other.

        Parameters
        ----------
        last
            The aim that asked for least.
        """
        plan = self._most() if isinstance(last.plan, str) else last.plan
        if plan is None:
            return None
        worth, carried_s = self._worth_of_more(plan), min(plan.carries_s, self._rate_s)
        if worth.gain <= GROWING * carried_s * self.rules.horizon_s:
            return None
        what = f"{self._what(plan)}, which carries {rate(plan.carries_s)}"
        if plan.carries_s > self._rate_s:
            what += f" and {self._late()}"
        else:
            what += f", and no plan carries all{f': {last.plan}' if last.plan != plan else ''}"
        what += self._slow_checkpoint()
        return _if_it_pays(worth, plan, what, is_enough=False)

    def _most(self) -> Plan | None:
        """Return the plan that carries most of the rate, found by halving; None if there is none.

        The search ends where the rest is noise.
        """
        best: Plan | None = None
        low_s, high_s = max(self.history.served_s or 0.0, GROWING * self._rate_s), self._rate_s
        while high_s > low_s * (1.0 + GROWING):
            middle_s = (low_s + high_s) / 2
            plan = self.planner(self.observation, middle_s)
            if isinstance(plan, str):
                high_s = middle_s
                continue
            low_s = max(middle_s, plan.carries_s)
            if best is None or plan.carries_s > best.carries_s:
                best = plan
        return best

    def _none(self, aim: _Aim) -> Choice:
        """Return the choice to do nothing, since no plan carries more, or enough."""
        if isinstance(plan := aim.plan, Plan):
            carries = f"but {self._what(plan)}, which carries {rate(plan.carries_s)}"
            return Choice(Action.NOTHING, f"{carries} and {self._late()}", plan)
        text = (
            f"but there is no plan for {rate(aim.planned_s)} ({rate(self._rate_s)} arrive, and "
            f"what waits is worked off within {lasting(self.rules.catch_up_s)}): {plan}"
        )
        return Choice(Action.NOTHING, text)

    def _worth_of_more(self, plan: Plan, ahead_s: float = 0.0) -> Worth:
        served_s = self.history.served_s
        return worth_of_more(
            self.observation, plan, served_s, self.downtime_s, self.rules, ahead_s=ahead_s
        )

    def _what(self, plan: Plan) -> str:
        return f"the plan is {change(Deployment(self.observation.hosts), plan.deployment)}"

    def _late(self) -> str:
        return (
            f"would not work off within {lasting(self.rules.catch_up_s)} what waits after a "
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
