"""Speeds of devices, which a user states for a cluster whose file has none."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from streamplace.errors import UsageError
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph_checks import listed
from streamplace.util.suggest import did_you_mean
from streamplace.util.text import counted

Speed: TypeAlias = tuple[str | None, float]
"""The name of a device, one of its labels or its group, or None for all; and the MIPS of a core."""
ASSUMED_MIPS = Cluster.equal(1).devices[0].mips


def with_speeds(cluster: Cluster, speeds: Sequence[Speed]) -> tuple[Cluster, list[str]]:
    """Return a cluster with speeds, and a note on the devices for which none is stated.

    Parameters
    ----------
    cluster
        One whose devices have shares of a speed as their MIPS; see `Format.read_cluster`.
    speeds
        One for the name of a device counts before one for its label or group, and this before one
        for all devices; of several such ones, the last.

    Raises
    ------
    UsageError
        If a name is that of no device, label or group.
    """
    mips: dict[str, float] = {}
    for name, speed in sorted(speeds, key=lambda each: _rank(cluster, each[0])):
        meant = [
            each.name
            for each in cluster.devices
            if name is None or name in (each.name, each.group, *each.labels)
        ]
        if not meant:
            labels = dict.fromkeys(label for each in cluster.devices for label in each.labels)
            kinds = {"devices": cluster.names, "groups": cluster.groups, "labels": [*labels]}
            known = "; ".join(f"{kind}: {listed(some)}" for kind, some in kinds.items() if some)
            hint = did_you_mean(name, chain(*kinds.values())) or f"; {known}"
            raise UsageError(f"--mips: no device, label or group is named {name!r:.80}{hint}")
        mips |= dict.fromkeys(meant, speed)
    without = [name for name in cluster.names if name not in mips]
    devices = [
        replace(each, mips=each.mips * mips.get(each.name, ASSUMED_MIPS))
        for each in cluster.devices
    ]
    note = (
        f"no speed is stated for {counted(len(without), 'device')}; assumed: {ASSUMED_MIPS:g} MIPS "
        "a core; state speeds with --mips, which 'streamplace profile host' measures"
    )
    return Cluster(devices, cluster.network), [note] if without else []


def _rank(cluster: Cluster, name: str | None) -> int:
    """Return how specific a name is; the sort is stable, so the last of equal ones counts."""
    return 0 if name is None else 2 if name in cluster.names else 1
