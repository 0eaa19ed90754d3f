"""The settings of the controller: thresholds, durations, budgets and prices."""

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self

from streamplace.errors import Fault, UsageError
from streamplace.util.checks import MAX_VALUE

MAX_S = 10**8  # three years; sums of much longer times are no dates
Kind = Literal["share", "duration", "step of Flink", "count", "price"]
UNLESS_SURE = "unless tuples pile up, or the rate rises on above `high`"


def _setting(kind: Kind, default: float, about: str) -> Any:
    """Return a field for a setting, with what it means, of which commands make their help."""
    return field(default=default, metadata={"kind": kind, "about": about})


@dataclass(frozen=True)
class ControllerSettings:
    """When the controller acts, and how often at most. All times are in seconds, at most 1e8.

    The metadata of a field say its ``kind`` and what it means (``about``). Steps of Flink take
    their time however short windows are. Prices are in any unit, but all in the same.

    Raises
    ------
    UsageError
        If a value is outside its range.
    """

    # Guesses were tuned neither on jobs nor on traces; Apache Flink's autoscaler is that of commit
    # 0632618f, with its defaults.
    target: float = _setting(  # as Flink's autoscaler
        "share", 0.7, "Utilisation of the busiest instance that plans aim at."
    )
    low: float = _setting(  # as Flink's autoscaler
        "share", 0.4, "Utilisation below which capacity is reduced."
    )
    high: float = _setting(  # a guess; a full instance, where that of the autoscaler ends, is late
        "share", 0.85, "Utilisation above which capacity is added."
    )
    window_s: float = _setting(  # busy times are then off by less than 2% (docs/watch.md)
        "duration", 300.0, "Length of a window of measurements."
    )
    agreeing: int = _setting(  # one window may be noise, unless its load is sure
        "count", 2, f"Windows in a row that must ask for a change, {UNLESS_SURE}."
    )
    stabilisation_s: float = _setting(  # a guess
        "duration", 120.0, "Time after a start of the job during which measurements are ignored."
    )
    cool_down_s: float = _setting(  # two windows, which must agree that the last was too little
        "duration", 600.0, f"Time after an action without another one, {UNLESS_SURE}."
    )
    scale_down_after_s: float = _setting(  # as Flink's autoscaler
        "duration",
        3600.0,
        "Time for which less capacity must have been enough before it is reduced; the largest rate "
        "of this time counts.",
    )
    most_scale_down: float = _setting(  # a guess
        "share", 0.5, "Largest share of an operator's instances that one action removes."
    )
    actions_per_hour: int = _setting(  # a guess
        "count", 4, "Largest number of actions in an hour."
    )
    actions_per_day: int = _setting(  # a guess
        "count", 12, "Largest number of actions in 24 hours."
    )
    horizon_s: float = _setting(  # a guess
        "duration", 3600.0, "Time within which an action must pay for itself."
    )
    first_downtime_s: float = _setting(  # more than the seconds most restarts take (docs/watch.md)
        "duration",
        60.0,
        "Expected downtime of a restart until one was measured; then the longest of the last "
        "three.",
    )
    catch_up_s: float = _setting(  # as Flink's autoscaler
        "duration",
        1800.0,
        "Time within which tuples that wait after a restart must be worked off.",
    )
    machine_price: float = _setting(  # a guess
        "price", 1.0, "Price of a second of a machine for which the cluster file states none."
    )
    delayed_tuple_price: float = _setting(  # a guess
        "price", 0.001, "Price of a tuple that a restart delays, in the same unit."
    )
    rollback_below: float = _setting(  # a guess
        "share", 0.9, "Share of the former throughput below which an action is rolled back, once."
    )
    block_s: float = _setting(  # a guess
        "duration", 86_400.0, "Time for which a plan that was rolled back is not tried again."
    )
    refused_s: float = _setting(  # the slot or label that it lacked may be there later
        "duration", 3600.0, "The same for a plan that was refused before anything changed."
    )
    savepoint_s: float = _setting(  # a guess
        "step of Flink", 60.0, "Seconds for a savepoint."
    )
    start_s: float = _setting(  # a guess
        "step of Flink", 120.0, "Seconds for a start until all vertices run."
    )
    answer_s: float = _setting(  # a guess
        "step of Flink", 10.0, "Seconds to wait for each answer of the server."
    )

    def __post_init__(self) -> None:
        if not 0 < self.low < self.target < self.high <= 1:
            band = f"{self.low:g}, {self.target:g}, {self.high:g}"
            fault = f"must be 0 < low < target < high <= 1 (got {band})"
            raise UsageError(Fault(fault, option="band"))
        for setting in fields(self):
            if fault := _fault_of(setting.metadata["kind"], getattr(self, setting.name)):
                raise UsageError(Fault(fault, option=setting.name))

    def scaled(self, factor: float) -> Self:
        """Return these settings with all durations multiplied, except what Flink itself needs.

        Budgets of actions stay per (unscaled) hour and day.

        Raises
        ------
        UsageError
            If a duration is then outside its range.
        """
        times = {
            setting.name: getattr(self, setting.name) * factor
            for setting in fields(self)
            if setting.metadata["kind"] == "duration"
        }
        return replace(self, **times)


def _fault_of(kind: Kind, value: float) -> str:
    """Return what is wrong with a value; an empty string if it is valid."""
    if kind == "count":
        return "" if value >= 1 else f"must be at least 1 (got {value})"
    if kind == "share":
        return "" if 0 < value <= 1 else f"must be above 0 and at most 1 (got {value:g})"
    if kind == "price":
        return "" if 0 <= value <= MAX_VALUE else f"must be 0 to {MAX_VALUE:g} (got {value:g})"
    in_range = 0 < value <= MAX_S
    return "" if in_range else f"must be above 0 and at most {MAX_S:,} s (got {value:g})"
