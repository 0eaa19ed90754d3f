"""What more devices do not help: operators that fill a device or core, and full links."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from streamplace.display.text import number, rounded_up
from streamplace.errors import ProblemError
from streamplace.problem.graph_checks import NAMES_SHOWN
from streamplace.problem.limits import SLOTS
from streamplace.problem.objective import MAX_RATE
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import compiled
from streamplace.scoring.loads import Bottleneck
from streamplace.scoring.registry import throughput_evaluator
from streamplace.sim.closed_form.bottleneck import NOTHING, utilisations
from streamplace.sim.search import own_loads, unit_loads
from streamplace.sim.work import own_utilisations, work_of
from streamplace.util.arrays import Bools, Ints
from streamplace.workflows.constraint_costs import MIN_GAIN
from streamplace.workflows.remedies import MARGIN, Heavy, Remedy, remedies

INSTRUCTIONS_PER_MI = 1e6
NOTHING_LIMITS = (
    "operators: nothing limits the source rate, because no operator needs CPU time and no stream "
    "has to cross a link; set the instructions of operators"
)


@dataclass(frozen=True)
class TooHeavy:
    """An operator, or operators kept together, that no device can run at the source rate.

    Parameters
    ----------
    operators
        Their names.
    needed_mips
        Speed in MIPS that they need at the source rate.
    available_mips
        Speed in MIPS that they may use on the device, among those that may run them, where their
        utilisation is lowest.
    enough_mips
        Speed of the device, or of the cores that the operator can use, that would be enough.
    of_core
        Whether the cores that one operator can use are the limit, and not the whole device.
    device
        Name of that device.
    scarce
        ``memory``, ``slots`` or a resource, of which so many instances of a single operator as
        would be enough need more than the devices that may run them have; None if they fit.
    timed
        Whether all of them have times for the kind of that device, which no other speed shortens.
        The speeds are then those of instructions that take as long.
    parallel
        The parallel operator of which a single operator is an instance; None if it is none.
    helping
        The changes that help, as was tried.
    """

    operators: tuple[str, ...]
    needed_mips: float
    available_mips: float
    enough_mips: float
    of_core: bool
    device: str
    scarce: str | None = None
    timed: bool = False
    parallel: str | None = None
    helping: tuple[Remedy, ...] = ()

    @property
    def instances(self) -> int:
        """The number of instances of a single operator that would be enough."""
        return ceil(self.needed_mips / self.available_mips - MARGIN)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry ``cause`` of `explain --json` and `plan --json`."""
        return {
            "operators": list(self.operators),
            "needed_mips": self.needed_mips,
            "available_mips": self.available_mips,
            "device": self.device,
        }

    def text(self) -> tuple[str, tuple[str, ...]]:
        """Return the cause and what would help as text with ``{}`` for names, and the names.

        Of many operators, the first are named.
        """
        advice = self._advice()
        names = (*self.operators[:NAMES_SHOWN], self.device)
        if self.parallel is not None and "{}" in "".join(advice):
            names = (*names, self.parallel)
        return ": ".join(filter(None, (self._fact(), ", or ".join(advice)))), names

    def _fact(self) -> str:
        """Return the cause as text."""
        if len(self.operators) > 1:
            who, on, them = f"{self._group()} need", "{} gives", "them"
        elif self.of_core:
            who, on, them = "{} needs", "the cores that it can use on {} give", "it"
        else:
            who, on, them = "{} needs", "{} gives", "it"
        if self.timed:
            share = f"{self.needed_mips / self.available_mips:.1%}"
            return f"{who} {share} of the time of {on.rpartition(' ')[0]} at this rate"
        rates = f"{number(self.needed_mips)} MIPS at this rate"
        return f"{who} {rates}; {on} {them} {rounded_up(self.available_mips)} at most"

    def _group(self) -> str:
        """Return text for operators kept together: the first ones and the number of others."""
        words = ["{}"] * min(NAMES_SHOWN, len(self.operators))
        if more := len(self.operators) - len(words):
            words.append(f"{more:,} more")
        return f"{', '.join(words[:-1])} and {words[-1]} are kept together and"

    def _advice(self) -> list[str]:
        """Return what helps."""
        count = f"{self.instances} instances of it"
        if self.parallel is not None:  # how many depends on how its streams divide the tuples
            count = "more instances of {}"
        enough, room = (
            rounded_up(self.enough_mips),
            f"with enough {self.scarce} " * bool(self.scarce),
        )
        faster = f"use cores of {enough} MIPS in sum" if self.of_core else ""
        if self.timed:
            faster = "use a kind of device with shorter times"
        words: dict[Remedy, str] = {
            "instances": f"run {count}",
            "apart": "keep fewer together",
            "faster": faster or f"use a device of {enough} MIPS",
            "devices": f"add devices {room}for {count}",
        }
        return [text for remedy, text in words.items() if remedy in self.helping]


def too_heavy(
    problem: Problem, known: Ints | None = None, *, grows: bool = False
) -> TooHeavy | None:
    """Return the unit that is overloaded most on the device that suits it best; None if none is.

    Loads are those at the highest source rate, relative to the target utilisation. Changes are
    tried, from the placement `known` if there is one; see `remedies`.
    """
    feasibility, instance = problem.feasibility, compiled(problem).instance
    whole = unit_loads(instance)
    own = own_loads(instance)
    loads = np.where(feasibility.allowed, np.maximum(whole, own) * instance.reference, np.inf)
    unit = int(loads.min(axis=1).argmax())
    device = int(loads[unit].argmin())
    load = float(loads[unit, device])
    if load <= 1.0 + MARGIN:
        return None
    arrays, members = compiled(problem).flow, np.flatnonzero(feasibility.unit_of == unit)
    of_core = bool(own[unit, device] > whole[unit, device])
    work = work_of(arrays, np.full(arrays.operators, device))
    if of_core:
        own_cores = np.minimum(arrays.operator_cores[members], arrays.cores[device])
        members = members[[int((work[members] / own_cores).argmax())]]
    needed = float(work[members].sum()) / INSTRUCTIONS_PER_MI
    names = tuple(problem.graph.names[v] for v in members)
    enough = needed / problem.target_utilisation
    device_name = problem.cluster.names[device]
    kind = problem.cluster.devices[device].kind
    stated = [kind in problem.graph.seconds_on.get(int(v), {}) for v in members]
    cores = problem.cluster.devices[device].cores
    usable = cores if not of_core else min(cores, int(arrays.operator_cores[members[0]]))
    heavy = Heavy(names, device_name, load, enough, usable, all(stated))
    helping = remedies(problem, heavy, known, grows=grows)
    found = TooHeavy(
        *(names, needed, needed / load, enough, of_core, device_name),
        timed=all(stated),
        helping=helping,
    )
    if len(names) > 1:
        return found
    count, owner = found.instances, problem.graph.owners[members[0]]
    if owner != names[0]:
        found = replace(found, parallel=owner)
        count += problem.graph.owners.count(owner) - 1
    return replace(
        found, scarce=_scarce(problem, int(members[0]), feasibility.allowed[unit], count)
    )


def _scarce(problem: Problem, v: int, allowed: Bools, instances: int) -> str | None:
    """Return what runs out if an operator has so many instances; None if they fit."""
    graph, cluster = problem.graph, problem.cluster
    amounts = {"memory": (float(graph.memory_bytes[v]), cluster.memory_bytes)}
    amounts[SLOTS] = 1.0, cluster.slots
    for name in graph.resource_names:
        amounts[name] = float(graph.resource(name)[v]), cluster.resource(name)
    for name, (needed, offered) in amounts.items():
        if needed and np.floor(offered[allowed] / needed * (1 + MARGIN)).sum() < instances:
            return name
    return None


def bandwidth_helps(placement: Placement) -> bool:
    """Return whether a placement would carry more if its fullest link had twice the bandwidth.

    It would not if time per message fills the link, or if something else is as full.
    """
    arrays, devices = compiled(placement.problem).flow, placement.devices
    own = own_utilisations(arrays, devices).max()
    on_device, on_link = utilisations(arrays, devices)
    full, count, seconds = int(on_link.argmax()), arrays.devices, arrays.seconds_per_bit.copy()
    shared = arrays.egress and full < count  # all that a device sends shares one resource
    seconds[slice(full * count, (full + 1) * count) if shared else full] /= 2.0
    then = utilisations(replace(arrays, seconds_per_bit=seconds), devices)
    before = max(own, on_device.max(), on_link.max())
    return bool(max(own, then[0].max(), then[1].max()) < before * (1.0 - MIN_GAIN))


def full_link(placement: Placement) -> Bottleneck | None:
    """Return the link or uplink that a placement fills before any device; None if there is none."""
    score = throughput_evaluator(placement.problem).score(placement.devices)
    bottleneck = score.bottleneck
    full = bottleneck.utilisation > placement.problem.target_utilisation * (1.0 + MARGIN)
    return bottleneck if bottleneck.kind in {"link", "uplink"} and full else None


def refuse_unlimited(problem: Problem, source_rate: float) -> None:
    """Raise a ProblemError if operators need no CPU time and so sustain every source rate.

    Parameters
    ----------
    source_rate
        What the fewest devices sustain, in tuples/s; below `MAX_RATE`, something limits it.
    """
    if source_rate < MAX_RATE:
        return
    instance = compiled(problem).instance
    loads = unit_loads(instance)[problem.feasibility.allowed] * instance.reference
    if float(loads.max()) < NOTHING:
        raise ProblemError(NOTHING_LIMITS)
