"""The cluster that a document describes: its devices, and what was assumed or left out."""

from collections.abc import Iterable, Mapping

from streamplace.errors import Fault, FormatError
from streamplace.problem.cluster import Cluster, Device, Network
from streamplace.problem.graph_checks import listed
from streamplace.util.text import counted

NETWORK = Network("nic")
"""The network that is assumed, since no document states one: most machines have one interface."""
MIN_CORES = 0.01  # Kubernetes counts 10 millicores for what hardly runs; a guess


class Devices:
    """The devices of a cluster, added one by one.

    Parameters
    ----------
    where
        The name of the file, for errors.
    noun
        What the document calls a device, such as ``node``.
    """

    def __init__(self, where: str, noun: str) -> None:
        self._where, self._noun = where, noun
        self._devices: list[Device] = []
        self._places: dict[str, str] = {}
        self._left_out: dict[str, list[str]] = {}
        self._rounded: list[str] = []
        self._notes: list[str] = []

    def add(
        self,
        name: str,
        cores: float,
        memory_bytes: float | None = None,
        *,
        labels: Iterable[str] = (),
        group: str | None = None,
        resources: Mapping[str, float] | None = None,
        place: str = "",
    ) -> None:
        """Add a device; cores may be a fraction, and are rounded to a whole number.

        Where they are rounded up, each has less than its full speed, so that together they are as
        fast as stated. A device with less than 1% of a core is left out.

        Parameters
        ----------
        cores, memory_bytes, resources
            What is free on it; negative if more is in use than there is.
        place
            Where the document has the name, such as ``nodes[3].name``; empty if it has one device.

        Raises
        ------
        FormatError
            If a device has this name already.
        """
        first = self._places.setdefault(name, place)
        if first != place:
            fault = f"duplicate name {name!r:.80}, see {first}"
            remedy = f"list each {self._noun} once"
            raise FormatError(Fault(fault, self._where, place=(place,), remedy=remedy))
        if cores < MIN_CORES:
            self.leave_out(name, "without a free core")
            return
        whole = max(1, int(cores + 0.5))
        share = min(1.0, cores / whole)
        if whole != cores:
            speed = f", each of {share:.1%} of the speed" if share < 1 else ""
            self._rounded.append(f"{name!r} has {cores:.4g}, written as {whole}{speed}")
        memory = None if memory_bytes is None else max(0.0, memory_bytes)
        free = {key: amount for key, amount in (resources or {}).items() if amount > 0}
        device = Device(name, share, whole, memory, tuple(dict.fromkeys(labels)), group, free)
        self._devices.append(device)

    def leave_out(self, name: str, why: str) -> None:
        """Leave a device out, for a reason such as ``not ready``."""
        self._left_out.setdefault(why, []).append(name)

    def note(self, sentence: str) -> None:
        """Add what was assumed or left out."""
        self._notes.append(sentence)

    def cluster(self) -> tuple[Cluster, list[str]]:
        """Return the cluster with an assumed network, and all notes.

        Raises
        ------
        FormatError
            If no device is left.
        """
        left_out = [
            f"{counted(len(names), self._noun)} left out, {why}: {listed(names)}"
            for why, names in self._left_out.items()
        ]
        if not self._devices:
            why = "; ".join([*left_out, *self._notes]) or "the list is empty"
            raise FormatError(f"{self._where}: no {self._noun} can run operators: {why}")
        return Cluster(self._devices, NETWORK), [*left_out, *self._notes, *self._assumed()]

    def _assumed(self) -> list[str]:
        found = []
        if self._rounded:
            more = len(self._rounded) - 1
            others = f"; {more} more" if more else ""
            found.append(f"fractions of cores are rounded: {self._rounded[0]}{others}")
        if any(each.memory_bytes is None for each in self._devices):
            found.append("memory is not stated for each device; those without it have no limit")
        groups = dict.fromkeys(each.group for each in self._devices if each.group is not None)
        if groups:
            found.append(f"groups: {listed(groups)}; no limit on the traffic between them is known")
        found.append(
            f"no network is stated; assumed: {NETWORK.kind} links of {NETWORK.bandwidth_mbps:g} "
            f"Mbit/s and {NETWORK.latency_s:g} s"
        )
        return found
