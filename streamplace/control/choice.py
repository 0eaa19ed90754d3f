"""The choice whether to carry out a plan: whether it pays, and catches up in time."""

from dataclasses import dataclass
from itertools import chain
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
    """Return the worth of more capacity: the tuples that the present deployment does not carry.

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
    short_s = max(offered_s + ahead_s - now_s, 0.0)
    gain = short_s * rules.horizon_s
    if not short_s:
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


ROUNDING = 1.0 + 1e-9


@dataclass(frozen=True)
class Choice:
    """A plan and what to do with it.

    Parameters
    ----------
    reason
        Why, in words that continue a sentence.
    plan, worth
        None if there is no plan, or none that catches up in time.
    """

    action: Action
    reason: str
    plan: Plan | None = None
    worth: Worth | None = None


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

    def is_in_time(self, rules: Rules) -> bool:
        """Return whether the plan catches up in time."""
        return self.until_s <= rules.catch_up_s * ROUNDING


def _aim(
    observation: Observation,
    planner: Planner,
    rate_s: float,
    ahead_s: float,
    waiting: float,
    downtime_s: float,
    rules: Rules,
) -> _Aim:
    planned_s = planned_rate(rate_s, waiting, downtime_s, rules) + ahead_s
    plan = planner(observation, planned_s)
    until_s = inf if isinstance(plan, str) else catch_up_s(plan, rate_s, waiting, downtime_s)
    return _Aim(plan, planned_s, ahead_s, waiting, until_s)


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
    is_more = history.state is State.OVERLOADED
    rate_s = (observation.offered_s or 0.0) if is_more else history.largest_rate_s
    waiting = observation.waiting or 0.0
    goals = {(0.0, waiting): None}
    if is_more:
        # Neither what may come nor what waits already is a reason to leave a job overloaded.
        ahead_s = min(observation.rise_s2 * rules.cool_down_s, rate_s)
        goals = dict.fromkeys([(ahead_s, waiting), (0.0, waiting), (0.0, 0.0)])
    aims = (_aim(observation, planner, rate_s, *each, downtime_s, rules) for each in goals)
    first = next(aims)
    aim = next((each for each in chain([first], aims) if each.is_in_time(rules)), first)
    plan = aim.plan
    if isinstance(plan, str):
        text = (
            f"but there is no plan for {rate(aim.planned_s)} ({rate(rate_s)} arrive, and what "
            f"waits is worked off within {lasting(rules.catch_up_s)}): {plan}"
        )
        return Choice(Action.NOTHING, text)
    what = f"the plan is {change(Deployment(observation.hosts), plan.deployment)}"
    if not aim.is_in_time(rules):
        late = (
            f"but {what}, which carries {rate(plan.carries_s)} and would not work off within "
            f"{lasting(rules.catch_up_s)} what waits after a restart at {rate(rate_s)}; "
            "add devices, or raise --catch-up"
        )
        return Choice(Action.NOTHING, late, plan)
    if aim.ahead_s:
        what += f", for {rate(rate_s + aim.ahead_s)}, since the rate rises on"
    if aim.waiting < waiting:
        until_s = catch_up_s(plan, rate_s, waiting, downtime_s)
        what += f", which works off what waits within {lasting(until_s)} only"
    took_s = observation.checkpoint_s or 0.0
    if took_s > downtime_s:
        what += (
            f"; the last checkpoint took {lasting(took_s)}, and a change may wait as long for one"
        )
    if is_more:
        served_s, ahead_s = history.served_s, aim.ahead_s
        worth = worth_of_more(observation, plan, served_s, downtime_s, rules, ahead_s=ahead_s)
    else:
        worth = worth_of_less(plan, rate_s, aim.until_s, downtime_s, rules)
    if is_more and not worth.gain:
        return Choice(Action.ADVISE, f"and {worth.text}; {what}", plan, worth)
    if worth.pays:
        return Choice(Action.ACT, f"and {worth.text}; {what}", plan, worth)
    return Choice(Action.NOTHING, f"but {worth.text}, which does not pay; {what}", plan, worth)
