"""Limits of devices: memory, slots and resources, which operators on a device may exhaust."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from streamplace.display.text import byte_count
from streamplace.errors import ProblemError
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.resources import amount_text
from streamplace.util.arrays import Floats, Ints
from streamplace.util.text import counted

Kind = Literal["memory", "slots", "resources"]
SLOTS: Kind = "slots"
DIGITS = 6  # of numbers of bytes in messages
STEPS = 1e6  # fractions of an amount are counted in millionths
NOISE_DIGITS = 3  # decimals of a millionth that are kept, far above rounding errors of fractions


@dataclass(frozen=True)
class Limit:
    """Memory, slots or a resource, in counts that add up without rounding errors.

    Memory is counted in bytes, slots in operators, a resource in ones, or in millionths if any
    amount is a fraction.

    Parameters
    ----------
    kind
        What is limited.
    resource
        Name of the resource; None for memory and slots.
    of_operators
        (V,) counts that each operator takes.
    needs
        (U,) counts that each unit takes.
    room
        (D,) counts that each device has; inf: no limit.
    steps
        Counts per byte or per amount of 1.
    """

    kind: Kind
    resource: str | None
    of_operators: Floats
    needs: Floats
    room: Floats
    steps: float

    @property
    def name(self) -> str:
        """The name, for messages."""
        return self.kind if self.resource is None else self.resource

    @property
    def can_run_out(self) -> bool:
        """Whether some device has less than all units together take."""
        return bool(self.needs.sum() > self.room.min())

    def text(self, count: float) -> str:
        """Return an amount in words, such as ``2 GB of memory`` or ``1 gpu``."""
        if self.kind == "memory":
            return f"{byte_count(count, DIGITS)} of memory"
        if self.kind == SLOTS:
            return counted(int(count), "slot")
        return f"{self._amount(count)} {self.resource}"

    def available(self, count: float) -> str:
        """Return an amount that devices have, such as ``2 GB`` or ``none``, after a verb."""
        if self.kind == "memory":
            return byte_count(count, DIGITS)
        return self._amount(count) if count else "none"

    def _amount(self, count: float) -> str:
        return amount_text(self.name, count / self.steps, DIGITS)

    def exceeded_in_all(self) -> str | None:
        """Return why all devices together are too small, as text; None if they are not."""
        needed, available = self.needs.sum(), self.room.sum()
        if needed <= available:
            return None
        if self.kind == "memory":
            return (
                f"memory: the operators need {byte_count(needed, DIGITS)}, but the devices have "
                f"{byte_count(available, DIGITS)} in all; add devices or memory"
            )
        if self.kind == SLOTS:
            return (
                f"slots: the operators need {self.text(needed)}, but the devices have "
                f"{self.available(available)} in all; add devices or slots"
            )
        return (
            f"resources: the operators need {self.text(needed)}, but the devices offer "
            f"{self.available(available)} in all; add devices that offer {self.resource!r}"
        )

    def too_small(self, unit: int, names: tuple[str, ...], subject: str) -> str | None:
        """Return which devices, of these names, cannot hold a unit, as text; None if all can.

        The text starts with the subject and its verb, such as ``it needs``.
        """
        small = np.flatnonzero(self.room < self.needs[unit])
        if not len(small):
            return None
        largest = self.room[small].max()
        verb = "offer" if self.kind == "resources" else "have"
        several = len(small) > 1
        most = " at most" if several and (largest or self.kind == "memory") else ""
        has = f"{listed([names[d] for d in small])} {verb if several else _third(verb)}{most}"
        return f"{subject} {self.text(self.needs[unit])} ({has} {self.available(largest)})"


def limits_of(graph: StreamGraph, cluster: Cluster, unit_of: Ints) -> tuple[Limit, ...]:
    """Return the limits that placements could exceed: memory, slots, then resources by name.

    Parameters
    ----------
    unit_of
        (V,) unit of each operator.

    Raises
    ------
    ProblemError
        If the sum of memory overflows.
    """
    memory = _limit("memory", None, graph.memory_bytes, cluster.memory_bytes, unit_of, 1.0)
    with np.errstate(over="ignore"):
        if not np.isfinite(memory.needs.sum()):
            raise ProblemError("operators: the sum of memory_bytes overflows")
    slots = _limit(SLOTS, None, np.ones(len(graph.names)), cluster.slots, unit_of, 1.0)
    resources = (_of_resource(name, graph, cluster, unit_of) for name in graph.resource_names)
    limits = [memory, slots, *resources]
    return tuple(limit for limit in limits if limit.can_run_out)


def used_counts(taken: Floats, devices: Ints, offered: Floats) -> tuple[Floats, Floats, float]:
    """Return what operators take on each device and what it offers, as counts, (D,) each.

    Parameters
    ----------
    taken, offered
        (V,) and (D,) amounts of a resource.
    devices
        (V,) device of each operator.

    Returns
    -------
    used, room
        The counts.
    steps
        Counts per amount of 1.
    """
    steps = _steps(taken, offered)
    used = np.bincount(devices, _counts(taken, steps), len(offered)).astype(np.float64)
    return used, _counts(offered, steps), steps


def _of_resource(name: str, graph: StreamGraph, cluster: Cluster, unit_of: Ints) -> Limit:
    taken, offered = graph.resource(name), cluster.resource(name)
    steps = _steps(taken, offered)
    counts = _counts(taken, steps), _counts(offered, steps)
    return _limit("resources", name, *counts, unit_of, steps)


def _steps(taken: Floats, offered: Floats) -> float:
    """Return the counts per amount of 1."""
    amounts = np.concatenate([taken, offered])
    return 1.0 if (amounts == np.rint(amounts)).all() else STEPS


def _limit(
    kind: Kind, name: str | None, taken: Floats, room: Floats, unit_of: Ints, steps: float
) -> Limit:
    alone = unit_of[-1] == len(unit_of) - 1  # units are numbered in the order of their operators
    needs = taken if alone else np.bincount(unit_of, weights=taken).astype(np.float64)
    return Limit(kind, name, taken, needs, room, steps)


def _counts(amounts: Floats, steps: float) -> Floats:
    """Return amounts as whole numbers of steps, rounded down, so that n shares of 1/n fit into 1.

    An amount such as 0.29 is 289,999.99999999994 millionths as a float; that is 290,000.
    """
    return np.floor(np.round(amounts * steps, NOISE_DIGITS))


def _third(verb: str) -> str:
    return {"have": "has"}.get(verb, f"{verb}s")
