"""The table of the third stage."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from streamplace.util.arrays import Floats
from streamplace.util.effect import mean_intervals

Result = Mapping[str, Any]
OTHERS = ("stage three", "climb", "search")


def change(result: Result, name: str) -> tuple[float, float, float]:
    """Return by how much a method's makespan differs from that of stage two, and 95% limits.

    It is the exponential of the mean of log(method / stage two) over the passes, less 1. Passes
    are paired, since the placements take turns; the interval is that of `mean_intervals`.
    """
    logs = np.log(_passes(result, name) / _passes(result, "stage two"))
    low, high = np.expm1(mean_intervals(logs[None])[0]).tolist()
    return float(np.expm1(logs.mean())), low, high


def is_lower(result: Result, name: str = "stage three") -> bool:
    """Return whether a method's makespan is below that of stage two, with its whole interval."""
    return change(result, name)[2] < 0


def lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines of a Markdown table, and how many workloads the third stage improved."""
    head = ["workload", "operators, devices", "stage two", *OTHERS, "simulated change", "passes"]
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for result in results:
        yield f"| {' | '.join(_cells(result))} |"
    better = sum(map(is_lower, results))
    yield ""
    yield f"Stage three is faster than stage two on {better} of {len(results)} workloads."


def _cells(result: Result) -> Iterator[str]:
    yield result["workload"]
    yield f"{result['operators']}, {result['devices']} ({result['network']})"
    yield f"{1e3 * np.median(_passes(result, 'stage two')):.1f} ms"
    methods = result["methods"]
    for name in OTHERS:
        middle, low, high = change(result, name)
        median = 1e3 * np.median(_passes(result, name))
        is_same = methods[name]["placement"] == methods["stage two"]["placement"]
        limits = "the same" if is_same else f"{middle:+.1%}; {low:+.1%} to {high:+.1%}"
        yield f"{median:.1f} ms ({limits})"
    ratio = methods["stage three"]["simulated_s"] / methods["stage two"]["simulated_s"]
    yield f"{ratio - 1:+.1%}"
    yield f"{result['passes']['stage three']}, {result['passes']['climb']}"


def _passes(result: Result, name: str) -> Floats:
    return np.array(result["methods"][name]["measured_s"])
