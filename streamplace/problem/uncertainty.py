"""What is assumed of a graph's numbers, and how uncertain they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from streamplace.problem.device_kinds import unknown_kinds
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.placement import Placement
from streamplace.problem.seconds import NO_SECONDS
from streamplace.util.arrays import Floats, Ints

Kind = Literal["instructions", "payload_bytes", "selectivity"]
DIGITS = 9  # to which relative errors of streams agree that expand the same stream


class UncertainNumber(NamedTuple):
    """An uncertain number of a graph.

    Parameters
    ----------
    kind
        The field: ``instructions`` or ``payload_bytes`` of an operator, ``selectivity`` of a
        stream.
    name
        The operator, or ``source->target`` of the stream. Instances of a parallel operator share
        their numbers, which have the operator's name.
    """

    kind: Kind
    name: str


class Factors(NamedTuple):
    """Random factors on the costs of a graph in S draws; their means are 1.

    Parameters
    ----------
    instructions, payload_bytes
        (S, V) on the operators' numbers. A stream's payload has the factor of its source operator.
    selectivity
        (S, E) on the streams' selectivities.
    """

    instructions: Floats
    payload_bytes: Floats
    selectivity: Floats


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """The N uncertain numbers of a graph of V operators and E streams.

    A number with mean m and standard error s is drawn from the lognormal distribution with that
    mean and standard deviation: m · exp(σ z - σ² / 2), where σ² = ln(1 + (s / m)²) and z is
    standard normal, so costs stay positive. Different numbers are independent. Instances of one
    operator share z, since they run the same code; so do the streams between their instances.

    Parameters
    ----------
    numbers
        The numbers, those of operators first.
    number_of
        Kind -> (V,) or (E,) index of the number that each operator or stream depends on; -1 if its
        own is exact, zero or unknown.
    spread
        Kind -> (V,) or (E,) σ of each operator or stream; 0 if its number is exact.
    """

    numbers: tuple[UncertainNumber, ...]
    number_of: dict[Kind, Ints]
    spread: dict[Kind, Floats]

    @classmethod
    def of(cls, graph: StreamGraph) -> "Uncertainty":
        """Return the uncertain numbers of a graph, from its standard errors."""
        owners = graph.owners
        ends = list(zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True))
        found: dict[object, int] = {}
        numbers: list[UncertainNumber] = []
        number_of: dict[Kind, Ints] = {}
        spread: dict[Kind, Floats] = {}
        for kind, (values, errors) in _columns_of(graph).items():
            relative = np.divide(errors, values, out=np.zeros(len(values)), where=values > 0)
            spread[kind] = np.sqrt(np.log1p(relative * relative))
            number_of[kind] = np.full(len(values), -1, dtype=np.int32)
            for i in np.flatnonzero(spread[kind]).tolist():
                key: tuple[object, ...] = (kind, owners[i] if kind != "selectivity" else i)
                name = owners[i] if kind != "selectivity" else ""
                if kind == "selectivity":
                    source, target = ends[i]
                    name = f"{owners[source]}->{owners[target]}"
                    if {source, target} & graph.instance_of.keys():
                        size = float(graph.stream_payload_bytes[i])
                        key = (kind, name, round(float(relative[i]), DIGITS), size)
                if key not in found:
                    found[key] = len(numbers)
                    numbers.append(UncertainNumber(kind, name))
                number_of[kind][i] = found[key]
        return cls(tuple(numbers), number_of, spread)

    def normals(self, rng: np.random.Generator, draws: int) -> Floats:
        """Return standard normal z of all numbers, (S, N), for S draws."""
        return rng.standard_normal((draws, len(self.numbers)))

    def factors(self, normals: Floats) -> Factors:
        """Return the factors on all costs, for z, (S, N)."""
        return Factors(
            *(
                np.exp(spread * _columns(normals, self.number_of[kind]) - spread * spread / 2)
                for kind, spread in self.spread.items()
            )
        )

    def __iter__(self) -> Iterator[UncertainNumber]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)


def without_effect(graph: StreamGraph) -> tuple[UncertainNumber, ...]:
    """Return the numbers with a standard error that is ignored because the number is 0."""
    names = graph.names
    streams = zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True)
    labels: dict[Kind, list[str]] = {
        "instructions": list(names),
        "payload_bytes": list(names),
        "selectivity": [f"{names[source]}->{names[target]}" for source, target in streams],
    }
    return tuple(
        UncertainNumber(kind, labels[kind][i])
        for kind, (values, errors) in _columns_of(graph).items()
        for i in np.flatnonzero((values == 0) & (errors > 0)).tolist()
    )


def _columns_of(graph: StreamGraph) -> dict[Kind, tuple[Floats, Floats]]:
    """Return the numbers of each kind and their standard errors."""
    return {
        "instructions": (graph.instructions, graph.instructions_se),
        "payload_bytes": (graph.payload_bytes, graph.payload_bytes_se),
        "selectivity": (graph.selectivity, graph.selectivity_se),
    }


def _columns(normals: Floats, number_of: Ints) -> Floats:
    """Return z of each operator or stream, (S, V) or (S, E); 0 for exact ones."""
    columns = np.zeros((len(normals), len(number_of)))
    uncertain = number_of >= 0
    columns[:, uncertain] = normals[:, number_of[uncertain]]
    return columns


def assumptions(placement: Placement) -> list[str]:
    """Return what the score of a placement assumes about its graph, a sentence each."""
    problem = placement.problem
    found = (
        without_tuples(problem.graph),
        unknown_kinds(problem.graph, problem.cluster),
        mixed_times(placement),
        cut(placement),
    )
    return [sentence for sentence in found if sentence]


def without_tuples(graph: StreamGraph) -> str:
    """Return which operators get no tuples, so that their unknown numbers do not matter.

    The text is empty if there are none.
    """
    names = graph.unknown_without_tuples
    if not names:
        return ""
    return f"no tuples get to {listed(names)}, so unknown numbers there count as no load"


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
