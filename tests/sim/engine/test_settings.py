"""Settings that the engine refuses."""

from typing import Any

import numpy as np
import pytest

from streamplace.scoring.flow import flow as flow_of
from streamplace.sim.engine import Settings, Simulation
from tests.support.graphs import loaded_chain


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"duration_s": 0.0}, "duration_s: must be above 0"),
        ({"tick_s": 0.0}, "above 0"),
        ({"tick_s": 100.0}, "at most the duration"),
        ({"duration_s": float("inf")}, "finite"),
        ({"duration_s": 1e12}, "ticks"),
        ({"queue": -1.0}, "at least 0"),
        ({"queue": float("nan")}, "finite"),
        ({"scheduler": "fast"}, "default or dynamic"),
        ({"allocation": "fair"}, "uniform or weighted"),
        ({"measure_from_s": 61.0}, "at least one tick before the end"),
        (
            {"duration_s": 1.0, "tick_s": 0.6, "measure_from_s": 0.95},
            "at least one tick before the end",
        ),
        ({"queue": 1e-300}, "at least 1"),
        ({"source_queue": 0.5}, "at least 1"),
    ],
)
def test_invalid_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**settings)


def test_latencies_must_fit_the_links() -> None:
    flow = flow_of(loaded_chain(0.1, 0.1))
    with pytest.raises(ValueError, match="latency_s must be"):
        Simulation(flow, np.zeros(3))
