"""The settings of the controller: thresholds, durations, budgets and prices."""

from dataclasses import dataclass, fields, replace
from typing import Self

from streamplace.errors import Fault, UsageError
from streamplace.util.checks import MAX_VALUE
from streamplace.util.settings import COUNT, KIND, SHARE, CheckedSettings, Range, setting

MAX_S = 10**8  # three years; sums of much longer times are no dates
DURATION = Range(0, MAX_S, above=True, unit="s", symbol="S")
STEP = replace(DURATION)  # of Flink, which takes its time however short windows are
PRICE = Range(0, MAX_VALUE, symbol="PRICE")
UNLESS_SURE = "unless tuples pile up, or the rate rises on above `high`"


@dataclass(frozen=True)
class ControllerSettings(CheckedSettings):
    """When the controller acts, and how often at most. All times are in seconds, at most 1e8.

    Prices are in any unit, but all in the same.

    Raises
    ------
    UsageError
        If a value is outside its range.
    """

    # Guesses were tuned neither on jobs nor on traces; Apache Flink's autoscaler is that of commit
    # 0632618f, with its defaults.
    target: float = setting(  # as Flink's autoscaler
        SHARE, 0.7, "Utilisation of the busiest instance that plans aim at."
    )
    low: float = setting(  # as Flink's autoscaler
        SHARE, 0.4, "Utilisation below which capacity is reduced."
    )
    high: float = setting(  # a guess; a full instance, where that of the autoscaler ends, is late
        SHARE, 0.85, "Utilisation above which capacity is added."
    )
    window_s: float = setting(  # busy times are then off by less than 2% (docs/watch.md)
        DURATION, 300.0, "Length of a window of measurements."
    )
    agreeing: int = setting(  # one window may be noise, unless its load is sure
        COUNT, 2, f"Windows in a row that must ask for a change, {UNLESS_SURE}."
    )
    stabilisation_s: float = setting(  # a guess
        DURATION, 120.0, "Time after a start of the job during which measurements are ignored."
    )
    cool_down_s: float = setting(  # two windows, which must agree that the last one did too little
        DURATION, 600.0, f"Time after an action without another one, {UNLESS_SURE}."
    )
    scale_down_after_s: float = setting(  # as Flink's autoscaler
        DURATION,
        3600.0,
        "Time for which less capacity must have been enough before it is reduced; the largest rate "
        "of this time counts.",
    )
    most_scale_down: float = setting(  # a guess
        SHARE, 0.5, "Largest share of an operator's instances that one action removes."
    )
    actions_per_hour: int = setting(  # a guess
        COUNT, 4, "Largest number of actions in an hour."
    )
    actions_per_day: int = setting(  # a guess
        COUNT, 12, "Largest number of actions in 24 hours."
    )
    horizon_s: float = setting(  # a guess
        DURATION, 3600.0, "Time within which an action must pay for itself."
    )
    first_downtime_s: float = setting(  # more than the seconds most restarts take (docs/watch.md)
        DURATION,
        60.0,
        "Expected downtime of a restart until one was measured; then the longest of the last "
        "three.",
    )
    catch_up_s: float = setting(  # as Flink's autoscaler
        DURATION,
        1800.0,
        "Time within which tuples that wait after a restart must be worked off.",
    )
    machine_price: float = setting(  # a guess
        PRICE, 1.0, "Price of a second of a machine for which the cluster file states none."
    )
    delayed_tuple_price: float = setting(  # a guess
        PRICE, 0.001, "Price of a tuple that a restart delays, in the same unit."
    )
    rollback_below: float = setting(  # a guess
        SHARE, 0.9, "Share of the former throughput below which an action is rolled back, once."
    )
    block_s: float = setting(  # a guess
        DURATION, 86_400.0, "Time for which a plan that was rolled back is not tried again."
    )
    refused_s: float = setting(  # the slot or label that it lacked may be there later
        DURATION, 3600.0, "The same for a plan that was refused before anything changed."
    )
    savepoint_s: float = setting(  # a guess
        STEP, 60.0, "Seconds for a savepoint."
    )
    start_s: float = setting(  # a guess
        STEP, 120.0, "Seconds for a start until all vertices run."
    )
    answer_s: float = setting(  # a guess
        STEP, 10.0, "Seconds to wait for each answer of the server."
    )

    def __post_init__(self) -> None:
        if not 0 < self.low < self.target < self.high <= 1:
            band = f"{self.low:g}, {self.target:g}, {self.high:g}"
            fault = f"must be 0 < low < target < high <= 1 (got {band})"
            raise UsageError(Fault(fault, option="band"))
        super().__post_init__()

    def scaled(self, factor: float) -> Self:
        """Return these settings with all durations multiplied, except what Flink itself needs.

        Budgets of actions stay per (unscaled) hour and day.

        Raises
        ------
        UsageError
            If a duration is then outside its range.
        """
        times = {
            each.name: getattr(self, each.name) * factor
            for each in fields(self)
            if each.metadata[KIND] is DURATION
        }
        return replace(self, **times)
