"""Parts of windows: which are enough for a decision, and rates that rise on."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from streamplace.control.observation import Observation
from streamplace.control.parts import Parts
from streamplace.control.rules import Rules
from tests.support.control import observed

PART_S, HIGH = 60.0, Rules.high


def part(number: int, offered_s: float | None, busy: float = 0.6) -> Observation:
    window = observed(busy, offered_s=offered_s)
    return replace(window, at_s=number * PART_S, seconds=PART_S)


def rise_s2(rates: Sequence[float | None]) -> float:
    parts = Parts(HIGH)
    for number, rate in enumerate(rates):
        assert not parts.add(part(number, rate))
    return parts.rise_s2


@pytest.mark.parametrize(
    ("rates", "rise"),
    [
        ([100, 160, 220, 280, 340], 1.0),
        ([900, 100, 160, 400, 460, 600], 1.0),
        ([100, 160, 220, 280], 0.0),
        ([100, 100, 100, 350, 400], 0.0),
        ([100, 160, 150, 400, 500], 0.0),
        ([100, 160, 164, 350, 400], 0.0),
        ([100, 160, 220, None, 280, 340], 0.0),
        ([None, 100, 160, 220, 280, 340], 1.0),
    ],
    ids=["ramp", "least", "short", "step", "fall", "noise", "gap", "late"],
)
def test_a_rate_rises_on_if_it_did_several_times_in_a_row(
    rates: Sequence[float | None], rise: float
) -> None:
    assert rise_s2(rates) == pytest.approx(rise)


def test_a_part_without_measurements_begins_anew() -> None:
    parts = Parts(HIGH)
    for number, rate in enumerate([100, 160, 220, 280]):
        parts.add(part(number, rate))
    parts.add(replace(part(4, 340), missing=("the job was started anew",)))
    parts.add(part(5, 400))
    assert parts.rise_s2 == 0.0


def test_a_part_in_which_tuples_pile_up_is_enough() -> None:
    full = replace(observed(1.0, offered_s=1300.0), read_s=1000.0, seconds=PART_S)
    assert Parts(HIGH).add(full)
    assert not Parts(HIGH).add(replace(full, missing=("a",)))
    assert not Parts(HIGH).add(replace(full, read_s=1300.0))


@pytest.mark.parametrize(("busy", "is_enough"), [(0.8, False), (0.9, True)])
def test_a_part_above_the_band_is_enough_where_the_rate_rises_on(
    busy: float, is_enough: bool
) -> None:
    parts = Parts(HIGH)
    found = [parts.add(part(k, rate, busy)) for k, rate in enumerate([100, 160, 220, 280, 340])]
    assert found == [False] * 4 + [is_enough]
