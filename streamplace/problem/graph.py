"""Stream graphs: immutable, validated, acyclic graphs of operators and streams."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from streamplace.display.mixins import Displayable
from streamplace.display.view import View
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph_checks import (
    STREAM_PAYLOAD,
    Firing,
    Multicast,
    check_errors,
    check_indices,
    check_semantics,
    checked_rate,
    column_of,
    ends_of,
    errors_with,
    index_of,
    rate_and_shares,
    shares_of,
)
from streamplace.problem.operators import (
    OPERATOR_DETAILS,
    OPERATOR_FIELDS,
    OPERATOR_NUMBERS,
    STREAM_DETAILS,
    STREAM_FIELDS,
    STREAM_NUMBERS,
    UNKNOWN,
    Operator,
    Stream,
)
from streamplace.problem.rows import Columns, OperatorLike, StreamLike, columns_of_rows
from streamplace.problem.unknown_numbers import UnknownNumbers
from streamplace.util.arrays import Ints
from streamplace.util.plugins import load_ours
from streamplace.util.suggest import candidates

__all__ = ["UNKNOWN", "Operator", "Stream", "StreamGraph"]

COLUMNS = tuple(each.column for each in (*OPERATOR_FIELDS, *STREAM_FIELDS))
"""The attributes of a graph that are fields of operators or streams."""
KEPT = (
    *("name", "names", "index", "constraints", "order", "stated_cores", "firing", "multicast"),
    *("source_rate", "source_share"),
    *(each.column for each in OPERATOR_FIELDS),
)
"""Attributes that a graph shares with one of the same operators and streams, if not replaced."""
GRAPH_VIEW = "streamplace.problem.graph_view:graph_view"
"""Shows a graph; loaded once one is shown."""


class StreamGraph(UnknownNumbers, Displayable):
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
    source_rates
        Operator without inputs -> the tuples/s that it offers, instead of both arguments above. The
        graph has their sum and the shares of it.
    constraints
        Rules for placements of this graph; a `Problem` may override them.
    firing
        How many tuples an operator processes. ``each``: flows add up where streams join and sources
        share the source rate, as in stream processing. ``all``: every operator and stream carries
        one tuple per tuple of the job, as in dataflow graphs of neural networks; shares and
        selectivities are ignored.
    multicast
        How streams of one operator to several others share messages. ``none``: each sends its own.
        ``device``: one message, of the largest payload, to each device. ``all``: one message for
        all other devices.

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
    file
        Absolute path of the file that holds this graph and no other; None if there is none, as
        after a change.
    requires
        Operator index -> labels, for operators that require any.
    instance_of
        Operator index -> name of the operator of which it is an instance, for instances.
    resources
        Operator index -> resource -> amount, for operators that take any.
    seconds_on, type, output_shape, meta_op
        Operator index -> value, see `Operator`, for operators that have one.
    parallelism, min_parallelism, max_parallelism, partitions, scaling
        Operator index -> value, see `Operator`, for operators that have one. `Problem` expands such
        graphs into instances.
    partitioning, key_shares
        Stream index -> value, see `Stream`, for streams that have one.
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

    def __init__(
        self,
        operators: Iterable[OperatorLike],
        streams: Iterable[StreamLike] = (),
        *,
        name: str = "",
        source_rate: float | None = None,
        source_shares: Mapping[str, float] | None = None,
        source_rates: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
        firing: Firing = "each",
        multicast: Multicast = "none",
    ) -> None:
        columns = columns_of_rows(operators, streams)
        rates = source_rate, source_shares, source_rates
        self._set(columns, name, *rates, constraints, firing, multicast)

    @classmethod
    def from_columns(
        cls,
        names: Sequence[str],
        instructions: ArrayLike,
        payload_bytes: ArrayLike,
        ends: ArrayLike,
        *,
        name: str = "",
        source_rate: float | None = None,
        source_shares: Mapping[str, float] | None = None,
        source_rates: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
        firing: Firing = "each",
        multicast: Multicast = "none",
        **columns: Any,
    ) -> "StreamGraph":
        """Return a graph from columns; this is faster than rows for large graphs.

        The other parameters are those of the class.

        Parameters
        ----------
        names
            The names of the V operators.
        instructions, payload_bytes
            (V,) numbers, see `Operator`.
        ends
            (E, 2) operator indices, source and target.
        columns
            Other attributes of the class by name, from ``memory_bytes`` to ``scaling`` and, of
            streams, from ``partitioning`` to ``selectivity_se``. Numbers are columns, (V,) or (E,);
            other values are mappings from the index of an operator or stream. Absent ones, and
            None, stand for the default in `Operator` or `Stream`. NaN in ``stream_payload_bytes``
            stands for the payload of the source operator.

        Raises
        ------
        GraphError
            As the class does, and on columns of the wrong length.
        TypeError
            On an unknown column.
        """
        graph = cls.__new__(cls)
        _refuse_unknown(columns)
        index = index_of(names)
        ends = ends_of(ends, len(index))
        check_indices("operator", OPERATOR_DETAILS, columns, len(index))
        check_indices("stream", STREAM_DETAILS, columns, len(ends))
        values = {"instructions": instructions, "payload_bytes": payload_bytes, **columns}
        rates = source_rate, source_shares, source_rates
        about = (name, *rates, constraints, firing, multicast)
        cls._set(graph, Columns(index, ends, values), *about)
        return graph

    def with_numbers(
        self,
        *,
        source_rate: float | None = None,
        source_shares: Mapping[str, float] | None = None,
        source_rates: Mapping[str, float] | None = None,
        firing: Firing | None = None,
        multicast: Multicast | None = None,
        constraints: Constraints | None = None,
        **columns: Any,
    ) -> tuple["StreamGraph", Ints]:
        """Return a graph of the same operators and streams with other numbers.

        None keeps a number. What belongs to a number that is replaced is replaced with it: a new
        number is exact unless its standard error is given, and streams with the payload of their
        source operator have its new payload. Names, ends and the topological order stay the same,
        so they are not checked again. Streams between the same two operators are sorted by their
        new numbers.

        Parameters
        ----------
        source_rate, source_shares, source_rates, firing, multicast, constraints
            See the class.
        columns
            Numbers and other attributes of operators and streams by name, see `from_columns`.

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
        TypeError
            On an unknown column.
        """
        _refuse_unknown(columns)
        graph = StreamGraph.__new__(StreamGraph)
        vars(graph).update({name: vars(self)[name] for name in KEPT})
        columns |= self._errors_with(columns)
        for each in OPERATOR_NUMBERS:
            if (stated := columns.get(each.name)) is not None:
                setattr(graph, each.name, column_of("operators", each, stated, len(self.names)))
        check_errors("operators", OPERATOR_NUMBERS, vars(graph))
        StreamGraph._set_details(graph, columns)
        if source_rate is not None:
            graph.source_rate = checked_rate(source_rate)
        graph.firing, graph.multicast = firing or self.firing, multicast or self.multicast
        check_semantics(graph.firing, graph.multicast)
        if constraints is not None:
            graph.constraints = constraints
        ends = np.stack([self.stream_source, self.stream_target], axis=1)
        kept = {each.column: getattr(self, each.column) for each in STREAM_FIELDS}
        kept[STREAM_PAYLOAD.column] = self.own_payload_bytes
        values = kept | {name: column for name, column in columns.items() if column is not None}
        numbers = StreamGraph._stream_numbers(graph, ends, values)
        before = StreamGraph._sort_streams(graph, ends, numbers, values)
        if source_shares is not None:
            graph.source_share = shares_of(source_shares, graph.names, graph.sources)
        if source_rates is not None:
            rates = source_rate, source_shares, source_rates
            of_sources = rate_and_shares(*rates, graph.names, graph.sources)
            graph.source_rate, graph.source_share = of_sources
        StreamGraph._freeze(graph)
        return graph, before

    def _errors_with(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return the standard errors of columns that replace numbers, by name."""
        return {
            each.column: errors_with(
                columns.get(each.error_of),
                columns.get(each.column),
                getattr(self, each.error_of),
                getattr(self, each.column),
            )
            for each in (*OPERATOR_NUMBERS, *STREAM_NUMBERS)
            if each.error_of
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamGraph):
            return NotImplemented
        mine, theirs = ((g.sha256, g.name, g.source_rate, g.constraints) for g in (self, other))
        return mine == theirs

    def __hash__(self) -> int:
        return hash(self.sha256)

    def _view(self) -> View:
        view: View = load_ours(GRAPH_VIEW)(self)
        return view


def _refuse_unknown(columns: Iterable[str]) -> None:
    """Refuse names that no column of a graph has."""
    if unknown := [name for name in columns if name not in COLUMNS]:
        raise TypeError(f"unknown column {unknown[0]!r}{candidates(unknown[0], COLUMNS)}")
