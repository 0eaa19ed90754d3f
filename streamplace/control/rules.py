"""The rules of the controller: thresholds, durations, budgets and prices."""

from dataclasses import dataclass, fields, replace
from typing import Self

from streamplace.errors import Fault, UsageError
from streamplace.util.checks import MAX_VALUE

MAX_S = 10**8  # three years; sums of much longer times are no dates
FLINK_TIMES = ("savepoint_s", "start_s", "answer_s")  # Flink needs them, however short windows are


@dataclass(frozen=True)
class Rules:
    """When the controller acts, and how often at most. All times are in seconds, at most 1e8.

    Parameters
    ----------
    target, low, high
        Utilisation that plans aim at, and the band around it within which nothing is done.
    window_s
        Length of a window of measurements.
    agreeing
        Number of windows in a row that must ask for a change.
    stabilisation_s
        Time after a start of the job during which measurements are ignored.
    cool_down_s
        Time after an action without another one, unless a load is sure; see `Load`.
    scale_down_after_s
        Time for which less capacity must have been enough before it is reduced; the largest rate in
        this time counts.
    most_scale_down
        Largest share of the instances of an operator that one action removes.
    actions_per_hour, actions_per_day
        Budgets of actions.
    horizon_s
        Time within which an action must pay for itself.
    first_downtime_s
        Expected downtime of a restart before one was measured; afterwards it is the longest of the
        last three.
    catch_up_s
        Time within which the tuples that wait after a restart must be worked off.
    machine_price
        Price of a second of a machine without a price of its own.
    delayed_tuple_price
        Price of a tuple that is delayed by a restart, in the same unit.
    rollback_below
        Share of the throughput before an action below which it is rolled back.
    block_s
        Time for which a plan that was rolled back is not tried again.
    refused_s
        The same for a plan that was refused before anything was changed: the slot or label that it
        lacked may be there later.
    savepoint_s, start_s, answer_s
        Limits of a savepoint, of a start until all vertices run, and of an answer of the server.

    Raises
    ------
    UsageError
        If a value is outside its range.
    """

    # Guesses were tuned neither on jobs nor on traces; Apache Flink's autoscaler is that of commit
    # 0632618f, with its defaults.
    target: float = 0.7  # as Flink's autoscaler
    low: float = 0.4  # as Flink's autoscaler
    high: float = 0.85  # a guess; a full instance, where that of the autoscaler ends, is late
    window_s: float = 300.0  # busy times are then off by less than 2% (docs/watch.md)
    agreeing: int = 2  # one window may be noise, unless its load is sure
    stabilisation_s: float = 120.0  # a guess
    cool_down_s: float = 600.0  # two windows, which must agree that the last action was not enough
    scale_down_after_s: float = 3600.0  # as Flink's autoscaler
    most_scale_down: float = 0.5  # a guess
    actions_per_hour: int = 4  # a guess
    actions_per_day: int = 12  # a guess
    horizon_s: float = 3600.0  # a guess
    first_downtime_s: float = 60.0  # more than the seconds that most restarts take (docs/watch.md)
    catch_up_s: float = 1800.0  # as Flink's autoscaler
    machine_price: float = 1.0  # a guess
    delayed_tuple_price: float = 0.001  # a guess
    rollback_below: float = 0.9  # a guess
    block_s: float = 86_400.0  # a guess
    refused_s: float = 3600.0  # the slot or label that it lacked may be there later
    savepoint_s: float = 60.0  # a guess
    start_s: float = 120.0  # a guess
    answer_s: float = 10.0  # a guess

    def __post_init__(self) -> None:
        if not 0 < self.low < self.target < self.high <= 1:
            band = f"{self.low:g}, {self.target:g}, {self.high:g}"
            fault = f"must be 0 < low < target < high <= 1 (got {band})"
            raise UsageError(Fault(fault, option="band"))
        for name in ("most_scale_down", "rollback_below"):
            if not 0 < (value := getattr(self, name)) <= 1:
                fault = f"must be above 0 and at most 1 (got {value:g})"
                raise UsageError(Fault(fault, option=name))
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("_s"):
                _check_seconds(field.name, value)
            if field.name.endswith("_price") and not 0 <= value <= MAX_VALUE:
                fault = f"must be 0 to {MAX_VALUE:g} (got {value:g})"
                raise UsageError(Fault(fault, option=field.name))
        for name in ("agreeing", "actions_per_hour", "actions_per_day"):
            if (count := getattr(self, name)) < 1:
                raise UsageError(Fault(f"must be at least 1 (got {count})", option=name))

    def scaled(self, factor: float) -> Self:
        """Return these rules with all durations multiplied, except what Flink itself needs.

        Budgets of actions stay per (unscaled) hour and day.

        Raises
        ------
        UsageError
            If a duration is then outside its range.
        """
        times = {
            field.name: getattr(self, field.name) * factor
            for field in fields(self)
            if field.name.endswith("_s") and field.name not in FLINK_TIMES
        }
        for name, seconds in times.items():
            _check_seconds(name, seconds)
        return replace(self, **times)


def _check_seconds(name: str, seconds: float) -> None:
    if not 0 < seconds <= MAX_S:
        fault = f"must be above 0 and at most {MAX_S:,} s (got {seconds:g})"
        raise UsageError(Fault(fault, option=name))
