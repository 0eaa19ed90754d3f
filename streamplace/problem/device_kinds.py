"""Names of devices and their kinds in rules, and kinds on which operators cannot run."""

from collections.abc import Iterable, Sequence

import numpy as np

from streamplace.problem.cluster import Cluster
from streamplace.problem.device import Device
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.seconds import slowness
from streamplace.util.arrays import Bools, Ints
from streamplace.util.suggest import candidates, did_you_mean

SHORT = 3  # letters of kinds, such as cpu and gpu, that are similar without being misspelt


def confined(graph: StreamGraph, cluster: Cluster) -> dict[int, Bools]:
    """Return the operators that cannot run on some devices because of their kinds.

    An operator cannot run on a device if its `seconds_on` is None for the device's kind, or if it
    has neither a time for this kind nor instructions, unless it gets no tuples.

    Returns
    -------
    confined
        Operator index -> (D,) whether it can run on each device, in increasing order of indices.
    """
    kinds = list(dict.fromkeys(device.kind for device in cluster.devices))
    number = np.array([kinds.index(device.kind) for device in cluster.devices])
    found: dict[int, Bools] = {}
    for v, seconds in graph.seconds_on.items():
        known = graph.has_plain_work(v)
        runs = [seconds.runs_on(kind, with_instructions=known) for kind in kinds]
        if not all(runs):
            found[v] = np.array(runs)[number]
    return found


def unknown_kinds(graph: StreamGraph, cluster: Cluster) -> str:
    """Return which kinds in `seconds_on` are those of no device, for a note; else an empty text.

    Times without any device of their kind have no effect: `instructions` and `mips` count.
    """
    kinds = kinds_of(cluster)
    unknown = sorted(stated_kinds(graph) - with_origins(kinds))
    if not unknown:
        return ""
    if not kinds:
        timed = any(seconds.has_times for seconds in graph.seconds_on.values())
        unused = f"seconds_on: not used, since no device has a kind, such as {unknown[0]!r}"
        return f"{unused}; instructions and mips count instead" if timed else ""
    close = did_you_mean(unknown[0], kinds) if len(unknown[0]) > SHORT else ""
    return f"seconds_on: no device is of kind {listed(unknown)}{close}"


def kinds_of(cluster: Cluster) -> list[str]:
    """Return the kinds of a cluster's devices, sorted."""
    return sorted({device.kind for device in cluster.devices if device.kind is not None})


def stated_kinds(graph: StreamGraph) -> set[str]:
    """Return the kinds of devices for which a graph states times."""
    return {kind for seconds in graph.seconds_on.values() for kind in seconds}


def with_origins(kinds: Iterable[str]) -> set[str]:
    """Return kinds and those that they derive from, whose times they have."""
    present, waiting = set[str](), list(kinds)
    while waiting:
        present.add(waiting[-1])
        slow = slowness(waiting.pop())
        waiting += [] if slow is None else [slow.kind]
    return present


def why_impossible(graph: StreamGraph, cluster: Cluster, devices: Ints) -> str | None:
    """Return which operator is on a device that cannot run it, and why; None if there is none.

    Parameters
    ----------
    devices
        (V,) device of each operator.
    """
    for v in graph.seconds_on:
        device = cluster.devices[devices[v]]
        if reason := why_not(graph, v, [device]):
            return f"operator {graph.names[v]!r} is on device {device.name!r}, but it {reason}"
    return None


def why_not(graph: StreamGraph, v: int, devices: Sequence[Device]) -> str | None:
    """Return why an operator cannot run on some of several devices because of their kinds.

    The text starts with a verb; None if it can run on all of them.
    """
    seconds = graph.seconds_on.get(v)
    if seconds is None:
        return None
    known = graph.has_plain_work(v)
    kinds = dict.fromkeys(device.kind for device in devices)
    impossible = [k for k in kinds if not seconds.runs_on(k, with_instructions=known)]
    named = [kind for kind in impossible if kind is not None]
    excluded = [kind for kind in named if kind in seconds]
    without_time = [kind for kind in named if kind not in seconds]
    reasons = []
    if excluded:
        reasons.append(f"cannot run on devices of kind {listed(excluded)} (seconds_on)")
    if without_time:
        reasons.append(f"has neither instructions nor seconds_on of kind {listed(without_time)}")
    if None in impossible:
        timed = listed(kind for kind, time in seconds.items() if time is not None)
        hint = f" (its seconds_on are those of kind {timed})" if timed else ""
        reasons.append(f"has no instructions for devices without a kind{hint}")
    return " and ".join(reasons) or None


def no_device(name: str, devices: Sequence[Device]) -> tuple[str, str]:
    """Return what is wrong with a name in a rule that is no device's, and what to do, if known."""
    for noun, found in (
        ("group", [each.name for each in devices if each.group == name]),
        ("label", [each.name for each in devices if name in each.labels]),
    ):
        if found:
            what = f"{name!r} is a {noun}, and not a device"
            return what, f'list its devices under "allowed" of the constraints: {listed(found)}'
    return f"unknown device {name!r}{candidates(name, [each.name for each in devices])}", ""
