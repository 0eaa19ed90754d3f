"""Four small workloads whose operators take 5 to 50 ms on the testbed."""

from collections.abc import Iterator

import numpy as np

from benchmarks.testbed.passes.problems import MESSAGE_S, WORK_S
from benchmarks.testbed.passes.scaling import MBPS
from benchmarks.testbed.passes.third_stage.fusing import fused
from streamplace import Cluster, Device, Makespan, Network, Problem, Recipe, StreamGraph
from streamplace.problem.network import NetworkKind
from streamplace.util.arrays import Floats

MOST_OPERATORS = 14
FAMILIES = {
    "chain-mm": "chain-mm:shards=2",
    "ffnn": "ffnn:shards=2",
    "transformer": "transformer-block:shards=1",
    "layered": "layered",
}
CLUSTERS: tuple[tuple[NetworkKind, tuple[float, ...]], ...] = (
    ("pair", (1.0, 1.0, 1.0, 1.0)),
    ("egress", (1.0, 1.0, 1.0)),
    ("pair", (1.0, 0.9, 0.6, 0.5)),
    ("egress", (1.0, 0.8, 0.6)),
)
"""Network, and speeds of devices, of each workload."""


def workloads(count: int, seed: int) -> Iterator[Problem]:
    """Yield the first problems, at most four, each with a graph named after its family.

    Operators are fused until 14 are left. Their times and those of messages keep their ranks; the
    logarithms are mapped linearly to 5 to 50 ms on a device of speed 1, and to 4 to 30 ms.
    """
    for (name, family), (kind, speeds) in list(zip(FAMILIES.items(), CLUSTERS, strict=True))[
        :count
    ]:
        sizes = range(12, 13) if name == "layered" else None
        small = fused(Recipe(family, 1, sizes, seed).graph(0), MOST_OPERATORS)
        graph = StreamGraph.from_columns(
            small.names,
            1e9 * compressed(small.instructions, WORK_S),
            np.zeros(len(small.names)),
            np.stack([small.stream_source, small.stream_target], axis=1),
            stream_payload_bytes=MBPS * 1e6 / 8 * compressed(small.stream_payload_bytes, MESSAGE_S),
            name=name,
            firing="all",
        )
        devices = [Device(f"d{d}", 1000.0 * speed) for d, speed in enumerate(speeds)]
        network = Network(kind, bandwidth_mbps=MBPS, latency_s=0.001)
        yield Problem(graph, Cluster(devices, network), objective=Makespan())


def compressed(values: Floats, ends: tuple[float, float]) -> Floats:
    """Return numbers from the first to the second end whose logarithms are linear in those of
    positive values; equal values become the geometric mean of the ends.
    """
    low, high = ends
    logs = np.log(np.maximum(values, np.finfo(np.float64).tiny))
    spread = np.ptp(logs)
    share = (logs - logs.min()) / spread if spread else np.full(len(logs), 0.5)
    mapped: Floats = low * (high / low) ** share
    return mapped
