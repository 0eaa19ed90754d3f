"""The table: paired changes by hand, and which of them count."""

import math
from typing import Any

import pytest

from benchmarks.testbed.passes.third_stage.table import change, is_lower, lines


def result(third: list[float], placement: int = 1) -> dict[str, Any]:
    """Return the result of a workload whose second stage took 0.1, 0.2 and 0.1 s."""
    second = {"placement": [0], "simulated_s": 0.1, "measured_s": [0.1, 0.2, 0.1]}
    other = {"placement": [placement], "simulated_s": 0.11, "measured_s": third}
    methods = {"stage two": second, **dict.fromkeys(("stage three", "climb", "search"), other)}
    return {
        "workload": "w",
        "operators": 2,
        "devices": 3,
        "network": "pair",
        "passes": {"stage three": 9, "climb": 8},
        "methods": methods,
    }


def test_a_change_is_paired() -> None:
    """Each pass is a tenth shorter, so that the spread over passes does not matter."""
    one = result([0.09, 0.18, 0.09])
    assert change(one, "stage three") == pytest.approx((-0.1, -0.1, -0.1))
    assert is_lower(one)
    mixed = result([0.09, 0.22, 0.1])
    middle, low, high = change(mixed, "stage three")
    assert middle == pytest.approx(math.exp((math.log(0.9) + math.log(1.1)) / 3) - 1)
    assert low < middle < high
    assert not is_lower(mixed)


def test_the_table_says_which_placements_are_the_same() -> None:
    found = list(lines([result([0.09, 0.18, 0.09]), result([0.1, 0.2, 0.1], placement=0)]))
    assert "| 100.0 ms | 90.0 ms (-10.0%; -10.0% to -10.0%)" in found[2]
    assert "| 100.0 ms | 100.0 ms (the same)" in found[3]
    assert "+10.0% | 9, 8 |" in found[2]
    assert found[-1] == "Stage three is faster than stage two on 1 of 2 workloads."
