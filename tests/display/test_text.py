"""Limits as text: never rounded to the wrong side."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamplace.display.text import (
    NEGLIGIBLE,
    duration,
    limit_beside,
    number,
    percent,
    percent_reached,
    percent_up,
    rounded_down,
    rounded_up,
    share_of,
)

SAME = 2e-9  # relative difference that counts as none


def value(text: str) -> float:
    return float(text.replace(",", ""))


@given(st.floats(1e-300, 1e300), st.integers(3, 6))
def test_limits_are_rounded_away_from_what_they_limit(x: float, digits: int) -> None:
    up, down = value(rounded_up(x, digits)), value(rounded_down(x, digits))
    unit = 10.0 ** (1 - digits)
    assert x * (1 - SAME) <= up <= x * (1 + unit * (1 + SAME))
    assert x * (1 - unit * (1 + SAME)) <= down <= x * (1 + SAME)


@given(st.floats(0.0, 10.0))
def test_percentages_of_upper_limits_are_rounded_up(share: float) -> None:
    shown = value(percent_up(share).rstrip("%")) / 100
    assert share - NEGLIGIBLE <= shown + 1e-12
    assert shown <= share + 1e-3


def test_what_misses_a_little_is_never_all() -> None:
    shares = 0.4167, 0.9996, 1.0 - 1e-12, 1.0, 1.25
    assert [percent_reached(x) for x in shares] == ["41.7%", "99.9%", "100.0%", "100.0%", "125.0%"]


def test_equal_numbers_read_the_same() -> None:
    assert limit_beside(8480.325, 8480.325 * (1 + 1e-12), rounded_up, rounded_down) == "8,480.32"
    assert limit_beside(8480.325, 8480.3251, rounded_up, rounded_down) == "8,480.33"
    assert limit_beside(2.0000049, 2.0000049, rounded_down) == number(2.0000049)
    assert limit_beside([1.0, 22727.2727], 22727.2727, rounded_down) == "22,727.3"
    assert share_of(999.9999, 1e3) == "100.0%"  # both read 1,000
    assert share_of(999.99, 1e3) == "99.9%"
    assert share_of(0.0, 0.0) == "100.0%"


def test_times_have_a_readable_unit() -> None:
    times = 0.0, 3e-10, 4e-3, 0.9994, 0.9999, 1.0, 90.0, 86400.0, 2.5e-5, math.inf
    texts = ["0 ns", "0.3 ns", "4 ms", "999 ms", "1 s", "1 s", "90 s", "86,400 s", "25 us", "inf s"]
    assert [duration(x) for x in times] == texts
    assert (duration(4.0009e-3, 4), duration(4.0009e-3, 4, rounded_up)) == ("4.001 ms", "4.001 ms")
    assert duration(4.0009e-3, 2, rounded_up) == "4.1 ms"
    assert duration(4.0009e-3, 4, rounded_down) == "4 ms"
    assert [duration(x, 3, rounded_up) for x in (0.9996, 9.991e-4, 1234.5)] == [
        "1 s",
        "1 ms",
        "1,240 s",
    ]


@given(st.floats(1e-9, 1e6), st.integers(3, 6))
def test_times_are_rounded_before_their_unit_is_chosen(seconds: float, digits: int) -> None:
    shown = value(duration(seconds, digits, rounded_up).rpartition(" ")[0])
    assert shown < 1e3 or seconds > 999


def test_what_is_above_all_is_never_all() -> None:
    assert [percent(1.0 + x) for x in (1e-7, 1e-5, 4e-4, 6e-4)] == ["100.0%"] + 3 * ["100.1%"]


def test_what_is_above_nothing_is_never_nothing() -> None:
    shares = 0.0, 1e-18, 1e-8, 0.0004, 0.0006, 0.5, -0.1
    shown = ["0.0%", "0.0%", "<0.1%", "<0.1%", "0.1%", "50.0%", "-10.0%"]
    assert [percent(x) for x in shares] == shown
    assert percent_reached(1e-5) == "<0.1%"


@pytest.mark.parametrize("x", [0.0, 54.0, 1e6, 0.1 + 0.2, math.inf])
def test_rounding_errors_change_nothing(x: float) -> None:
    assert rounded_up(x) == rounded_down(x) == number(x)


def test_examples() -> None:
    assert (rounded_up(1234567.0), rounded_down(1234567.0)) == ("1.23457e+06", "1.23456e+06")
    assert (rounded_up(999999.4), rounded_up(2 / 3), rounded_down(2 / 3)) == (
        "1e+06",
        "0.666667",
        "0.666666",
    )
    assert [percent_up(x) for x in (0.0, 4e-7, 4e-5, 0.425925, 1.0)] == [
        "0.0%",
        "0.0%",
        "0.1%",
        "42.6%",
        "100.0%",
    ]
