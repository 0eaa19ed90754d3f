"""Stream graphs: immutable, validated, acyclic graphs of operators and streams."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from streamplace.display.mixins import Displayable
from streamplace.display.view import View
from streamplace.problem.coerce import OperatorLike, StreamLike
from streamplace.problem.columns import OPERATOR_NUMBERS, SELECTIVITY, SELECTIVITY_SE
from streamplace.problem.constraints import Constraints
from streamplace.problem.details import OF_COUNTS, SOURCE, STREAM_DETAILS, STRUCTURE
from streamplace.problem.graph_checks import (
    changed_column,
    check_indices,
    checked_rate,
    ends_of,
    errors_with,
    index_of,
    payload_of_streams,
    shares_of,
)
from streamplace.problem.graph_view import graph_view
from streamplace.problem.operators import UNKNOWN, Operator, Stream
from streamplace.problem.rows import Columns, columns_of_rows
from streamplace.problem.semantics import Firing, Multicast, check_semantics
from streamplace.problem.unknown_numbers import UnknownNumbers
from streamplace.util.arrays import Ints

__all__ = ["UNKNOWN", "Operator", "Stream", "StreamGraph"]


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
        constraints: Constraints | None = None,
        firing: Firing = "each",
        multicast: Multicast = "none",
    ) -> None:
        columns = columns_of_rows(operators, streams)
        self._set(columns, name, source_rate, source_shares, constraints, firing, multicast)

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
        seconds_on: Mapping[int, Mapping[str, float | None]] | None = None,
        type: Mapping[int, str] | None = None,
        output_shape: Mapping[int, Sequence[int]] | None = None,
        meta_op: Mapping[int, str] | None = None,
        selectivity: ArrayLike | None = None,
        selectivity_se: ArrayLike | None = None,
        stream_payload_bytes: ArrayLike | None = None,
        of_counts: Mapping[str, Mapping[int, object]] | None = None,
        name: str = "",
        source_rate: float | None = None,
        source_shares: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
        firing: Firing = "each",
        multicast: Multicast = "none",
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
        requires, instance_of, resources, seconds_on, type, output_shape, meta_op
            Operator index -> value, see `Operator`.
        selectivity, selectivity_se
            (E,) numbers, see `Stream`.
        stream_payload_bytes
            (E,) numbers; NaN stands for the payload of the source operator.
        of_counts
            Name -> index -> value: the attributes from ``parallelism`` to ``key_shares``.

        Raises
        ------
        GraphError
            As the class does, and on columns of the wrong length.
        """
        graph = cls.__new__(cls)
        index = index_of(names)
        ends = ends_of(ends, len(index))
        details: dict[str, Mapping[int, object] | None] = {
            "resources": resources,
            "seconds_on": seconds_on,
            "type": type,
            "output_shape": output_shape,
            "meta_op": meta_op,
            **{name: several for name, several in (of_counts or {}).items() if name in OF_COUNTS},
        }
        of_streams = {one.name: (of_counts or {}).get(one.name, {}) for one in STREAM_DETAILS}
        of_operators = {"requires": requires, "instance_of": instance_of, **details}
        check_indices("operator", of_operators, len(index))
        check_indices("stream", of_streams, len(ends))
        columns = Columns(
            index,
            ends,
            {
                "instructions": instructions,
                "payload_bytes": payload_bytes,
                "memory_bytes": memory_bytes,
                "cores": cores,
                "instructions_se": instructions_se,
                "payload_bytes_se": payload_bytes_se,
            },
            {
                "selectivity": selectivity,
                "payload_bytes": stream_payload_bytes,
                "selectivity_se": selectivity_se,
            },
            requires or {},
            instance_of or {},
            {what: several or {} for what, several in details.items()},
            of_streams,
        )
        cls._set(graph, columns, name, source_rate, source_shares, constraints, firing, multicast)
        return graph

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
        seconds_on: Mapping[int, Mapping[str, float | None]] | None = None,
        of_counts: Mapping[str, Mapping[int, object]] | None = None,
        firing: Firing | None = None,
        multicast: Multicast | None = None,
    ) -> tuple["StreamGraph", Ints]:
        """Return a graph of the same operators and streams with other numbers.

        None keeps a number. What belongs to a number that is replaced is replaced with it: a new
        number is exact unless its standard error is given, and streams with the payload of their
        source operator have its new payload. Names, ends and the topological order stay the same,
        so they are not checked again. Streams between the same two operators are sorted by their
        new numbers.

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
        resources, seconds_on
            Operator index -> resource -> amount, and -> kind of device -> seconds; see `Operator`.
        of_counts
            See `from_columns`; attributes without an entry are kept.
        firing, multicast
            See the class.

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
                "instructions_se": errors_with(
                    instructions, instructions_se, self.instructions, self.instructions_se
                ),
                "payload_bytes_se": errors_with(
                    payload_bytes, payload_bytes_se, self.payload_bytes, self.payload_bytes_se
                ),
            },
        )
        others = of_counts or {}
        details = {"resources": resources, "seconds_on": seconds_on, **others}
        StreamGraph._set_details(graph, details)
        if source_rate is not None:
            graph.source_rate = checked_rate(source_rate)
        graph.firing, graph.multicast = firing or self.firing, multicast or self.multicast
        check_semantics(graph.firing, graph.multicast)
        ends = np.stack([self.stream_source, self.stream_target], axis=1)
        own = self.own_payload_bytes if stream_payload_bytes is None else stream_payload_bytes
        payload = payload_of_streams(ends, own, graph.payload_bytes)
        chosen = changed_column(SELECTIVITY, selectivity, self.selectivity)
        errors = errors_with(selectivity, selectivity_se, self.selectivity, self.selectivity_se)
        error = changed_column(SELECTIVITY_SE, errors, self.selectivity_se)
        of_streams = {
            one.name: others.get(one.name, getattr(self, one.name)) for one in STREAM_DETAILS
        }
        before = StreamGraph._sort_streams(graph, ends, chosen, payload, error, of_streams)
        if source_shares is not None:
            graph.source_share = shares_of(source_shares, graph.names, graph.sources)
        StreamGraph._freeze(graph)
        return graph, before

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamGraph):
            return NotImplemented
        mine, theirs = ((g.sha256, g.name, g.source_rate, g.constraints) for g in (self, other))
        return mine == theirs

    def __hash__(self) -> int:
        return hash(self.sha256)

    def _view(self) -> View:
        return graph_view(self)
