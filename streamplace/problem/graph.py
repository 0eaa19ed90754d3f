"""Stream graphs: immutable, validated, acyclic graphs of operators and streams."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import isnan
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from streamplace.display.mixins import Displayable
from streamplace.display.text import number, quoted
from streamplace.display.view import MAX_NAMES, Cell, Grid, Names, View
from streamplace.errors import GraphError
from streamplace.problem.coerce import OperatorLike, StreamLike, operator_of, stream_of
from streamplace.problem.columns import OPERATOR_NUMBERS, SELECTIVITY, SELECTIVITY_SE, graph_hash
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph_checks import (
    acyclic_order,
    check_text,
    checked_rate,
    column_of,
    endpoints,
    ends_of,
    index_of,
    indices_not_in,
    labels_of,
    listed,
    own_payload,
    owner_of,
    payload_of_streams,
    resources_of,
    shares_of,
)
from streamplace.problem.operators import UNKNOWN, Operator, RowView, Stream
from streamplace.problem.resources import NO_RESOURCES, Resources
from streamplace.problem.topology import sorted_streams
from streamplace.util.arrays import Floats, Ints
from streamplace.util.checks import check_type
from streamplace.util.text import counted

__all__ = ["UNKNOWN", "Operator", "Stream", "StreamGraph"]


STRUCTURE = (
    "name",
    "names",
    "index",
    "requires",
    "instance_of",
    "resources",
    "constraints",
    "order",
    "stated_cores",
)
SOURCE = ("source_rate", "source_share")


class StreamGraph(Displayable):
    """A stream-processing job with V operators and E streams.

    Numbers are stored in numpy columns. Operators keep their order. Streams are sorted
    topologically by (source, target), whatever their order in the input, so every stream into an
    operator precedes the streams out of it. Two streams may join the same two operators.

    Parameters
    ----------
    operators, streams
        Rows; streams name their operators. A row may also be a tuple or mapping of its fields:
        ``StreamGraph([("a", 9e4, 2_500), ("b", 6e4, 0)], [("a", "b", 0.5)])`` has operators
        (name, instructions, payload_bytes) and a stream (source, target, selectivity).
    name
        Shown in tables.
    source_rate
        Tuples/s offered by all sources together; a `Problem` may override it.
    source_shares
        Operator without inputs -> its share of the source rate; shares sum to 1. Default: equal
        shares.
    constraints
        Rules for placements of this graph; a `Problem` may override them.

    Attributes
    ----------
    names
        The names of the V operators, in order.
    index
        Operator name -> its index.
    instructions, payload_bytes, memory_bytes, cores
        (V,) float64, see `Operator`; NaN if unknown.
    instructions_se, payload_bytes_se
        (V,) float64, standard errors, see `Operator`; 0 if the number is exact.
    stated_cores
        Names of the operators whose number of cores the graph's file states.
    requires
        Operator index -> labels, for operators that require any.
    instance_of
        Operator index -> name of the operator of which it is an instance, for instances.
    resources
        Operator index -> resource -> amount, for operators that take any.
    source_share
        (V,) float64, share of the source rate; 0 for operators with inputs.
    stream_source, stream_target
        (E,) int32, operator indices.
    selectivity, stream_payload_bytes
        (E,) float64, see `Stream`; NaN if unknown.
    selectivity_se
        (E,) float64, standard errors of the selectivities; 0 if they are exact.
    order
        (V,) int32, the operators in topological order, sources first; ties by index.

    Raises
    ------
    GraphError
        If there are no operators; on a duplicate or empty name, an unknown endpoint, a self-loop
        or a cycle, shares that do not fit the sources, or a number that is negative or not finite.
    """

    instructions: Floats
    payload_bytes: Floats
    memory_bytes: Floats
    cores: Floats
    instructions_se: Floats
    payload_bytes_se: Floats

    def __init__(
        self,
        operators: Iterable[OperatorLike],
        streams: Iterable[StreamLike] = (),
        *,
        name: str = "",
        source_rate: float | None = None,
        source_shares: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
    ) -> None:
        check_type("operators:", operators, Iterable, GraphError)
        check_type("streams:", streams, Iterable, GraphError)
        steps = [operator_of(i, row) for i, row in enumerate(operators)]
        edges = [stream_of(i, row) for i, row in enumerate(streams)]
        index = index_of([o.name for o in steps])
        ends = [endpoints(i, s, index) for i, s in enumerate(edges)]
        self._set(
            index,
            np.array(ends, dtype=np.int32).reshape(-1, 2),
            {c.name: [getattr(o, c.name) for o in steps] for c in OPERATOR_NUMBERS},
            {
                "selectivity": [s.selectivity for s in edges],
                "payload_bytes": [own_payload(i, s) for i, s in enumerate(edges)],
                "selectivity_se": [s.selectivity_se for s in edges],
            },
            {i: labels_of(i, o) for i, o in enumerate(steps) if o.requires},
            {i: owner_of(i, o.instance_of) for i, o in enumerate(steps) if o.instance_of},
            {i: o.resources for i, o in enumerate(steps) if o.resources},
            name,
            source_rate,
            source_shares,
            constraints,
        )

    @classmethod
    def from_columns(
        cls,
        names: Sequence[str],
        instructions: ArrayLike,
        payload_bytes: ArrayLike,
        ends: ArrayLike,
        *,
        memory_bytes: ArrayLike | None = None,
        cores: ArrayLike | None = None,
        instructions_se: ArrayLike | None = None,
        payload_bytes_se: ArrayLike | None = None,
        requires: Mapping[int, tuple[str, ...]] | None = None,
        instance_of: Mapping[int, str] | None = None,
        resources: Mapping[int, Mapping[str, float]] | None = None,
        selectivity: ArrayLike | None = None,
        selectivity_se: ArrayLike | None = None,
        stream_payload_bytes: ArrayLike | None = None,
        name: str = "",
        source_rate: float | None = None,
        source_shares: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
    ) -> "StreamGraph":
        """Return a graph from columns; this is faster than rows for large graphs.

        The other parameters are those of the class. Memory and standard errors default to 0, cores
        and selectivity to 1.

        Parameters
        ----------
        names
            The names of the V operators.
        instructions, payload_bytes, memory_bytes, cores, instructions_se, payload_bytes_se
            (V,) numbers, see `Operator`.
        ends
            (E, 2) operator indices, source and target.
        requires, instance_of, resources
            Operator index -> labels, name or amounts, see `Operator`.
        selectivity, selectivity_se
            (E,) numbers, see `Stream`.
        stream_payload_bytes
            (E,) numbers; NaN stands for the payload of the source operator.

        Raises
        ------
        GraphError
            As the class does, and on columns of the wrong length.
        """
        graph = cls.__new__(cls)
        index = index_of(names)
        ends = ends_of(ends, len(index))
        rows_of: dict[str, Mapping[int, object] | None] = {
            "requires": requires,
            "instance_of": instance_of,
            "resources": resources,
        }
        for what, rows in rows_of.items():
            if wrong := [v for v in rows or () if not 0 <= v < len(index)]:
                raise GraphError(f"{what}: unknown operator index {wrong[0]}")
        count, streams = len(index), len(ends)
        cls._set(
            graph,
            index,
            ends,
            {
                "instructions": instructions,
                "payload_bytes": payload_bytes,
                "memory_bytes": np.zeros(count) if memory_bytes is None else memory_bytes,
                "cores": np.ones(count) if cores is None else cores,
                "instructions_se": np.zeros(count) if instructions_se is None else instructions_se,
                "payload_bytes_se": (
                    np.zeros(count) if payload_bytes_se is None else payload_bytes_se
                ),
            },
            {
                "selectivity": np.ones(streams) if selectivity is None else selectivity,
                "payload_bytes": (
                    np.full(streams, np.nan)
                    if stream_payload_bytes is None
                    else stream_payload_bytes
                ),
                "selectivity_se": np.zeros(streams) if selectivity_se is None else selectivity_se,
            },
            dict(requires or {}),
            dict(instance_of or {}),
            resources or {},
            name,
            source_rate,
            source_shares,
            constraints,
        )
        return graph

    def _set(
        self,
        index: Mapping[str, int],
        ends: Ints,
        operator_numbers: Mapping[str, ArrayLike],
        stream_numbers: Mapping[str, ArrayLike],
        requires: Mapping[int, tuple[str, ...]],
        instance_of: Mapping[int, str],
        resources: Mapping[int, Mapping[str, float]],
        name: str,
        source_rate: float | None,
        source_shares: Mapping[str, float] | None,
        constraints: Constraints | None,
    ) -> None:
        """Check all values and store them; streams may come in any order."""
        check_text("name", name)
        self.name = name
        self.names = tuple(index)
        self.index: Mapping[str, int] = MappingProxyType(dict(index))
        self.requires: Mapping[int, tuple[str, ...]] = MappingProxyType(dict(requires))
        self.instance_of: Mapping[int, str] = MappingProxyType(dict(instance_of))
        self._set_resources(resources)
        self.stated_cores: frozenset[str] = frozenset()
        self.constraints = Constraints() if constraints is None else Constraints.of(constraints)
        defaults = {c.name: np.full(len(index), c.default) for c in OPERATOR_NUMBERS if c.added}
        self._set_operator_numbers({**defaults, **operator_numbers})
        self.source_rate = checked_rate(source_rate)
        payload = payload_of_streams(ends, stream_numbers["payload_bytes"], self.payload_bytes)
        selectivity, error = (
            column_of("streams", column, stream_numbers[column.name], len(ends))
            for column in (SELECTIVITY, SELECTIVITY_SE)
        )
        self.order = acyclic_order(self.names, ends)
        self._sort_streams(ends, selectivity, payload, error)
        self.source_share = shares_of(source_shares, self.names, self.sources)
        self._freeze()

    def with_numbers(
        self,
        *,
        instructions: ArrayLike | None = None,
        payload_bytes: ArrayLike | None = None,
        memory_bytes: ArrayLike | None = None,
        cores: ArrayLike | None = None,
        instructions_se: ArrayLike | None = None,
        payload_bytes_se: ArrayLike | None = None,
        selectivity: ArrayLike | None = None,
        selectivity_se: ArrayLike | None = None,
        stream_payload_bytes: ArrayLike | None = None,
        source_rate: float | None = None,
        source_shares: Mapping[str, float] | None = None,
        resources: Mapping[int, Mapping[str, float]] | None = None,
    ) -> tuple["StreamGraph", Ints]:
        """Return a graph of the same operators and streams with other numbers.

        None keeps a number. Names, ends and the topological order stay the same, so they are not
        checked again. Streams between the same two operators are sorted by their new numbers.

        Parameters
        ----------
        instructions, payload_bytes, memory_bytes, cores, instructions_se, payload_bytes_se
            (V,) numbers, see `Operator`.
        selectivity, selectivity_se
            (E,) numbers, see `Stream`.
        stream_payload_bytes
            (E,) numbers; NaN stands for the payload of the source operator.
        source_rate, source_shares
            See the class.
        resources
            Operator index -> resource -> amount.

        Returns
        -------
        graph
            The graph with the new numbers.
        before
            (E,) index in this graph of each stream of the new graph.

        Raises
        ------
        GraphError
            On a column of the wrong length, a number that is negative or not finite, or shares that
            do not fit the sources.
        """
        graph = StreamGraph.__new__(StreamGraph)
        kept = (*STRUCTURE, *SOURCE, *(column.name for column in OPERATOR_NUMBERS))
        vars(graph).update({name: vars(self)[name] for name in kept})
        StreamGraph._set_operator_numbers(
            graph,
            {
                "instructions": instructions,
                "payload_bytes": payload_bytes,
                "memory_bytes": memory_bytes,
                "cores": cores,
                "instructions_se": instructions_se,
                "payload_bytes_se": payload_bytes_se,
            },
        )
        if resources is not None:
            StreamGraph._set_resources(graph, resources)
        if source_rate is not None:
            graph.source_rate = checked_rate(source_rate)
        ends = np.stack([self.stream_source, self.stream_target], axis=1)
        payload, chosen, error = self.stream_payload_bytes, self.selectivity, self.selectivity_se
        if stream_payload_bytes is not None:
            payload = payload_of_streams(ends, stream_payload_bytes, graph.payload_bytes)
        if selectivity is not None:
            chosen = column_of("streams", SELECTIVITY, selectivity, len(ends))
        if selectivity_se is not None:
            error = column_of("streams", SELECTIVITY_SE, selectivity_se, len(ends))
        before = StreamGraph._sort_streams(graph, ends, chosen, payload, error)
        if source_shares is not None:
            graph.source_share = shares_of(source_shares, graph.names, graph.sources)
        StreamGraph._freeze(graph)
        return graph, before

    def _set_operator_numbers(self, numbers: Mapping[str, ArrayLike | None]) -> None:
        """Check and set the columns of operators; None keeps a column."""
        for column in OPERATOR_NUMBERS:
            values = numbers.get(column.name)
            if values is not None:
                setattr(self, column.name, column_of("operators", column, values, len(self.names)))

    def _set_resources(self, resources: Mapping[int, Mapping[str, float]]) -> None:
        """Check and set the resources of operators."""
        checked = {v: resources_of(v, resources[v]) for v in sorted(resources)}
        self.resources: Mapping[int, Resources] = MappingProxyType(
            {v: amounts for v, amounts in checked.items() if amounts}
        )

    def _sort_streams(
        self, ends: Ints, selectivity: Floats, payload_bytes: Floats, selectivity_se: Floats
    ) -> Ints:
        """Set the columns of streams in topological order; return their previous indices, (E,)."""
        by = sorted_streams(self.order, ends, selectivity, payload_bytes, selectivity_se)
        self.stream_source = np.ascontiguousarray(ends[by, 0])
        self.stream_target = np.ascontiguousarray(ends[by, 1])
        self.selectivity = selectivity[by]
        self.stream_payload_bytes = payload_bytes[by]
        self.selectivity_se = selectivity_se[by]
        return by

    def _freeze(self) -> None:
        for values in vars(self).values():
            if isinstance(values, np.ndarray):
                values.flags.writeable = False

    @cached_property
    def sources(self) -> Ints:
        """Indices of the operators without inputs, in increasing order."""
        return indices_not_in(len(self.names), self.stream_target)

    @cached_property
    def sinks(self) -> Ints:
        """Indices of the operators without outputs, in increasing order."""
        return indices_not_in(len(self.names), self.stream_source)

    @cached_property
    def resource_names(self) -> tuple[str, ...]:
        """The names of the resources that operators take, sorted."""
        return tuple(sorted({name for taken in self.resources.values() for name in taken}))

    def resource(self, name: str) -> Floats:
        """Return the amount of a resource that each operator takes, (V,)."""
        column = np.zeros(len(self.names))
        for v, amounts in self.resources.items():
            column[v] = amounts.get(name, 0.0)
        return column

    @cached_property
    def owners(self) -> tuple[str, ...]:
        """For each operator, the operator of which it is an instance, or else its own name."""
        return tuple(self.instance_of.get(v, name) for v, name in enumerate(self.names))

    @cached_property
    def unknown(self) -> dict[str, list[str]]:
        """Kind of number -> operators or streams that lack it; empty if the graph can be placed.

        Instances appear under the name of their operator, which is the one to use in ``--costs``.
        """
        names = self.owners
        ends = np.stack([self.stream_source, self.stream_target], axis=1)
        without_payload = self.stream_source[np.isnan(self.stream_payload_bytes)]
        unknown = {
            "instructions": [names[v] for v in np.flatnonzero(np.isnan(self.instructions))],
            "payload_bytes": [names[v] for v in np.unique(without_payload).tolist()],
            "selectivity": [
                f"{names[u]}->{names[v]}" for u, v in ends[np.isnan(self.selectivity)].tolist()
            ],
        }
        return {kind: list(dict.fromkeys(found)) for kind, found in unknown.items() if found}

    @property
    def lacking(self) -> list[str]:
        """Descriptions of the unknown numbers, one line per kind of number."""
        return [f"{kind} of {listed(names)}" for kind, names in self.unknown.items()]

    @cached_property
    def operators(self) -> RowView[Operator]:
        """The operators as a read-only sequence of rows."""
        return RowView(len(self.names), self._operator)

    @cached_property
    def streams(self) -> RowView[Stream]:
        """The streams as a read-only sequence of rows, in topological order."""
        return RowView(len(self.stream_source), self._stream)

    def _operator(self, v: int) -> Operator:
        return Operator(
            self.names[v],
            float(self.instructions[v]),
            float(self.payload_bytes[v]),
            float(self.memory_bytes[v]),
            self.requires.get(v, ()),
            self.instance_of.get(v, ""),
            int(self.cores[v]),
            self.resources.get(v, NO_RESOURCES),
            float(self.instructions_se[v]),
            float(self.payload_bytes_se[v]),
        )

    def _stream(self, e: int) -> Stream:
        payload = float(self.stream_payload_bytes[e])
        return Stream(
            self.names[self.stream_source[e]],
            self.names[self.stream_target[e]],
            float(self.selectivity[e]),
            None if isnan(payload) else payload,
            float(self.selectivity_se[e]),
        )

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of operators, streams and source shares, as hexadecimal text."""
        labels = sorted((v, sorted(labels)) for v, labels in self.requires.items())
        header: list[object] = [self.names, labels]
        if self.instance_of:
            header.append(sorted(self.instance_of.items()))
        if self.resources:
            header.append({"resources": [[v, dict(taken)] for v, taken in self.resources.items()]})
        of_operators = {column: getattr(self, column.name) for column in OPERATOR_NUMBERS}
        always = (
            self.stream_source,
            self.stream_target,
            *(values for column, values in of_operators.items() if not column.added),
            self.source_share,
            self.selectivity,
            self.stream_payload_bytes,
        )
        added = {column: values for column, values in of_operators.items() if column.added}
        return graph_hash(header, always, {**added, SELECTIVITY_SE: self.selectivity_se})

    def __getstate__(self) -> dict[str, object]:
        """Return the state to pickle, with plain dicts for read-only mappings."""
        state = vars(self).items()
        return {k: dict(v) if isinstance(v, MappingProxyType) else v for k, v in state}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore the pickled state; arrays and mappings are read-only again."""
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            is_mapping = name in ("index", "requires", "instance_of", "resources")
            vars(self)[name] = MappingProxyType(value) if is_mapping else value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamGraph):
            return NotImplemented
        mine, theirs = ((g.sha256, g.name, g.source_rate, g.constraints) for g in (self, other))
        return mine == theirs

    def __hash__(self) -> int:
        return hash(self.sha256)

    def _view(self) -> View:
        label = f" {quoted(self.name)}" if self.name else ""
        rate = "" if self.source_rate is None else f", {number(self.source_rate)} tuples/s"
        rules = ", constraints" if self.constraints else ""
        numbers = (self.instructions, self.stream_payload_bytes, self.selectivity)
        unknown = ", unknown numbers" if any(np.isnan(n).any() for n in numbers) else ""
        errors = (self.instructions_se, self.payload_bytes_se, self.selectivity_se)
        uncertain = ", standard errors" if any(e.any() for e in errors) else ""
        head = ("operator", "instructions", "payload, bytes", "memory, bytes", "streams to")
        return View(
            f"StreamGraph{label}: {counted(len(self.names), 'operator')}, "
            f"{counted(len(self.streams), 'stream')}, {counted(len(self.sources), 'source')}, "
            f"{counted(len(self.sinks), 'sink')}{rate}{rules}{unknown}{uncertain}",
            body=(Grid(head, len(self.names), self._cells, names=(0, 4)),),
        )

    def _cells(self, i: int) -> tuple[Cell, ...]:
        """Return the cells of the i-th operator in topological order."""
        v = self.order[i]
        columns = (self.instructions, self.payload_bytes, self.memory_bytes)
        targets = self.stream_target[self.stream_source == v]
        first = tuple(self.names[t] for t in targets[:MAX_NAMES])
        return (
            self.names[v],
            *(number(float(column[v])) for column in columns),
            Names(first, len(targets)),
        )
