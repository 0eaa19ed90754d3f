"""Memory that a placement uses on each device."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from streamplace.display.text import byte_count
from streamplace.problem.placement import Placement


@dataclass(frozen=True)
class MemoryUse:
    """The memory of a device in bytes; `free_bytes` is None for a device without a limit."""

    device: str
    used_bytes: float
    free_bytes: float | None

    def text(self) -> str:
        """Return the use in words, such as ``2 GB of 4 GB``."""
        used = byte_count(self.used_bytes)
        if self.free_bytes is None:
            return used
        return f"{used} of {byte_count(self.used_bytes + self.free_bytes)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``memory`` in `place --json`."""
        return vars(self).copy()


def memory_use(placement: Placement) -> tuple[MemoryUse, ...]:
    """Return the memory of each device; nothing if no operator of the graph has memory."""
    graph, cluster = placement.problem.graph, placement.problem.cluster
    if not graph.memory_bytes.any():
        return ()
    used = np.bincount(placement.devices, graph.memory_bytes, len(cluster.devices))
    return tuple(
        MemoryUse(
            device.name,
            float(bytes_),
            None if device.memory_bytes is None else float(device.memory_bytes - bytes_),
        )
        for device, bytes_ in zip(cluster.devices, used, strict=True)
    )
