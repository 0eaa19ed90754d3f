"""Attribution of differences to costs and to speeds."""

from math import exp, log
from typing import Any

import pytest

from streamplace.engines.flink.against.costs_off import (
    Factor,
    Off,
    differs,
    shared,
    split,
    tasks_off,
)
from streamplace.formats.profiling.estimates import Estimate

PLACES = {"a": "x", "b": "x", "c": "y", "d": "y", "e": "z", "f": "z"}


def factors(error: float = 0.01, **ratios: float) -> list[Factor]:
    """Return the factors of tasks on their devices, 1 unless they are set."""
    return [
        Factor(task, device, log(ratios.get(task, 1.0)), error, 0.5)
        for task, device in PLACES.items()
    ]


def off(every: list[Factor]) -> Any:
    """Return the ratios of speeds by device, and those of tasks."""
    speeds, rest = split(every)
    ratios = {task: exp(log_ratio) for task, log_ratio in tasks_off(rest)}
    return {device: exp(each) for device, each in speeds.items()}, ratios


def test_nothing_is_off() -> None:
    assert off(factors()) == ({}, {})
    assert off(factors(a=1.19, d=0.84)) == ({}, {})
    assert off([]) == ({}, {})


def test_one_task_is_off() -> None:
    assert off(factors(c=2.3)) == ({}, {"c": pytest.approx(2.3)})
    assert off(factors(c=0.4)) == ({}, {"c": pytest.approx(0.4)})


def test_differences_within_noise_are_not_reported() -> None:
    assert off(factors(error=0.3, c=2.3)) == ({}, {})
    assert off(factors(error=0.2, c=2.3)) == ({}, {"c": pytest.approx(2.3)})


def test_small_effects_are_not_reported() -> None:
    idle = [Factor(each.task, each.device, log(3), 0.01, 0.001) for each in factors()][:1]
    assert off([*factors()[1:], *idle]) == ({}, {})


def test_all_tasks_of_one_device_are_off() -> None:
    speeds, rest = off(factors(c=2.0, d=2.05))
    assert rest == {}
    assert speeds == {"y": pytest.approx((2.0 * 2.05) ** 0.5)}


def test_tasks_of_one_device_that_are_off_by_different_factors() -> None:
    assert off(factors(c=2.0, d=3.0))[0] == {}
    assert set(off(factors(c=2.0, d=3.0))[1]) == {"c", "d"}


def test_all_tasks_are_off_and_one_more_than_the_others() -> None:
    speeds, rest = off(factors(**dict.fromkeys("abdef", 1.5), c=1.5 * 2.3))
    assert speeds == {None: pytest.approx(1.5)}
    assert rest == {"c": pytest.approx(2.3)}


def test_noisy_tasks_show_a_shared_factor_together() -> None:
    """Each of them is within its noise, but not their mean."""
    slow = factors(error=0.2, **dict.fromkeys("abcdef", 1.5))
    assert off(slow) == ({None: pytest.approx(1.5)}, {})
    assert off(slow[:2]) == ({}, {})


def test_a_slow_device_on_which_every_task_has_instances() -> None:
    rows = [
        Factor(task, device, log(2.0 if device == "y" else 1.0), 0.01, 0.3)
        for task in "abc"
        for device in "xyz"
    ]
    assert off(rows) == ({"y": pytest.approx(2.0)}, {})


def test_a_costly_task_with_instances_on_every_device() -> None:
    rows = [
        Factor(task, device, log(2.0 if task == "b" else 1.0), 0.01, 0.3)
        for task in "abcd"
        for device in "xy"
    ]
    assert off(rows) == ({}, {"b": pytest.approx(2.0)})


def test_one_task_alone_says_nothing_of_speeds() -> None:
    assert shared(factors(a=2.0)[:1]) is None
    assert off(factors(a=2.0)[:1]) == ({}, {"a": pytest.approx(2.0)})


@pytest.mark.parametrize(
    ("measured", "expected", "is_off"),
    [
        (Estimate(0.5, 0.01), 1.0, True),
        (Estimate(0.5, 0.2), 1.0, False),
        (Estimate(1.0, 0.001), 1.09, False),
        (Estimate(1.0, 0.001), 1.12, True),
        (Estimate(0.0, 0.0), 1.0, True),
        (Estimate(0.5), 1.0, False),
        (Estimate(0.5, 0.01, "bound"), 1.0, False),
        (Estimate.missing("why"), 1.0, False),
    ],
)
def test_single_numbers(measured: Estimate, expected: float, is_off: bool) -> None:
    assert differs(measured, expected) is is_off


def test_what_is_off_in_words() -> None:
    def text(*fields: object) -> str:
        line = Off(*fields).line()  # type: ignore[arg-type]
        return line.text.format(*line.names)

    assert text("instructions", "decode", 100.0, 230.0, 2.3, 2500.0) == (
        "decode takes 2.3 times the CPU time that the graph says: "
        "230 instead of 100 instructions per tuple at 2,500 MIPS"
    )
    assert text("instructions", "decode", 0.0, 230.0, None) == (
        "decode takes CPU time, but the graph says that it takes none: 230 instructions per tuple"
    )
    assert text("selectivity", "a -> b", 1.0, 0.5, 0.5) == (
        "the selectivity of a -> b is 0.5 instead of 1"
    )
    assert text("source_share", "a", 0.25, 0.5, 2.0) == (
        "the share of the source rate of a is 0.5 instead of 0.25"
    )
    assert text("mips", "rack1", 2500.0, 1250.0, 0.5) == (
        "all operators on rack1 take 2 times the CPU time that the graph says: "
        "its cores do 1,250 instead of 2,500 MIPS"
    )
    assert text("mips", None, 2500.0, 1250.0, 0.5) == (
        "all operators take 2 times the CPU time that the graph says: the cores do 1,250 instead "
        "of 2,500 MIPS, or the graph's instructions refer to another speed"
    )
    assert "the cores are 0.5 times as fast as the cluster says" in text(
        "mips", None, None, None, 0.5
    )
