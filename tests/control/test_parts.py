"""Parts of windows: which are enough for a decision, and rates that rise on."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
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
        ([100, 160, 220, 280], 1.0),
        ([900, 100, 160, 400, 460], 2.0),
        ([100, 160, 220], 0.0),
        ([100, 100, 350, 400], 0.0),
        ([160, 150, 400, 500], 0.0),
        ([160, 164, 350, 400], 0.0),
        ([500, 540, 1000, 1500], 0.0),
        ([0.1, 0.16, 0.22, 0.28], 0.0),
        ([100, 160, None, 220, 280], 0.0),
        ([None, 100, 160, 220, 280], 1.0),
    ],
    ids=["ramp", "mean", "short", "step", "fall", "noise", "step and noise", "few", "gap", "late"],
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


def test_buffers_that_fill_are_enough_where_backpressure_hides_the_rate() -> None:
    """What is read is the least that is offered, and no rate that rises on."""
    full = observed(1.0, offered_s=1000.0, hidden="held back")
    count = replace(full.readings["count"], tuples_s=800.0, arriving_s=1000.0)
    filling = replace(full, read_s=1000.0, readings={**full.readings, "count": count})
    assert Parts(HIGH).add(replace(filling, seconds=PART_S))
    assert not Parts(HIGH).add(replace(full, read_s=1000.0, seconds=PART_S))
    parts = Parts(HIGH)
    for number, rate in enumerate([100, 160, 220, 280]):
        parts.add(replace(part(number, rate), hidden="held back"))
    assert parts.rise_s2 == 0.0


@pytest.mark.parametrize(("busy", "is_enough"), [(0.8, False), (0.9, True)])
def test_a_part_above_the_band_is_enough_where_the_rate_rises_on(
    busy: float, is_enough: bool
) -> None:
    parts = Parts(HIGH)
    found = [parts.add(part(k, rate, busy)) for k, rate in enumerate([100, 160, 220, 280])]
    assert found == [False] * 3 + [is_enough]


@pytest.mark.parametrize("spread", [0.0, 0.2])
@pytest.mark.parametrize("offered_s", [5.0, 200.0])
def test_rates_without_a_trend_hardly_ever_rise_on(offered_s: float, spread: float) -> None:
    """Of counts by Poisson's law of rates with a lognormal spread: at most one part in fifty."""
    rng = np.random.default_rng(0)
    rates = offered_s * rng.lognormal(0.0, spread, 5000) if spread else np.full(5000, offered_s)
    parts, risen = Parts(HIGH), 0
    for number, count in enumerate(rng.poisson(rates * PART_S)):
        parts.add(part(number, count / PART_S))
        risen += parts.rise_s2 > 0.0
    assert risen <= 100
