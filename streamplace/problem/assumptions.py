"""What scores assume where numbers of a graph are unknown or do not match the devices."""

from typing import NamedTuple, Self

import numpy as np

from streamplace.problem.constraints import Constraints
from streamplace.problem.device_kinds import unknown_kinds
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.placement import Placement
from streamplace.problem.seconds import NO_SECONDS
from streamplace.util.text import counted


def assumptions(placement: Placement) -> list[str]:
    """Return what the score of a placement assumes about its graph, a sentence each."""
    problem = placement.problem
    found = (
        several_sinks(problem.graph),
        repeated_streams(problem.graph),
        without_tuples(problem.graph),
        unknown_kinds(problem.graph, problem.cluster),
        mixed_times(placement),
        cut(placement),
    )
    sentences = [sentence for sentence in found if sentence]
    own, used = problem.graph.constraints, problem.constraints
    groups = own.colocate, own.exlocate, own.apart_groups
    if groups == (used.colocate, used.exlocate, used.apart_groups):  # no others replace them
        sentences += [f"constraints.{sentence}" for sentence in idle_groups(own)]
    return sentences


def idle_groups(constraints: Constraints) -> list[str]:
    """Return which groups of operators constrain nothing, as each names only one operator."""
    return [
        f"{kind}[{i}] names a single operator, so it constrains nothing; "
        f"instances are named one by one, such as '{group[0]}[0]'"
        for kind in ("colocate", "exlocate", "apart_groups")
        for i, group in enumerate(getattr(constraints, kind))
        if len({*group}) == 1
    ]


def without_tuples(graph: StreamGraph) -> str:
    """Return which operators get no tuples, so that their unknown numbers do not matter.

    The text is empty if there are none.
    """
    names = graph.unknown_without_tuples
    if not names:
        return ""
    return f"no tuples get to {listed(names)}, so unknown numbers there count as no load"


class GuessedCosts(NamedTuple):
    """How many costs of a graph are typical values, how many there are, and of which operators.

    Costs are the instructions of operators, the payloads of those that send tuples, and the
    selectivities of streams. Instances of an operator have their costs together.
    """

    typical: int
    costs: int
    operators: tuple[str, ...]

    @classmethod
    def of(cls, graph: StreamGraph) -> Self:
        """Return the typical costs of a graph."""
        owners = graph.owners
        columns = graph.stream_source.tolist(), graph.stream_target.tolist()
        ends = [(owners[u], owners[v]) for u, v in zip(*columns, strict=True)]
        marked = {
            (owners[v], "", kind) for v, kinds in sorted(graph.typical.items()) for kind in kinds
        }
        marked |= {(*ends[e], kind) for e, kinds in graph.typical_streams.items() for kind in kinds}
        costs = len({*owners}) + len({source for source, _ in ends}) + len({*ends})
        named = {owner for owner, _, _ in marked}
        names = tuple(owner for owner in dict.fromkeys(owners) if owner in named)
        return cls(len(marked), costs, names)

    @property
    def sentence(self) -> str:
        """The numbers and the operators in words."""
        count = typical_values(self.typical, self.costs)
        return f"{count} (guesses): those of {listed(self.operators)}"


def typical_values(typical: int, costs: int) -> str:
    """Return how many costs, of how many, are typical values of operators of the same type."""
    verb = "is a typical value" if typical == 1 else "are typical values"
    return f"{typical:,} of {counted(costs, 'cost')} {verb}"


def guesses(graph: StreamGraph) -> str:
    """Return how many costs are typical values, and of which operators; else an empty text."""
    return GuessedCosts.of(graph).sentence if graph.typical or graph.typical_streams else ""


def several_sinks(graph: StreamGraph) -> str:
    """Return which operators send nothing if they are several; else an empty text.

    A stream that was left out makes its operator one of them.
    """
    if len({*graph.stream_source.tolist()}) >= len(graph.names) - 1:
        return ""
    names = list(dict.fromkeys(graph.owners[v] for v in graph.sinks.tolist()))
    return f"{len(names):,} sinks: {listed(names)}" if len(names) > 1 else ""


def repeated_streams(graph: StreamGraph) -> str:
    """Return which streams are listed several times with the same numbers; else an empty text."""
    count = len(graph.stream_source)
    ends = graph.stream_source * len(graph.names) + graph.stream_target
    first = np.unique(ends, return_index=True)[1]
    if len(first) == count:
        return ""
    numbers = (ends, graph.selectivity, graph.stream_payload_bytes)
    rows = [tuple(map(str, row)) for row in zip(*(each.tolist() for each in numbers), strict=True)]
    first_with = {row: e for e, row in reversed([*enumerate(rows)])}
    again = [e for e, row in enumerate(rows) if first_with[row] != e]
    sources, targets = graph.stream_source[again].tolist(), graph.stream_target[again].tolist()
    ends_of = zip(sources, targets, strict=True)
    names = dict.fromkeys(f"{graph.names[u]}->{graph.names[v]}" for u, v in ends_of)
    return f"listed several times, and counted each time: streams {listed(names)}" if names else ""


def mixed_times(placement: Placement) -> str:
    """Return which operators have no time on their device while others are stated; else no text."""
    graph, devices = placement.problem.graph, placement.problem.cluster.devices
    if not graph.seconds_on:
        return ""
    known = {device.kind for device in devices if device.kind is not None}
    timed = {kind for kind in known if any(kind in on for on in graph.seconds_on.values())}
    kinds = [devices[d].kind for d in placement.devices]
    found = []
    for v, kind in enumerate(kinds):
        own = graph.seconds_on.get(v, NO_SECONDS)
        if (kind is not None and kind in own) or not graph.instructions[v] > 0:
            continue
        if kind in timed or any(other in own for other in timed):  # by others, or by its own
            found.append(v)
    if not found:
        return ""
    names = listed(graph.names[v] for v in found)
    source = "instructions and mips give it, which may not compare with the stated times"
    return f"seconds_on: no time of {names} on {_devices_of(placement, found)}; {source}"


def cut(placement: Placement) -> str:
    """Return which operators state more cores than their device has; else an empty text."""
    graph, devices = placement.problem.graph, placement.problem.cluster.devices
    room = np.array([device.cores for device in devices])[placement.devices]
    found = np.flatnonzero(graph.cores > room).tolist()
    if not found:
        return ""
    names = listed(graph.names[v] for v in found)
    return f"cores: {names} can use more than those of {_devices_of(placement, found)}"


def _devices_of(placement: Placement, operators: list[int]) -> str:
    """Return the device of operators with its name, or the words for several devices."""
    devices = {placement.problem.cluster.names[placement.devices[v]] for v in operators}
    if len(devices) > 1:
        return "their devices"
    return f"{'their' if len(operators) > 1 else 'its'} device {devices.pop()!r}"
