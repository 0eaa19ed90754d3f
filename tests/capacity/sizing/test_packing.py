"""Packing of many instances on few devices."""

from typing import Any

import pytest

import streamplace as sp
from streamplace.capacity.size import size
from streamplace.capacity.sizing import packing
from streamplace.capacity.sizing.result import SizeResult


def packed(
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    network: sp.Network | None = None,
    **limits: Any,
) -> tuple[SizeResult, list[int]]:
    """Return the size of 328 instances on 400 devices, and the numbers of devices tried."""
    operators = [
        sp.Operator("read", 1e5, 1e3, parallelism=8),
        sp.Operator("parse", 4e6, 0.0, parallelism=320, **limits),
    ]
    streams = [sp.Stream("read", "parse", partitioning="hash")]
    graph = sp.StreamGraph(operators, streams, source_rate=3_800.0)
    devices = [sp.Device(f"d{i}", 1000.0, memory_bytes=1e9) for i in range(400)]
    tried, pack = list[int](), packing._packed

    def recorded(*arguments: Any) -> packing.Packed | None:
        tried.append(len(arguments[3]))
        return pack(*arguments)

    monkeypatch.setattr(packing, "MOST_STREAMS", 1_000)
    monkeypatch.setattr(packing, "_packed", recorded)
    found = size(graph, sp.Cluster(devices, network or sp.Network("free")), seconds=seconds)
    assert found.throughput == pytest.approx(3_800.0)
    return found, tried


@pytest.mark.parametrize(
    ("network", "limits", "fewest"),
    [
        (None, {}, 16),
        (None, {"memory_bytes": 1e8}, 32),
        (None, {"memory_bytes": 2.1e8}, 80),
        (sp.Network("pair", bandwidth_mbps=0.1), {}, 40),
        (sp.Network("pair", bandwidth_mbps=0.03), {}, 160),
    ],
)
def test_the_number_of_devices_is_bracketed_and_halved(
    network: sp.Network | None,
    limits: dict[str, float],
    fewest: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    complete, _ = packed(monkeypatch, 60.0, network, **limits)
    assert (complete.machines, complete.cut_off) == (fewest, False)
    found, tried = packed(monkeypatch, 0.0, network, **limits)
    assert fewest <= found.machines < 2 * fewest  # without any time, too
    assert len(tried) <= 10
    assert found.cut_off or found.machines == fewest
