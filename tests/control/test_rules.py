"""The rules: their ranges, and shorter times for tests."""

from dataclasses import fields

import pytest

from streamplace.control.rules import FLINK_TIMES, Rules
from streamplace.errors import UsageError


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"low": 0.7}, "band: must be 0 < low < target < high <= 1 (got 0.7, 0.7, 0.85)"),
        ({"high": 1.1}, "band: must be"),
        ({"most_scale_down": 0.0}, "most_scale_down: must be above 0 and at most 1 (got 0)"),
        ({"rollback_below": 1.5}, "rollback_below: must be above 0 and at most 1 (got 1.5)"),
        ({"window_s": 0.0}, "window_s: must be above 0 and at most 100,000,000 s (got 0)"),
        ({"window_s": 1e300}, "window_s: must be above 0 and at most 100,000,000 s (got 1e+300)"),
        ({"cool_down_s": float("nan")}, "cool_down_s: must be above 0 and at most 100,000,000 s"),
        ({"machine_price": -1.0}, "machine_price: must be 0 to 1e+15 (got -1)"),
        ({"delayed_tuple_price": 1e300}, "delayed_tuple_price: must be 0 to 1e+15 (got 1e+300)"),
        ({"agreeing": 0}, "agreeing: must be at least 1 (got 0)"),
        ({"actions_per_day": 0}, "actions_per_day: must be at least 1 (got 0)"),
    ],
)
def test_values_out_of_range_are_refused(changes: dict[str, float], fault: str) -> None:
    with pytest.raises(UsageError) as caught:
        Rules(**changes)  # type: ignore[arg-type]
    assert fault in str(caught.value)


def test_all_durations_are_scaled_except_those_of_flink() -> None:
    rules, short = Rules(), Rules().scaled(1 / 15)
    for field in fields(Rules):
        before, after = getattr(rules, field.name), getattr(short, field.name)
        is_scaled = field.name.endswith("_s") and field.name not in FLINK_TIMES
        assert after == pytest.approx(before / 15 if is_scaled else before), field.name
    assert short.window_s == pytest.approx(20.0)


@pytest.mark.parametrize("factor", [1e9, 0.0, float("nan")])
def test_durations_are_in_range_after_they_are_scaled(factor: float) -> None:
    with pytest.raises(UsageError, match="window_s times factor: must be above 0 and at most"):
        Rules().scaled(factor)
    assert Rules(block_s=1e8).scaled(1.0).block_s == 1e8
