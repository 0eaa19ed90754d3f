"""The formulas of Flink's autoscaler, compared with its own tests and with figures by hand."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.control.simulated.autoscaler import (
    Options,
    Wish,
    aligned,
    capacity,
    half_up,
    wished,
)

PLAIN = Options(restart_s=0.0, catch_up_s=0.0)


@pytest.mark.parametrize(
    ("count", "rate", "true_rate", "options", "expected", "outside"),
    [
        (10, 50, 100, {"target": 1.0}, 5, True),
        (10, 50, 100, {"target": 0.8}, 8, False),
        (10, 80, 100, {"target": 0.8}, 10, False),
        (10, 60, 100, {"target": 0.8}, 8, False),
        (10, 59, 100, {"target": 0.8}, 8, False),
        (2, 100, 40, {"target": 0.5}, 10, True),
        (2, 100, 100, {"target": 0.6}, 4, True),
        (10, 10, 100, {"target": 1.0, "down": 0.5}, 5, True),
        (10, 10, 100, {"target": 1.0, "down": 0.6}, 4, True),
        (10, 200, 10, {"target": 1.0, "up": 0.5}, 15, True),
        (10, 200, 10, {"target": 1.0, "up": 0.6}, 16, True),
    ],
)
def test_the_cases_of_its_own_test(
    count: int,
    rate: float,
    true_rate: float,
    options: dict[str, Any],
    expected: int,
    outside: bool,
) -> None:
    """The cases are those of `JobVertexScalerTest.testParallelismScaling`, with 720 key groups."""
    found = wished(count, rate, true_rate, replace(PLAIN, **options))
    assert (found.count if found.count == count else aligned(count, found.count, 720)) == expected
    if expected != count:
        assert found.outside == outside


@pytest.mark.parametrize(
    ("count", "rate", "true_rate", "waiting", "needed", "expected", "outside"),
    [
        (4, 1000, 1000, 0, 1595, 7, False),
        (4, 1000, 1500, 0, 1595, 5, False),
        (4, 1000, 2500, 0, 1595, 3, False),
        (4, 1000, 900, 900_000, 2095, 10, True),
        (8, 1000, 4000, 0, 1595, 4, True),
        (8, 100, 4000, 0, 160, 4, True),
        (1, 800, 189, 0, 1276, 7, True),
    ],
)
def test_the_defaults_by_hand(
    count: int,
    rate: float,
    true_rate: float,
    waiting: float,
    needed: float,
    expected: int,
    outside: bool,
) -> None:
    assert capacity(rate, waiting / 1800.0, 0.7, 300.0 / 1800.0) == needed
    for behind in (False, True) if waiting else (False,):
        found = wished(count, rate, true_rate, Options(), waiting=waiting, behind=behind)
        assert found == Wish(expected, outside)


def test_while_a_backlog_is_worked_off_nothing_is_too_much() -> None:
    assert wished(8, 1000.0, 4000.0, Options()).outside
    assert not wished(8, 1000.0, 4000.0, Options(), behind=True).outside


@pytest.mark.parametrize(
    ("count", "factor", "groups", "balanced", "divisors"),
    [
        (6, 0.8, 36, 6, 6),
        (16, 1.5, 128, 26, 32),
        (10, 2.5, 128, 26, 32),
        (200, 1.3, 720, 360, 360),
        (60, 1.5, 128, 128, 128),
        (4, 2.5, 127, 11, 127),
        (100, 0.5, 127, 64, 50),
        (6, 0.4, 15, 3, 3),
        (7, 1.2, 15, 15, 15),
    ],
)
def test_alignment(count: int, factor: float, groups: int, balanced: int, divisors: int) -> None:
    wanted = -int(-count * factor // 1)
    assert aligned(count, wanted, groups) == balanced
    assert aligned(count, wanted, groups, only_divisors=True) == divisors


def test_rounding_is_that_of_java() -> None:
    assert [half_up(value) for value in (0.5, 1.5, 2.4, float("inf"))] == [1, 2, 2, float("inf")]
    assert capacity(100.0, 0.0, 0.0, 0.0) == float("inf")
    assert capacity(100.0, 0.0, 7.0, 0.0) == 100.0
