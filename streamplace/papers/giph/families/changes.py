"""GiPH's changing clusters: devices that leave a network and come back with other capacities.

Section 5.3 of the paper describes the experiment on adaptivity, and ``adaptivity.py`` of the
released code is another version of it; `Adaptivity` has both.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

import numpy as np

from streamplace.errors import UsageError
from streamplace.families.family import check_range
from streamplace.papers.giph.families.cases import (
    TYPES,
    GraphCase,
    Ranges,
    draw_cluster,
    draw_graph,
    draw_types,
    labels_of,
)
from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.graph import StreamGraph
from streamplace.problem.losses import ClusterChange
from streamplace.problem.network import LinkOverride
from streamplace.util.suggest import valid_choices

_ONE_BY_ONE = (-1, -1, -1, -1, 1, 1, 1, 1)  # 16 to 20 of 20 devices
STEPS = {
    "paper": _ONE_BY_ONE,
    "links": _ONE_BY_ONE,
    "code": (-2, -4, 2, 4),  # 14 to 20 of 20 devices
}
"""Protocol -> devices that come (+) or leave (-) in each change; the cycle is repeated."""
LARGEST_DRAWS = 10_000  # of devices that leave, until the others cover all hardware types


@dataclass(frozen=True)
class Adaptivity:
    """Task graphs, and a device network that changes.

    Of the devices, some leave at random, such that the others support all hardware types; then the
    devices that left come back at random, under their name.

    Parameters
    ----------
    protocol
        ``paper``: one device leaves or comes at a time, and it comes back with the same hardware
        types, a lower speed and its former links. ``links``: as ``paper``, but the bandwidth of a
        link has the smaller share of those of its two devices' speeds. ``code``: 2 leave, 4 leave,
        2 come and 4 come, and they come back with their former links and with speeds and types that
        are drawn again, with the ranges of the released code.
    seed
        Seed of the network and of its changes.
    changes
        Number of changes.
    devices
        Number of devices at the beginning.
    v, alpha, connect
        Settings of the task graphs; see `GraphCase`.
    spread
        Spread of the numbers of tasks and devices, as a share of their mean.
    type_probability
        Probability that a device supports a hardware type.
    least_share
        In ``paper`` and ``links``, the smallest share of its first speed with which a device comes
        back; shares are uniform from it to 1. The paper does not state them.

    Raises
    ------
    UsageError
        On an unknown protocol, or a value that is out of range.
    """

    protocol: str = "code"
    seed: int = 1
    changes: int = 20
    devices: int = 20
    v: int = 10
    alpha: float = 0.3
    connect: float = 0.1
    spread: float = 0.2
    type_probability: float = 0.3
    least_share: float = 0.5

    def __post_init__(self) -> None:
        if self.protocol not in STEPS:
            close = valid_choices(self.protocol, tuple(STEPS))
            raise UsageError(f"unknown protocol {self.protocol!r:.40}{close}")
        fewest = 1 - min(accumulate(STEPS[self.protocol]))
        check_range("devices", self.devices, 2048, fewest)
        check_range("changes", self.changes, 10**6, 0)
        for what in ("spread", "type_probability"):
            check_range(what, getattr(self, what), 1, 0)
        check_range("least_share", self.least_share, 1, 0.01)

    @property
    def ranges(self) -> Ranges:
        """The ranges of the numbers."""
        from_code = self.protocol == "code"
        return Ranges(from_code, from_code, self.spread, self.spread, self.type_probability)

    def graph(self, number: int) -> StreamGraph:
        """Return a task graph; its number is its seed (the code has 0 to 9)."""
        case = GraphCase(self.v, self.alpha, self.connect, number)
        return draw_graph(case, self.ranges, f"adaptivity_{number}")

    @cached_property
    def first(self) -> Cluster:
        """The network before all changes."""
        return draw_cluster(self.seed, self.devices, self.ranges)

    @cached_property
    def sequence(self) -> tuple[ClusterChange, ...]:
        """The changes of the network.

        Raises
        ------
        UsageError
            If no devices are found without which the others support all hardware types.
        """
        return tuple(self._draw())

    def clusters(self) -> Iterator[Cluster]:
        """Yield the network before all changes and after each of them."""
        yield from accumulate(
            self.sequence, lambda cluster, change: change.of(cluster), initial=self.first
        )

    def _draw(self) -> Iterator[ClusterChange]:
        """Draw the changes; devices that left are kept with the links of the first network."""
        stream = np.random.RandomState([self.seed % 2**32, self.devices])
        present = {device.name: device for device in self.first.devices}
        absent: dict[str, Device] = {}
        steps = STEPS[self.protocol]
        for number in range(self.changes):
            step = steps[number % len(steps)]
            if step < 0:
                leaving = _draw_leaving(stream, present, -step)
                absent.update((name, present.pop(name)) for name in leaving)
                yield ClusterChange(leaving)
                continue
            names = _draw_names(stream, absent, step)
            coming = tuple(self._returning(stream, absent.pop(name)) for name in names)
            present.update((device.name, device) for device in coming)
            yield ClusterChange(coming=coming, links=tuple(self._links(present, {*names})))

    def _links(self, present: dict[str, Device], coming: set[str]) -> Iterator[LinkOverride]:
        """Yield the links between devices that come and those that are present, as they are now."""
        first = self.first
        share = {d.name: present[d.name].mips / d.mips for d in first.devices if d.name in present}
        for link in first.network.overrides:
            ends = str(link.source), str(link.target)
            if not (share.keys() >= {*ends} and coming.intersection(ends)):
                continue
            if self.protocol == "links":
                assert link.bandwidth_mbps is not None, "all links of a drawn cluster have one"
                left = link.bandwidth_mbps * min(share[end] for end in ends)
                yield replace(link, bandwidth_mbps=left)
            else:
                yield link

    def _returning(self, stream: np.random.RandomState, device: Device) -> Device:
        """Return a device as it comes back."""
        if self.protocol != "code":
            share = float(stream.uniform(self.least_share, 1.0))
            at_first = self.first.devices[self.first.index[device.name]].mips
            return Device(device.name, at_first * share, labels=device.labels)
        speed = float(self.ranges.speeds(stream, 1)[0])
        types = draw_types(stream, self.type_probability)
        return Device(device.name, speed, labels=labels_of(types))


def _draw_leaving(
    stream: np.random.RandomState, present: dict[str, Device], count: int
) -> tuple[str, ...]:
    """Draw devices that leave until the others support all hardware types."""
    for _ in range(LARGEST_DRAWS):
        leaving = _draw_names(stream, present, count)
        others = (device.labels for name, device in present.items() if name not in leaving)
        if len({label for labels in others for label in labels}) == TYPES:
            return leaving
    raise UsageError(
        f"found no {count} of {len(present)} devices without which the others support all "
        "hardware types; use more devices or a larger type_probability"
    )


def _draw_names(
    stream: np.random.RandomState, known: dict[str, Device], count: int
) -> tuple[str, ...]:
    """Draw different names."""
    names = list(known)
    return tuple(names[i] for i in stream.choice(len(names), count, replace=False).tolist())
