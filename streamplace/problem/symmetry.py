"""Interchangeable devices, and one form for placements that differ by them alone."""

import numpy as np

from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints


def interchangeable(problem: Problem) -> Ints:
    """Return the kind of each device, (D,): those of one kind may swap all their operators.

    They are equal but for their name, on no overridden link and in no constraint.
    """
    named = {end for o in problem.cluster.network.overrides for end in (o.source, o.target)}
    named.update(problem.constraints.pins.values(), *problem.constraints.allowed.values())
    kinds: dict[object, int] = {}
    kind = []
    for device in problem.cluster.devices:
        traits = (device.mips, device.cores, device.memory_bytes, frozenset(device.labels))
        key = device.name if device.name in named else traits
        kind.append(kinds.setdefault(key, len(kinds)))
    return np.array(kind, dtype=np.int32)


def relabelled(devices: Ints, kind: Ints, order: Ints) -> Ints:
    """Return a placement, (V,), in which devices of one kind are used lowest index first.

    Parameters
    ----------
    kind
        (D,) see `interchangeable`.
    order
        (V,) the order in which operators come to use devices.
    """
    first_use = np.full(len(kind), len(devices))
    np.minimum.at(first_use, devices[order], np.arange(len(devices)))
    label = np.empty(len(kind), dtype=np.int32)
    label[np.lexsort((first_use, kind))] = np.argsort(kind, kind="stable")
    return label[devices]
