"""Interchangeable devices, and a canonical form of placements under their exchange."""

import numpy as np

from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints


def interchangeable(problem: Problem) -> Ints:
    """Return the kind of each device, (D,); devices of one kind may swap all their operators.

    Devices of one kind are equal except for their name, have no link overrides and appear in no
    constraint. Their groups are equal too, if groups matter to links or to constraints.
    """
    return interchangeable_under(problem.cluster, problem.constraints)


def interchangeable_under(cluster: Cluster, constraints: Constraints) -> Ints:
    """Return the kind of each device, (D,), under constraints; see `interchangeable`."""
    network = cluster.network
    of_groups = any(o.source_group or o.target_group for o in network.overrides)
    groups_matter = of_groups or network.uplinks or constraints.apart_groups
    named = {end for o in network.overrides for end in (o.source, o.target)}
    named.update(constraints.pins.values(), *constraints.allowed.values())
    kinds: dict[object, int] = {}
    kind = []
    for device in cluster.devices:
        group = device.group if groups_matter else None
        held = (device.memory_bytes, device.slots, device.resources, frozenset(device.labels))
        times = (device.kind, device.startup_s, device.overhead_s_per_byte)
        traits = (device.mips, device.cores, held, group, times)
        key = device.name if device.name in named else traits
        kind.append(kinds.setdefault(key, len(kinds)))
    return np.array(kind, dtype=np.int32)


def identical_devices(cluster: Cluster, constraints: Constraints) -> Ints:
    """Return for each device the last identical device before it, (D,), or -1."""
    last: dict[int, int] = {}
    previous = np.full(len(cluster.devices), -1, dtype=np.int32)
    for d, kind in enumerate(interchangeable_under(cluster, constraints).tolist()):
        previous[d] = last.get(kind, -1)
        last[kind] = d
    return previous


def relabel(devices: Ints, kind: Ints, order: Ints) -> Ints:
    """Return an equivalent placement, (V,), that first uses the devices of a kind by index.

    Operators are visited in `order`. The first of them on a device of some kind gets the device of
    that kind with the lowest index, and each further device in use gets the next higher index.

    Parameters
    ----------
    devices
        (V,) device index of each operator.
    kind
        (D,) kind of each device, see `interchangeable`.
    order
        (V,) operator indices in the order of the visits.
    """
    first_use = np.full(len(kind), len(devices))
    np.minimum.at(first_use, devices[order], np.arange(len(devices)))
    label = np.empty(len(kind), dtype=np.int32)
    label[np.lexsort((first_use, kind))] = np.argsort(kind, kind="stable")
    return label[devices]
