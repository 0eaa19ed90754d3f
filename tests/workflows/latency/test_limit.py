"""Limits on latency as text."""

from typing import Any

import numpy as np
import pytest

from streamplace.errors import UsageError
from streamplace.workflows.latency.limit import LatencyLimit
from streamplace.workflows.place import place
from tests.support.graphs import two_operator_graph


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("p99=200ms", LatencyLimit("p99", 0.2)),
        ("p50=.1s", LatencyLimit("p50", 0.1)),
        ("p99.9=2s", LatencyLimit("p99.9", 2.0)),
        ("mean=1e-3s", LatencyLimit("mean", 0.001)),
        (
            "p99=1s:arrivals=bursts:service=deterministic:margin=0",
            LatencyLimit("p99", 1.0, "bursts", "deterministic", 0.0),
        ),
    ],
)
def test_text_is_read(text: str, limit: LatencyLimit) -> None:
    assert LatencyLimit.parse(text) == limit


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p99", "must be QUANTITY=TIME with the time in ms or s, such as p99=200ms"),
        ("p99=200", "must be QUANTITY=TIME"),
        ("p99=-1s", "must be QUANTITY=TIME"),
        ("p99=0s", "must be above 0 and finite"),
        ("p99=1e999s", "must be above 0 and finite"),
        ("p100=1s", "percentiles are p1 to p99.9, such as p99=200ms .got p100.$"),
        ("p0=1s", "percentiles are p1 to p99.9"),
        ("median=1s", "must be QUANTITY=TIME"),
        ("p99=1s:margin=nan", "margin must be at least 0"),
        ("p99=1s:margin", "option 'margin' needs a value"),
        ("p99=1s:service=even", "service must be exponential or deterministic"),
        ("p99=1s:seed=1", "unknown option 'seed'"),
    ],
)
def test_faults(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        LatencyLimit.parse(text)


def test_the_margin() -> None:
    limit = LatencyLimit("p99", 1.2)
    assert limit.holds(1.0)
    assert not limit.holds(1.01)
    assert (limit.share, LatencyLimit("mean", 1.0).share) == (0.99, None)


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_numbers_of_numpy_become_numbers_of_python(kind: Any) -> None:
    limit = LatencyLimit("p99", kind(2), margin=kind(1))
    assert limit == LatencyLimit("p99", 2, margin=1)
    plain = int if kind is np.int64 else float
    assert (type(limit.seconds), type(limit.margin)) == (plain, plain)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("p99", "1"), "max_latency: seconds must be a number .got '1'"),
        (("p99", None), "max_latency: seconds must be a number .got None"),
        (("p99", True), "max_latency: seconds must be a number .got True"),
        (("p99", 10**400), "max_latency: seconds is too large for a float"),
        ((5, 1), "max_latency: quantity must be a string .got 5"),
        (("p99", 1, "poisson", "exponential", "x"), "max_latency: margin must be a number"),
    ],
)
def test_wrong_types(arguments: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        LatencyLimit(*arguments)


@pytest.mark.parametrize("limit", [5, ("p99", 0.1), 0, LatencyLimit])
def test_neither_a_limit_nor_text(limit: Any) -> None:
    with pytest.raises(UsageError, match=r"max_latency: must be LatencyLimit, not .*p99=200ms"):
        place(two_operator_graph(), source_rate=1, max_latency=limit)
