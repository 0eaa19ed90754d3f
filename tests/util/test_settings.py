"""Settings that are declared once: their checks, and functions that take them as keywords."""

from dataclasses import dataclass
from inspect import signature
from math import inf, nan
from typing import Any, ClassVar

import numpy as np
import pytest

from streamplace.errors import UsageError
from streamplace.util.settings import (
    COUNT,
    SHARE,
    CheckedSettings,
    Range,
    Text,
    meanings,
    setting,
    with_settings,
)


def upper(text: str) -> str:
    if text.startswith("?"):
        raise UsageError("must begin otherwise")
    return text.upper()


@dataclass(frozen=True, kw_only=True)
class Trip(CheckedSettings):
    """The settings of a trip."""

    place: ClassVar[tuple[str, ...]] = ("trip",)
    stops: int = setting(COUNT, 2, "Stops on the way.")
    days: float | None = setting(
        Range(0, 10**8, above=True, unit="s"), None, "Time on the way.", unset="as long as needed"
    )
    by: str = setting(("train", "boat"), "train", "Means of transport.")
    to: str | None = setting(Text(upper, "CITY"), None, "Where to.")
    note: str | None = setting(None, None, "Anything.")


@with_settings(Trip)
def travel(
    graph: str, cluster: str | None = None, *, settings: Trip
) -> tuple[str, str | None, Trip]:
    """Travel.

    Parameters
    ----------
    graph
        Who.

    Raises
    ------
    UsageError
        If a value is wrong.
    """
    return graph, cluster, settings


@pytest.mark.parametrize(
    ("kind", "value", "fault"),
    [
        (SHARE, 0, "must be above 0 and at most 1 (got 0)"),
        (SHARE, nan, "must be above 0 and at most 1 (got nan)"),
        (COUNT, 0, "must be at least 1 (got 0)"),
        (COUNT, 1.5, "must be a whole number (got 1.5)"),
        (COUNT, True, "must be a whole number (got True)"),
        (Range(), -1, "must be finite and at least 0 (got -1)"),
        (Range(), inf, "must be finite and at least 0 (got inf)"),
        (Range(), "1", "must be a number (got '1')"),
        (Range(above=True), 0.0, "must be finite and above 0 (got 0)"),
        (Range(0, 1, whole=True), 2, "must be 0 or 1 (got 2)"),
        (Range(1, 2048, whole=True), 2049, "must be 1 to 2,048 (got 2049)"),
        (Range(0, 10**8, unit="s"), -1.0, "must be 0 to 100,000,000 s (got -1)"),
        (Range(0, 1e15), 1e16, "must be 0 to 1e+15 (got 1e+16)"),
    ],
)
def test_numbers_out_of_range_are_refused(kind: Range, value: Any, fault: str) -> None:
    with pytest.raises(UsageError) as caught:
        kind.check(value)
    assert str(caught.value) == fault


def test_numbers_become_those_of_python() -> None:
    assert type(COUNT.check(np.int64(3))) is int
    assert type(SHARE.check(np.float32(0.5))) is float
    assert type(Range(0, 1, whole=True).check(True)) is int


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"stops": 0}, "trip: stops: must be at least 1 (got 0)"),
        ({"days": 0}, "trip: days: must be above 0 and at most 100,000,000 s (got 0)"),
        ({"by": "trian"}, "trip: by: unknown choice 'trian'; did you mean 'train'?"),
        ({"by": []}, "trip: by: unknown choice []; choose from train, boat"),
        ({"to": "?"}, "trip: to: must begin otherwise"),
        ({"stops": None}, "trip: stops: must be a whole number (got None)"),
    ],
)
def test_values_that_are_not_valid_are_refused(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(UsageError) as caught:
        travel("Ada", **changes)
    assert str(caught.value) == fault
    assert caught.value.fault.option in changes


def test_settings_are_keyword_arguments() -> None:
    assert travel("Ada", "sea", to="rome") == (
        "Ada",
        "sea",
        Trip(to="ROME"),
    )
    assert travel(graph="Ada") == ("Ada", None, Trip())
    untyped: Any = travel
    with pytest.raises(TypeError, match=r"travel\(\) got an unexpected keyword argument 'dyas'"):
        untyped("Ada", dyas=3)


def test_help_of_a_function_has_the_settings() -> None:
    shown = signature(travel)
    assert [*shown.parameters] == ["graph", "cluster", "stops", "days", "by", "to", "note"]
    assert shown.parameters["stops"].default == 2
    assert shown.parameters["cluster"].default is None
    assert meanings(Trip)["days"] == "Time on the way. None: as long as needed."
    text = str(travel.__doc__)
    assert "graph\n    Who.\nstops\n    Stops on the way.\ndays\n    Time on the way. None:" in text
    assert text.endswith(
        "note\n    Anything.\n\nRaises\n------\nUsageError\n    If a value is wrong."
    )
