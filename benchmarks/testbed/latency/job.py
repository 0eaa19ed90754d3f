"""Jobs of the devices: what each of them needs to serve the tuples of its operators."""

from typing import Any

import numpy as np

from benchmarks.testbed.latency.arrivals import births_s
from benchmarks.testbed.scaling import Scaled
from benchmarks.testbed.wiring import address
from streamplace.util.arrays import Ints


def documents(
    scaled: Scaled,
    devices: Ints,
    speeds: list[float],
    number: int,
    seconds: float,
    *,
    exponential: bool,
    seed: int,
) -> list[dict[str, Any]]:
    """Return the job of each device, (D,).

    Parameters
    ----------
    devices
        (V,) device of each operator.
    speeds
        (D,) CPU seconds per second of each device's operators.
    number
        Number of the job, which distinguishes its connections from those of an earlier, failed job.
    seconds
        Length of the run.
    seed
        Seed of arrivals, services and the rounding of selectivities.
    """
    graph, count = scaled.problem.graph, len(speeds)
    source, target = graph.stream_source, graph.stream_target
    born = births_s(scaled.problem, seed, seconds)
    on = devices.tolist()
    ends = [(on[v], on[w]) for v, w in zip(source.tolist(), target.tolist(), strict=True)]

    def outputs(v: int) -> list[tuple[int, float, int | None]]:
        own = np.flatnonzero(source == v).tolist()
        return [
            (e, float(graph.selectivity[e]), None if ends[e][1] == on[v] else ends[e][1])
            for e in own
        ]

    return [
        {
            "number": number,
            "seconds": seconds,
            "speed": speeds[d],
            "seed": f"{seed} {d}",
            "exponential": exponential,
            "operators": [
                (v, float(graph.instructions[v]), born.get(v, []), outputs(v))
                for v in np.flatnonzero(devices == d).tolist()
            ],
            "target": {e: int(target[e]) for e, (_, b) in enumerate(ends) if b == d},
            "sizes": dict(enumerate(scaled.tuple_bytes)),
            "streams": [
                _connection(a, b, d, count) for a, b in sorted(set(ends)) if a != b and d in (a, b)
            ],
        }
        for d in range(count)
    ]


def _connection(a: int, b: int, own: int, count: int) -> dict[str, Any]:
    """Return the connection from device a to device b, as one of them sees it."""
    number = {"number": a * count + b}
    if own == b:
        return number | {"remote_source": True}
    return number | {"to": address(b), "device": b}
