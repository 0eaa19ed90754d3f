"""Typical costs of operators by their type, from published measurements.

The figures, their sources and the words of names that say a type are in ``typical_costs.toml``.
"""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from math import exp, expm1, log, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from streamplace.errors import UsageError
from streamplace.formats.speeds import ASSUMED_MIPS
from streamplace.problem.graph import StreamGraph
from streamplace.util.arrays import Ints

Kind = Literal["cpu_us", "selectivity", "payload_bytes"]
SOURCE, SINK, MAP, OTHER = "source", "sink", "map", "other"
"""Types with rules of their own; `OTHER` is an operator whose name says no type."""
LEAST_SELECTIVITY = 0.01
"""Selectivities below it count as it: less of a stream is no load worth telling apart."""
PRIOR = 2.0
"""The weight, in figures, of the median of all inner operators in the median of a type, because
some types have four figures. A guess: with it, intervals hold up to 2% more figures left out."""
LEAST_FIGURES = 3
"""A type with fewer figures is as `OTHER`, since one of them would decide its median."""
KINDS: dict[Kind, str] = {
    "cpu_us": "instructions",
    "selectivity": "selectivity",
    "payload_bytes": "payload_bytes",
}
"""Kind of figure -> number of a graph."""
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Figure(NamedTuple):
    """A measured number of an operator, in the unit that its kind names."""

    source: str
    application: str
    type: str
    kind: Kind
    value: float

    @property
    def log(self) -> float:
        """The logarithm of the value, of which that of a selectivity is limited."""
        least = LEAST_SELECTIVITY if self.kind == "selectivity" else 0.0
        return log(max(self.value, least))


class Typical(NamedTuple):
    """A number as `Uncertainty` draws it: lognormal, by its mean and the deviation of its log."""

    mean: float
    spread: float

    @property
    def standard_error(self) -> float:
        """The standard deviation."""
        return self.mean * sqrt(expm1(self.spread * self.spread))

    def quantile(self, deviations: float) -> float:
        """Return the value this many deviations of the logarithm above the median."""
        return self.mean * exp(deviations * self.spread - self.spread * self.spread / 2.0)


EXACT = Typical(1.0, 0.0)


class TypicalCosts:
    """What is typical for types of operators, by figures.

    A number of a type is lognormal. The deviation of its logarithm is that of all figures of the
    kind around the medians of their types, since most types have few, and is that of one more
    figure. The median is that of the type, which `PRIOR` draws towards that of all inner operators.
    Selectivities have the median of the figures as their mean instead: most are at most 1, and with
    means above it their product would grow with the length of a path. Sources emit what they
    process, and so do maps.
    """

    def __init__(self, figures: Iterable[Figure]) -> None:
        self.figures = tuple(figures)

    def of(self, kind: Kind, operator_type: str) -> Typical:
        """Return what is typical for a type."""
        if kind == "selectivity" and operator_type in (SOURCE, MAP):
            return EXACT
        logs: dict[str, list[float]] = defaultdict(list)
        for each in self.figures:
            if each.kind == kind:
                logs[each.type].append(each.log)
        inner = [x for name, several in logs.items() if name not in (SOURCE, SINK) for x in several]
        if len(logs[operator_type]) < LEAST_FIGURES:
            own, off, freedom = inner, np.array(inner) - np.median(inner), len(inner) - 1
        else:
            own = logs[operator_type]
            off = np.concatenate(
                [np.array(several) - np.median(several) for several in logs.values()]
            )
            freedom = len(off) - len(logs)
        spread = sqrt(float(off @ off) / freedom * (1.0 + 1.0 / len(own)))
        if kind == "selectivity":
            return Typical(exp(float(np.median(own))), spread)
        prior = 0.0 if operator_type in (SOURCE, SINK) else PRIOR
        middle = (len(own) * np.median(own) + prior * np.median(inner)) / (len(own) + prior)
        return Typical(exp(float(middle) + spread * spread / 2.0), spread)


class Filled(NamedTuple):
    """A graph with typical values where costs were unknown.

    Parameters
    ----------
    graph
        The graph.
    before
        (E,) index that each of its streams had; see `StreamGraph.with_numbers`.
    """

    graph: StreamGraph
    before: Ints


@cache
def _table() -> Mapping[str, Any]:
    text = (files(__package__) / "typical_costs.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def sources() -> Mapping[str, Mapping[str, Any]]:
    """Return what is known of each source of figures, by its name."""
    found: Mapping[str, Mapping[str, Any]] = _table()["sources"]
    return found


@cache
def typical_costs() -> TypicalCosts:
    """Return the typical costs by all figures of the table."""
    return TypicalCosts(
        Figure(name, row["application"], row["type"], kind, row[kind])
        for name, source in sources().items()
        for row in source["figures"]
        for kind in KINDS
        if kind in row
    )


def types_known() -> list[str]:
    """Return all types."""
    return [SOURCE, *_table()["words"], OTHER]


def type_in_name(name: str) -> str:
    """Return the type that the name of an operator says; `OTHER` if it says none."""
    words = [word.lower() for word in WORD.findall(name)]
    for operator_type, beginnings in _table()["words"].items():
        for word in words:
            if any(f"{word}$".startswith(beginning) for beginning in beginnings):
                return str(operator_type)
    return OTHER


def types_of(graph: StreamGraph) -> list[str]:
    """Return the type of each operator: by its streams, what it says it does, and its name."""
    receivers, senders = {*graph.stream_target.tolist()}, {*graph.stream_source.tolist()}
    found = []
    for v, name in enumerate(graph.owners):
        if v not in receivers:
            found.append(SOURCE)
        elif v not in senders:
            found.append(SINK)
        else:
            stated = type_in_name(graph.type.get(v, ""))
            found.append(type_in_name(name) if stated == OTHER else stated)
    return found


def fill(graph: StreamGraph, costs: TypicalCosts | None = None) -> Filled:
    """Return a graph with typical values for the costs that it needs and lacks, marked as such.

    Instructions are for a core of `ASSUMED_MIPS`. The instances of an operator divide evenly what
    an instance before them emits.

    Parameters
    ----------
    costs
        None: those by all figures of the table.

    Raises
    ------
    UsageError
        If the graph is of a single pass, such as a neural network.
    """
    if graph.firing == "all":
        raise UsageError("typical costs are of stream jobs; this graph is of a single pass")
    types, lacking = types_of(graph), graph.unknown
    typical = cache((costs or typical_costs()).of)
    columns: dict[str, Any] = {
        name: getattr(graph, name).copy()
        for kind in KINDS.values()
        for name in (kind, f"{kind}_se")
    }
    of_operators, of_streams = dict(graph.typical), dict(graph.typical_streams)

    def fill(kind: Kind, i: int, operator_type: str, factor: float) -> None:
        found = typical(kind, operator_type)
        columns[KINDS[kind]][i] = float(f"{found.mean:.4g}") * factor
        columns[f"{KINDS[kind]}_se"][i] = float(f"{found.standard_error:.4g}") * factor
        marked = of_streams if kind == "selectivity" else of_operators
        marked[i] = (*marked.get(i, ()), KINDS[kind])

    names = graph.owners
    factors: dict[Kind, float] = {"cpu_us": ASSUMED_MIPS, "payload_bytes": 1.0}  # 1 us x 1 MIPS = 1
    for kind, factor in factors.items():
        needed = {*lacking.get(KINDS[kind], ())}
        for v in np.flatnonzero(np.isnan(columns[KINDS[kind]])).tolist():
            if names[v] in needed:
                fill(kind, v, types[v], factor)
    ends = list(zip(graph.stream_source.tolist(), graph.stream_target.tolist(), strict=True))
    to_instances = Counter((u, names[v]) for u, v in ends if v in graph.instance_of)
    needed = {*lacking.get("selectivity", ())}
    for e in np.flatnonzero(np.isnan(columns["selectivity"])).tolist():
        u, v = ends[e]
        if f"{names[u]}->{names[v]}" in needed:
            fill("selectivity", e, types[u], 1.0 / to_instances.get((u, names[v]), 1))
    return Filled(*graph.with_numbers(**columns, typical=of_operators, typical_streams=of_streams))
