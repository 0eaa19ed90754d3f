"""Durations, as `org.apache.flink.util.TimeUtils` of Flink 2.3.0 reads them."""

import pytest

from streamplace.errors import UsageError
from streamplace.integrations.flink.cluster import seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1 minute", 60.0),
        ("2 minutes", 120.0),
        ("1 min", 60.0),
        ("1 m", 60.0),
        ("60 sec", 60.0),
        ("5secs", 5.0),
        ("60 s", 60.0),
        ("5 second", 5.0),
        ("400", 0.4),
        ("400 ms", 0.4),
        ("7 millis", 0.007),
        ("9 µs", 9e-6),
        ("9 nanos", 9e-9),
        ("1 h", 3600.0),
        (" 1 Hour ", 3600.0),
        ("3 days", 259_200.0),
    ],
)
def test_units_are_those_of_flink(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["9 us", "1.5 s", "1 mins", "1 hs", "-1", "", "s", "1 fortnight"])
def test_others_are_refused_as_by_flink(text: str) -> None:
    with pytest.raises(UsageError, match="must be a whole number with a unit, such as 60 s"):
        seconds_of(text)
