"""The uncertain numbers of a graph, and draws of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from streamplace.problem.graph import StreamGraph
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
