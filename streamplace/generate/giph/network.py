"""GiPH's device networks: fully connected devices, each of which supports some hardware types."""

import numpy as np

from streamplace.generate.giph.cases import (
    MEAN_BANDWIDTH,
    MEAN_DELAY,
    TYPES,
    Ranges,
)
from streamplace.problem.cluster import Cluster, Device, LinkOverride, Network


def draw_cluster(seed: int, devices: int, ranges: Ranges) -> Cluster:
    """Return the cluster of a seed, with the draws of the released code (``generate_network``).

    A device's speed in GiPH's units is its MIPS, and a bandwidth its Mbit/s. Delays are up to twice
    their mean, in seconds. Delays and bandwidths are the same in both directions. Hardware types
    are the labels ``type0`` to ``type4``.
    """
    stream = np.random.RandomState(seed)
    delay = stream.uniform(0, 2 * MEAN_DELAY, (devices, devices))
    bandwidth = ranges.bandwidths(stream, devices)
    speed = ranges.speeds(stream, devices)
    supported = _types(stream, devices, ranges.type_probability)
    overrides = tuple(
        LinkOverride(
            f"d{a}",
            f"d{b}",
            # the code copies the lower triangle to the upper one
            bandwidth_mbps=float(bandwidth[max(a, b), min(a, b)]),
            latency_s=float(delay[max(a, b), min(a, b)]),
        )
        for a in range(devices)
        for b in range(devices)
        if a != b
    )
    network = Network(
        "free", bandwidth_mbps=MEAN_BANDWIDTH, latency_s=MEAN_DELAY, overrides=overrides
    )
    return Cluster(
        [Device(f"d{d}", float(speed[d]), labels=labels_of(supported[d])) for d in range(devices)],
        network,
    )


def labels_of(types: list[int]) -> tuple[str, ...]:
    """Return the labels of hardware types."""
    return tuple(f"type{t}" for t in types)


def draw_types(stream: np.random.RandomState, probability: float) -> list[int]:
    """Draw the hardware types of a device: each with a probability, and at least one."""
    types = [t for t in range(TYPES) if stream.rand() < probability]
    return types or [int(stream.choice(TYPES))]


def _types(stream: np.random.RandomState, devices: int, probability: float) -> list[list[int]]:
    """Draw the hardware types of each device; every type is on some device if devices allow it."""
    supported = [draw_types(stream, probability) for _ in range(devices)]
    for missing in sorted(set(range(TYPES)).difference(*supported)):
        # the code gives a missing type to no device of fewer than five, where tasks need it
        holders = max(1, int(devices * probability))
        for d in stream.choice(devices, holders, replace=False).tolist():
            supported[d].append(missing)
    return supported
