"""The worth of plans: what they gain within a horizon, and what a restart delays."""

from math import inf
from typing import NamedTuple

from streamplace.control.decisions import lasting, rate, tuples
from streamplace.control.load import GROWING
from streamplace.control.observation import Observation
from streamplace.control.plans import Plan
from streamplace.control.settings import ControllerSettings
from streamplace.display.text import number

TUPLES, MONEY = "tuples", "money"


class Worth(NamedTuple):
    """The worth of a plan.

    Attributes
    ----------
    gain, price
        In `unit`, within `ControllerSettings.horizon_s`.
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


def planned_rate(
    rate_s: float, waiting: float, downtime_s: float, settings: ControllerSettings
) -> float:
    """Return the rate to plan for, in tuples/s, so that what waits is worked off in time.

    As in Flink's autoscaler, a plan at the target utilisation U then has capacity for
    R / U + (W + R D) / C, with the rate R, the tuples W that wait, the downtime D, and the time C
    to catch up.
    """
    return rate_s + settings.target * (waiting + rate_s * downtime_s) / settings.catch_up_s


def catch_up_s(plan: Plan, rate_s: float, waiting: float, downtime_s: float) -> float:
    """Return the seconds after a restart until nothing waits; inf if the plan has no capacity."""
    spare_s = plan.carries_s - rate_s
    return (waiting + rate_s * downtime_s) / spare_s if spare_s > 0 else inf


def worth_of_more(
    observation: Observation,
    plan: Plan,
    served_s: float | None,
    downtime_s: float,
    settings: ControllerSettings,
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
        gain = max(plan.carries_s - offered_s, 0.0) * settings.horizon_s
        text = (
            f"{rate(offered_s)} are carried, and more may be offered ({observation.hidden}), so up "
            f"to {tuples(gain)} are gained within {lasting(settings.horizon_s)}, and "
            f"{tuples(price)} are delayed by a restart of {lasting(downtime_s)}"
        )
        return Worth(gain, price, TUPLES, text)
    # What was measured shows that the model promises too much of what runs.
    if served_s is not None and offered_s - served_s > GROWING * offered_s:
        now_s = min(now_s, served_s)
    gain = max(min(offered_s + ahead_s, plan.carries_s) - now_s, 0.0) * settings.horizon_s
    if now_s >= offered_s + ahead_s:
        text = f"all of the offered {rate(offered_s)} are carried, so only headroom is lost"
        return Worth(0.0, price, TUPLES, text)
    offered = f"the offered {rate(offered_s)}"
    if ahead_s:
        offered += f" and {rate(ahead_s)} more at the end of the cool-down"
    text = (
        f"{rate(now_s)} of {offered} are carried, so {tuples(gain)} are gained within "
        f"{lasting(settings.horizon_s)}, and {tuples(price)} are delayed by a restart of "
        f"{lasting(downtime_s)}"
    )
    return Worth(gain, price, TUPLES, text)


def worth_of_less(
    plan: Plan, rate_s: float, caught_up_s: float, downtime_s: float, settings: ControllerSettings
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
    gain, price = freed_s * settings.horizon_s, delayed * settings.delayed_tuple_price
    text = (
        f"devices at a price of {number(freed_s)} per second are freed, {number(gain)} within "
        f"{lasting(settings.horizon_s)}, and {tuples(delayed)} are delayed, at {number(price)}"
    )
    return Worth(gain, price, MONEY, text)
