"""Task graphs of 100 to 1,000 operators on a few devices whose messages share links."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from streamplace.errors import UsageError
from streamplace.families.family import Draw, check_range
from streamplace.families.layered import layered
from streamplace.papers.doppler.families.sharded import (
    FFNN,
    ChainMM,
    ShardedFamily,
    TransformerBlock,
    TransformerLayer,
)
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph import StreamGraph
from streamplace.util.suggest import valid_choices

T = TypeVar("T")

LAYERED = "layered"
CLUSTER = 1  # the part of a draw that the cluster comes from
SIZES = range(100, 1001)  # operators of layered graphs
DEVICES = (4, 8)
MAX_DEVICES = 2048
SPEEDS = (0.5, 1.5)  # share of the typical speed, where devices differ
MIPS, BANDWIDTHS_MBPS = 1.4e7, (2e4, 5e4, 1e5, 2e5)  # of a GPU and its links
WORK_S, SHARES = (0.5, 1.5), (0.3, 1.0)  # layered: seconds, and of messages per second of work
LAYERED_MIPS, LAYERED_MBPS, LATENCY_S = 1.0, 1.0, 0.1
INSTRUCTIONS_PER_S, BYTES_PER_S = 1e6 * LAYERED_MIPS, 1e6 / 8 * LAYERED_MBPS


class Sharded(NamedTuple):
    """What a sharded graph is drawn from."""

    families: tuple[type[ShardedFamily], ...]
    shards: range
    scale: str  # the option that sets how large the tensors are
    scales: range


SHARDED: Mapping[str, Sharded] = {
    "chain-mm": Sharded((ChainMM,), range(5, 13), "size", range(5_000, 15_001)),
    "ffnn": Sharded((FFNN,), range(4, 12), "batch", range(16_384, 65_537)),
    "transformer": Sharded(
        (TransformerBlock, TransformerLayer), range(4, 17), "sequence", range(1_024, 8_193)
    ),
}
KINDS = (LAYERED, *SHARDED)


@dataclass(frozen=True)
class Contended:
    """Task graphs with clusters of equal or unequal devices, on `pair` or `egress` links.

    Layered graphs have operators of half a second to one and a half per tuple, and messages of
    three tenths of that or as much; tuples multiply where paths join (``each``). The others are
    sharded tensor operations on devices like GPUs.

    Parameters
    ----------
    kind
        ``layered``, ``chain-mm``, ``ffnn`` or ``transformer``; empty: drawn for each graph.
    devices
        Number of devices; 0: 4 or 8.

    Raises
    ------
    UsageError
        On an unknown kind, or a number of devices that is out of range.
    """

    kind: str = ""
    devices: int = 0

    def __post_init__(self) -> None:
        if self.kind and self.kind not in KINDS:
            raise UsageError(f"unknown kind {self.kind!r:.40}{valid_choices(self.kind, KINDS)}")
        check_range("devices", self.devices, MAX_DEVICES, 0)

    def check(self, count: int, sizes: range | None) -> None:
        """Refuse numbers of operators."""
        if sizes is not None:
            raise UsageError("the family determines the number of operators: 100 to 1,000")

    def graph(self, draw: Draw) -> StreamGraph:
        """Return one task graph."""
        rng = draw.rng()
        kind = self._kind(rng)
        if kind == LAYERED:
            return _layered_graph(draw.name, rng)
        sharded = SHARDED[kind]
        family = _draw_one(rng, sharded.families)
        shards, scale = _whole(rng, sharded.shards), _whole(rng, sharded.scales)
        return family(**{"shards": shards, sharded.scale: scale}).graph(draw)

    def cluster(self, draw: Draw) -> Cluster:
        """Return the cluster of one graph."""
        is_layered = self._kind(draw.rng()) == LAYERED
        rng = draw.rng(CLUSTER)
        count = self.devices or _draw_one(rng, DEVICES)
        differ = is_layered or _draw_one(rng, (False, True))
        share = _between(rng, SPEEDS, count) if differ else np.ones(count)
        mips = (LAYERED_MIPS if is_layered else MIPS) * share
        network = Network(
            _draw_one(rng, ("pair", "egress")),
            bandwidth_mbps=LAYERED_MBPS if is_layered else _draw_one(rng, BANDWIDTHS_MBPS),
            latency_s=LATENCY_S if is_layered else 0.0,
        )
        return Cluster([Device(f"d{i}", float(speed)) for i, speed in enumerate(mips)], network)

    def _kind(self, rng: np.random.Generator) -> str:
        """Return the kind of a graph, the first number that is drawn for it."""
        drawn = _draw_one(rng, KINDS)
        return self.kind or drawn


def _layered_graph(name: str, rng: np.random.Generator) -> StreamGraph:
    """Return a layered graph whose work and messages are drawn anew."""
    graph = layered(_whole(rng, SIZES), rng, name)
    ends = np.stack([graph.stream_source, graph.stream_target], axis=1)
    work_s, share = _between(rng, WORK_S, len(graph.names)), _draw_one(rng, SHARES)
    return StreamGraph.from_columns(
        list(graph.names),
        INSTRUCTIONS_PER_S * work_s,
        np.zeros(len(work_s)),
        ends,
        stream_payload_bytes=BYTES_PER_S * share * _between(rng, WORK_S, len(ends)),
        name=name,
    )


def _draw_one(rng: np.random.Generator, values: tuple[T, ...]) -> T:
    """Return one of some values."""
    return values[_whole(rng, range(len(values)))]


def _whole(rng: np.random.Generator, values: range) -> int:
    """Return one of some whole numbers."""
    return values[int(rng.random() * len(values))]


def _between(rng: np.random.Generator, limits: tuple[float, float], count: int) -> np.ndarray:
    """Return uniform random numbers, (count,)."""
    low, high = limits
    return low + (high - low) * rng.random(count)
