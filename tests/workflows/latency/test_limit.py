"""Limits on latency as text."""

import pytest

from streamplace.errors import UsageError
from streamplace.workflows.latency.limit import LatencyLimit


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
