"""Stream graphs: immutable, validated, acyclic graphs of operators and streams."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import isnan
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamplace.display.mixins import Displayable
from streamplace.display.view import View
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph_checks import (
    STREAM_PAYLOAD,
    Firing,
    Multicast,
    OperatorLike,
    StreamLike,
    attributes_of,
    check_indices,
    check_semantics,
    checked_rate,
    columns_of_rows,
    details_of_operators,
    ends_of,
    errors_with,
    guesses_with,
    index_of,
    indices_not_in,
    listed,
    numbers_of_operators,
    numbers_of_streams,
    rate_and_shares,
    shares_of,
    sorted_streams,
)
from streamplace.problem.operators import (
    COUNTS,
    OPERATOR_DETAILS,
    OPERATOR_FIELDS,
    OPERATOR_NUMBERS,
    STREAM_DETAILS,
    STREAM_FIELDS,
    STREAM_NUMBERS,
    UNKNOWN,
    Number,
    Operator,
    RowView,
    Stream,
    plain,
)
from streamplace.problem.parallelism import KeyShares, Partitions, Scaling
from streamplace.problem.resources import Resources
from streamplace.problem.seconds import Seconds
from streamplace.util.arrays import Bools, Floats, Ints
from streamplace.util.plugins import load_ours
from streamplace.util.suggest import candidates

__all__ = ["UNKNOWN", "Operator", "Stream", "StreamGraph"]

COLUMNS = tuple(each.column for each in (*OPERATOR_FIELDS, *STREAM_FIELDS))
"""The attributes of a graph that are fields of operators or streams."""
MAPPINGS = frozenset({"index"} | {each.column for each in (*OPERATOR_DETAILS, *STREAM_DETAILS)})
"""Attributes that are read-only mappings."""
KEPT = (
    *("name", "names", "index", "constraints", "order", "stated_cores", "firing", "multicast"),
    *("source_rate", "source_share"),
    *(each.column for each in OPERATOR_FIELDS),
)
"""Attributes that a graph shares with one of the same operators and streams, if not replaced."""
_OF_OPERATORS, _OF_STREAMS = (
    [(each.name, each.column, isinstance(each.kind, Number), each.is_whole) for each in several]
    for several in (OPERATOR_FIELDS, STREAM_FIELDS)
)
GRAPH_VIEW = "streamplace.problem.graph_view:graph_view"
"""Shows a graph; loaded once one is shown."""


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
    source_rates
        Operator without inputs -> the tuples/s that it offers, instead of both arguments above.
    constraints
        Rules for placements of this graph; a `Problem` may override them.
    firing
        How many tuples an operator processes. ``each``: flows add up where streams join, as in
        stream processing. ``all``: every operator and stream carries one tuple per tuple of the
        job, as in neural networks; shares and selectivities are ignored.
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
    stated_cores
        Names of the operators whose number of cores the graph's file states.
    file
        Absolute path of the file that holds this graph and no other; None after a change.
    instructions, ..., typical
        The fields of `Operator`: numbers are (V,) float64, NaN if unknown; others are mappings from
        the index of an operator to its value, for operators that have one.
    selectivity, ..., typical_streams
        The same for `Stream`, with (E,) numbers. `stream_payload_bytes` has the payload of the
        source operator for streams without their own.
    source_share
        (V,) float64, share of the source rate; 0 for operators with inputs.
    stream_source, stream_target
        (E,) int32, operator indices.
    order
        (V,) int32, the operators in topological order, sources first; ties by index.

    Raises
    ------
    GraphError
        If there are no operators; on a duplicate or empty name, an unknown endpoint, a self-loop
        or a cycle, shares that do not fit the sources, or a number that is negative or not finite.
    """

    firing: Firing
    multicast: Multicast
    name: str
    names: tuple[str, ...]
    index: Mapping[str, int]
    stated_cores: frozenset[str]
    file: str | None = None
    constraints: Constraints
    instructions: Floats
    payload_bytes: Floats
    memory_bytes: Floats
    cores: Floats
    instructions_se: Floats
    payload_bytes_se: Floats
    requires: Mapping[int, tuple[str, ...]]
    instance_of: Mapping[int, str]
    resources: Mapping[int, Resources]
    seconds_on: Mapping[int, Seconds]
    type: Mapping[int, str]
    output_shape: Mapping[int, tuple[int, ...]]
    meta_op: Mapping[int, str]
    parallelism: Mapping[int, int | Literal["free"]]
    min_parallelism: Mapping[int, int]
    max_parallelism: Mapping[int, int]
    partitions: Mapping[int, Partitions]
    scaling: Mapping[int, Scaling]
    typical: Mapping[int, tuple[str, ...]]
    selectivity: Floats
    stream_payload_bytes: Floats
    selectivity_se: Floats
    partitioning: Mapping[int, str]
    key_shares: Mapping[int, KeyShares]
    typical_streams: Mapping[int, tuple[str, ...]]
    source_rate: float | None
    source_share: Floats
    stream_source: Ints
    stream_target: Ints
    order: Ints

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
        rates = source_rate, source_shares, source_rates
        columns = columns_of_rows(operators, streams)
        self.__setstate__(attributes_of(*columns, name, *rates, constraints, firing, multicast))

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
            Other attributes of the class by name. Numbers are columns, (V,) or (E,); other values
            are mappings from the index of an operator or stream. Absent ones, and None, stand for
            the default in `Operator` or `Stream`. NaN in ``stream_payload_bytes`` stands for the
            payload of the source operator.

        Raises
        ------
        GraphError
            As the class does, and on columns of the wrong length.
        TypeError
            On an unknown column.
        """
        _refuse_unknown(columns)
        index = index_of(names)
        ends = ends_of(ends, len(index))
        check_indices("operator", OPERATOR_DETAILS, columns, len(index))
        check_indices("stream", STREAM_DETAILS, columns, len(ends))
        values = {"instructions": instructions, "payload_bytes": payload_bytes, **columns}
        rates = source_rate, source_shares, source_rates
        about = (name, *rates, constraints, firing, multicast)
        return cls._of(attributes_of(index, ends, values, *about))

    @classmethod
    def _of(cls, attributes: Mapping[str, Any]) -> "StreamGraph":
        """Return a graph of attributes that are checked."""
        graph = cls.__new__(cls)
        graph.__setstate__(attributes)
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
        new = {name: values for name, values in columns.items() if values is not None}
        new |= errors_with(new, vars(self)) | guesses_with(new, vars(self))
        found = {name: getattr(self, name) for name in KEPT}
        found |= numbers_of_operators(new, len(self.names), found)
        found |= details_of_operators(new, found)
        if source_rate is not None:
            found["source_rate"] = checked_rate(source_rate)
        found |= {"firing": firing or self.firing, "multicast": multicast or self.multicast}
        check_semantics(found["firing"], found["multicast"])
        if constraints is not None:
            found["constraints"] = constraints
        ends = np.stack([self.stream_source, self.stream_target], axis=1)
        kept = {each.column: getattr(self, each.column) for each in STREAM_FIELDS}
        kept[STREAM_PAYLOAD.column] = self.own_payload_bytes
        numbers = numbers_of_streams(kept | new, ends, found["payload_bytes"])
        of_streams, before = sorted_streams(self.order, ends, numbers, kept | new)
        found |= of_streams
        if source_shares is not None:
            found["source_share"] = shares_of(source_shares, self.names, self.sources)
        if source_rates is not None:
            rates = source_rate, source_shares, source_rates
            of_sources = rate_and_shares(*rates, self.names, self.sources)
            found["source_rate"], found["source_share"] = of_sources
        return StreamGraph._of(found), before

    @cached_property
    def operators(self) -> RowView[Operator]:
        """The operators as a read-only sequence of rows."""
        return RowView(len(self.names), self._operator)

    @cached_property
    def streams(self) -> RowView[Stream]:
        """The streams as a read-only sequence of rows, in topological order."""
        return RowView(len(self.stream_source), self._stream)

    def _operator(self, v: int) -> Operator:
        return Operator(self.names[v], **self._row(v, _OF_OPERATORS))

    def _stream(self, e: int) -> Stream:
        values = self._row(e, _OF_STREAMS)
        if isnan(values["payload_bytes"]):
            del values["payload_bytes"]
        source, target = int(self.stream_source[e]), int(self.stream_target[e])
        return Stream(self.names[source], self.names[target], **values)

    def _row(self, i: int, fields: Iterable[tuple[str, str, bool, bool]]) -> dict[str, Any]:
        """Return the values of operator or stream i that are not absent, by field."""
        found: dict[str, Any] = {}
        columns = vars(self)
        for name, column, is_number, is_whole in fields:
            values = columns[column]
            if is_number:
                found[name] = int(values[i]) if is_whole else values.item(i)
            elif values and i in values:
                found[name] = values[i]
        return found

    @property
    def own_payload_bytes(self) -> Floats:
        """The payload of each stream, (E,); NaN if it is its source operator's, or unknown."""
        payload = self.stream_payload_bytes
        return np.where(payload == self.payload_bytes[self.stream_source], UNKNOWN, payload)

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
    def instances(self) -> dict[str, list[str]]:
        """Operator -> the names of its instances; operators of the graph itself have none."""
        found: dict[str, list[str]] = {}
        for v, owner in self.instance_of.items():
            if owner not in self.index:
                found.setdefault(owner, []).append(self.names[v])
        return found

    @property
    def states_counts(self) -> bool:
        """Whether it says anything about numbers of instances."""
        return any(getattr(self, name) for name in COUNTS)

    @property
    def semantics(self) -> dict[str, str]:
        """The values of ``firing`` and ``multicast`` that are not at their default, by name."""
        values = {"firing": (self.firing, "each"), "multicast": (self.multicast, "none")}
        return {name: value for name, (value, default) in values.items() if value != default}

    @cached_property
    def flowing(self) -> Bools:
        """Whether tuples can get to each operator, (V,).

        None do if, on every way from a source, the source's share or a selectivity is 0. An unknown
        selectivity counts as above 0.
        """
        if self.firing == "all":
            return np.ones(len(self.names), np.bool_)
        found: list[bool] = (self.source_share > 0.0).tolist()
        open_to = self.selectivity != 0.0
        ends = self.stream_source[open_to].tolist(), self.stream_target[open_to].tolist()
        for u, v in zip(*ends, strict=True):  # in topological order
            found[v] = found[v] or found[u]
        column = np.array(found)
        column.flags.writeable = False
        return column

    @property
    def carrying(self) -> Bools:
        """Whether tuples can be on each stream, (E,)."""
        passes: Bools = (self.selectivity != 0.0) | (self.firing == "all")
        carrying: Bools = self.flowing[self.stream_source] & passes
        return carrying

    @cached_property
    def unknown(self) -> dict[str, list[str]]:
        """Kind of number -> operators or streams that lack it; empty if the graph can be placed.

        Numbers that cannot matter are left out: those of operators and streams that get no tuples,
        and selectivities if `firing` is ``all``. Instances appear under their operator's name.
        """
        missing = self._missing
        if not any(column.any() for column in missing.values()):
            return {}
        names, carrying = self.owners, self.carrying
        needs = {
            "instructions": self.flowing,
            "payload_bytes": carrying,
            "selectivity": carrying & (self.firing != "all"),
        }
        at = {kind: np.flatnonzero(missing[kind] & needs[kind]).tolist() for kind in missing}
        senders = np.unique(self.stream_source[at["payload_bytes"]]).tolist()
        ends = ((self.stream_source[e], self.stream_target[e]) for e in at["selectivity"])
        unknown = {
            "instructions": [names[v] for v in at["instructions"]],
            "payload_bytes": [names[v] for v in senders],
            "selectivity": [f"{names[u]}->{names[v]}" for u, v in ends],
        }
        return {kind: list(dict.fromkeys(found)) for kind, found in unknown.items() if found}

    @cached_property
    def unknown_without_tuples(self) -> list[str]:
        """The operators that get no tuples and lack numbers, which cannot matter."""
        missing = self._missing
        lacks = missing["instructions"].copy()
        for of_streams in ("payload_bytes", "selectivity"):
            lacks[self.stream_source[missing[of_streams]]] = True
        if not lacks.any():
            return []
        idle = np.flatnonzero(lacks & ~self.flowing).tolist()
        return list(dict.fromkeys(self.owners[v] for v in idle))

    def has_plain_work(self, v: int) -> bool:
        """Return whether an operator can run where no time is stated, as its work is known or 0."""
        return not isnan(self.instructions[v]) or not self.flowing[v]

    @cached_property
    def _missing(self) -> dict[str, Bools]:
        """Kind of number -> the operators, (V,), or streams, (E,), that lack it."""
        without_work = np.isnan(self.instructions)
        without_work[[v for v, seconds in self.seconds_on.items() if seconds.has_times]] = False
        return {
            "instructions": without_work,
            "payload_bytes": np.isnan(self.stream_payload_bytes),
            "selectivity": np.isnan(self.selectivity),
        }

    @property
    def lacking(self) -> list[str]:
        """Descriptions of the unknown numbers, one line per kind of number."""
        return [f"{kind} of {listed(names)}" for kind, names in self.unknown.items()]

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of operators, streams and source shares, as hexadecimal text."""
        labels = sorted((v, sorted(labels)) for v, labels in self.requires.items())
        header: list[object] = [self.names, labels]
        if self.instance_of:
            header.append(sorted(self.instance_of.items()))
        details = {
            each: getattr(self, each.column) for each in (*OPERATOR_DETAILS, *STREAM_DETAILS)
        }
        header += [
            {each.name: [[v, plain(value)] for v, value in several.items()]}
            for each, several in details.items()
            if each.added and several
        ]
        header += [{name: value} for name, value in self.semantics.items()]
        digest = hashlib.sha256(json.dumps(header).encode())
        for ends in (self.stream_source, self.stream_target):
            digest.update(_bytes_of(ends))
        for numbers, others in ((OPERATOR_NUMBERS, [self.source_share]), (STREAM_NUMBERS, [])):
            always = [getattr(self, each.column) for each in numbers if not each.added]
            for column in (*always, *others):
                digest.update(_bytes_of(column))
        for each in (*OPERATOR_NUMBERS, *STREAM_NUMBERS):
            if each.added and ((column := getattr(self, each.column)) != each.default).any():
                digest.update(each.name.encode() + _bytes_of(column))
        return digest.hexdigest()

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

    def __getstate__(self) -> dict[str, object]:
        state = vars(self).items()  # with plain dicts, since read-only mappings cannot be pickled
        return {k: dict(v) if isinstance(v, MappingProxyType) else v for k, v in state}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Take over checked attributes, also those of a pickled graph; all become read-only."""
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            is_plain = name in MAPPINGS and not isinstance(value, MappingProxyType)
            vars(self)[name] = MappingProxyType(value) if is_plain else value


def _refuse_unknown(columns: Iterable[str]) -> None:
    if unknown := [name for name in columns if name not in COLUMNS]:
        raise TypeError(f"unknown column {unknown[0]!r}{candidates(unknown[0], COLUMNS)}")


def _bytes_of(values: NDArray[np.generic]) -> bytes:
    return values.astype(values.dtype.newbyteorder("<")).tobytes()
