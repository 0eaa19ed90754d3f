"""Comparison of one placement under the closed form, the engine and the testbed."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.testbed.emulator import Emulator
from benchmarks.testbed.jobs import QUEUE
from benchmarks.testbed.scaling import Scaled
from streamplace import Placement, simulate
from streamplace.sim.engine import Settings
from streamplace.ticks import runs
from streamplace.util.arrays import Ints

WARM_S, MEASURED_S = 4.0, 5.0
TIE = 0.05
"""Throughputs that differ by at most this share of the larger one count as equal."""


@dataclass(frozen=True)
class Compared:
    """Relative throughputs of a placement, its bottleneck and its utilisations.

    Parameters
    ----------
    closed, engine, measured
        Relative throughput under `bottleneck`, in the engine with queues as long as those of the
        testbed, and on the testbed.
    halves
        Measured relative throughput of either half of the run.
    limit
        The bottleneck under `bottleneck`.
    devices, links
        Measured utilisations.
    overdrawn
        See `Measured`.
    """

    closed: float
    engine: float
    measured: float
    halves: tuple[float, float]
    limit: str
    devices: list[float]
    links: list[float]
    overdrawn: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of a stored result."""
        return asdict(self)


def compare(
    emulator: Emulator,
    scaled: Scaled,
    devices: Ints,
    warm_s: float = WARM_S,
    seconds: float = MEASURED_S,
) -> Compared:
    """Simulate a placement of a scaled problem, (V,), and run it on the testbed."""
    placement = Placement(scaled.problem, devices)
    score = simulate(placement)
    engine = runs.run(placement, Settings(queue=QUEUE))
    result = emulator.run(scaled, placement.devices, warm_s, seconds)
    return Compared(
        score.relative_throughput,
        engine.relative_throughput,
        result.relative_throughput,
        result.halves,
        f"{score.bottleneck.kind} {score.bottleneck.name}",
        np.round(result.device_utilisation, 4).tolist(),
        np.round(result.link_utilisation, 4).tolist(),
        round(result.overdrawn, 4),
    )


def relation(a: float, b: float) -> str:
    """Return ``<``, ``=`` or ``>``, where ``=`` is a difference within `TIE`."""
    if abs(a - b) <= TIE * max(a, b):
        return "="
    return "<" if a < b else ">"
