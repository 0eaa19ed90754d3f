"""StreamGraph: operators and the streams between them, immutable, validated, acyclic."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamplace.constraints import Constraints
from streamplace.errors import GraphError
from streamplace.ordering import first_cycle, topological_order

Row = TypeVar("Row")
Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

SHARES_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Operator:
    """A step of the job.

    Parameters
    ----------
    instructions
        CPU instructions per tuple it processes.
    payload_bytes
        Bytes of a tuple it emits.
    memory_bytes
        What it takes of its device's memory.
    requires
        Labels that its device must carry.
    """

    name: str
    instructions: float
    payload_bytes: float
    memory_bytes: float = 0.0
    requires: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stream:
    """A directed edge: tuples that one operator sends another.

    Parameters
    ----------
    selectivity
        Tuples put on this stream per tuple that its source operator processes.
    payload_bytes
        Bytes of a tuple on it; None stands for its source operator's.
    """

    source: str
    target: str
    selectivity: float = 1.0
    payload_bytes: float | None = None


class Rows(Sequence[Row], Generic[Row]):
    """Columns seen row by row: nothing is kept but the columns."""

    def __init__(self, length: int, row: Callable[[int], Row]) -> None:
        self._length = length
        self._row = row

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self._row(i) for i in range(*index.indices(self._length))]
        return self._row(range(self._length)[index])


class StreamGraph:
    """A stream-processing job: V operators, E streams.

    Numbers live in numpy columns. Operators keep the order they were given in; streams are sorted
    topologically by (source, target), so every stream into an operator precedes those out of it,
    in whatever order they came. Two streams may join the same two operators.

    Parameters
    ----------
    operators, streams
        Rows; streams name their operators.
    name
        Shown in tables.
    source_rate
        Tuples/s offered by all sources together, unless a problem says otherwise.
    source_shares
        Operator without inputs -> its share of the source rate; together 1. Equal by default.
    constraints
        What placements of this graph must obey, unless a problem says otherwise.

    Attributes
    ----------
    names
        V operator names.
    index
        Operator name -> its index.
    instructions, payload_bytes, memory_bytes
        (V,) float64, see `Operator`.
    requires
        Operator index -> labels, for those that require any.
    source_share
        (V,) share of the source rate, 0 for operators with inputs.
    stream_source, stream_target
        (E,) int32 operator indices.
    selectivity, stream_payload_bytes
        (E,) float64, see `Stream`.
    order
        (V,) int32: the operators, upstream first; ties by index.

    Raises
    ------
    GraphError
        On no operators, duplicate or empty names, unknown endpoints, self-loops, cycles, shares
        that do not fit the sources, and numbers that are negative or not finite.
    """

    def __init__(
        self,
        operators: Iterable[Operator],
        streams: Iterable[Stream],
        *,
        name: str = "",
        source_rate: float | None = None,
        source_shares: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
    ) -> None:
        operators, streams = list(operators), list(streams)
        index = _index([o.name for o in operators])
        ends = [_endpoints(i, s, index) for i, s in enumerate(streams)]
        self._set(
            index,
            [o.instructions for o in operators],
            [o.payload_bytes for o in operators],
            [o.memory_bytes for o in operators],
            {i: tuple(o.requires) for i, o in enumerate(operators) if o.requires},
            np.array(ends, dtype=np.int32).reshape(-1, 2),
            [s.selectivity for s in streams],
            [_own_payload(i, s) for i, s in enumerate(streams)],
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
        requires: Mapping[int, tuple[str, ...]] | None = None,
        selectivity: ArrayLike | None = None,
        stream_payload_bytes: ArrayLike | None = None,
        name: str = "",
        source_rate: float | None = None,
        source_shares: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
    ) -> "StreamGraph":
        """Build a graph from columns, for those too large to go row by row.

        Parameters
        ----------
        ends
            (E, 2) operator indices: source, target.
        stream_payload_bytes
            (E,); NaN stands for the source operator's.
        others
            As the attributes and parameters of the class; memory 0 and selectivity 1 if absent.
        """
        graph = cls.__new__(cls)
        ends = np.asarray(ends, dtype=np.int32).reshape(-1, 2)
        cls._set(
            graph,
            _index(names),
            instructions,
            payload_bytes,
            np.zeros(len(names)) if memory_bytes is None else memory_bytes,
            dict(requires or {}),
            ends,
            np.ones(len(ends)) if selectivity is None else selectivity,
            np.full(len(ends), np.nan) if stream_payload_bytes is None else stream_payload_bytes,
            name,
            source_rate,
            source_shares,
            constraints,
        )
        return graph

    def _set(
        self,
        index: Mapping[str, int],
        instructions: ArrayLike,
        payload_bytes: ArrayLike,
        memory_bytes: ArrayLike,
        requires: Mapping[int, tuple[str, ...]],
        ends: Ints,
        selectivity: ArrayLike,
        stream_payload_bytes: ArrayLike,
        name: str,
        source_rate: float | None,
        source_shares: Mapping[str, float] | None,
        constraints: Constraints | None,
    ) -> None:
        _check_text("name", name)
        names, count = tuple(index), len(index)
        self.name = name
        self.names = names
        self.index = index
        self.requires = requires
        self.constraints = constraints or Constraints()
        self.instructions = _column("operators", "instructions", instructions, count)
        self.payload_bytes = _column("operators", "payload_bytes", payload_bytes, count)
        self.memory_bytes = _column("operators", "memory_bytes", memory_bytes, count)
        if source_rate is not None and not (np.isfinite(source_rate) and source_rate > 0):
            raise GraphError(f"source_rate: must be finite and above 0 (got {source_rate})")
        self.source_rate = None if source_rate is None else float(source_rate)
        if len(ends) and not 0 <= ends.min() <= ends.max() < count:
            raise GraphError(f"streams: an end is outside 0..{count - 1}")
        own = np.asarray(stream_payload_bytes, dtype=np.float64)
        if own.shape != (len(ends),):
            raise GraphError(f"streams: payload_bytes must be a column of {len(ends)}")
        payload = np.where(np.isnan(own), self.payload_bytes[ends[:, 0]], own)
        payload = _column("streams", "payload_bytes", payload, len(ends))
        chosen = _column("streams", "selectivity", selectivity, len(ends))
        if len(loops := np.flatnonzero(ends[:, 0] == ends[:, 1])):
            raise GraphError(f"streams[{loops[0]}]: {names[ends[loops[0], 0]]!r} feeds itself")
        self.order = topological_order(count, ends)
        if len(self.order) < count:
            cycle = " -> ".join(names[v] for v in first_cycle(count, ends, self.order))
            raise GraphError(f"streams: a cycle, {cycle}")
        position = np.empty(count, dtype=np.int32)
        position[self.order] = np.arange(count, dtype=np.int32)
        by = np.lexsort((payload, chosen, ends[:, 1], position[ends[:, 0]]))
        self.stream_source = np.ascontiguousarray(ends[by, 0])
        self.stream_target = np.ascontiguousarray(ends[by, 1])
        self.selectivity = chosen[by]
        self.stream_payload_bytes = payload[by]
        self.source_share = self._shares(source_shares)
        for column in vars(self).values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False

    def _shares(self, given: Mapping[str, float] | None) -> Floats:
        share = np.zeros(len(self.names))
        if given is None:
            share[self.sources] = 1.0 / len(self.sources)
            return share
        sources = {self.names[v] for v in self.sources}
        if wrong := sorted(sources.symmetric_difference(given)):
            raise GraphError(
                f"source_shares: must name exactly the operators without inputs; {wrong[0]!r} is "
                + ("missing" if wrong[0] in sources else "not one of them")
            )
        for source, value in given.items():
            if not (np.isfinite(value) and value >= 0):
                raise GraphError(f"source_shares[{source!r}]: must be finite and at least 0")
            share[self.index[source]] = value + 0.0
        if abs(share.sum() - 1.0) > SHARES_TOLERANCE:
            raise GraphError(f"source_shares: must sum to 1 (got {share.sum():g})")
        return share

    @cached_property
    def sources(self) -> Ints:
        """Indices of the operators without inputs."""
        return _without(len(self.names), self.stream_target)

    @cached_property
    def sinks(self) -> Ints:
        """Indices of the operators without outputs."""
        return _without(len(self.names), self.stream_source)

    @cached_property
    def operators(self) -> Rows[Operator]:
        """The operators, row by row."""
        return Rows(len(self.names), self._operator)

    @cached_property
    def streams(self) -> Rows[Stream]:
        """The streams, row by row."""
        return Rows(len(self.stream_source), self._stream)

    def _operator(self, v: int) -> Operator:
        return Operator(
            self.names[v],
            float(self.instructions[v]),
            float(self.payload_bytes[v]),
            float(self.memory_bytes[v]),
            self.requires.get(v, ()),
        )

    def _stream(self, e: int) -> Stream:
        return Stream(
            self.names[self.stream_source[e]],
            self.names[self.stream_target[e]],
            float(self.selectivity[e]),
            float(self.stream_payload_bytes[e]),
        )

    @cached_property
    def sha256(self) -> str:
        """Hash of operators, streams and source shares: what tells one graph from another."""
        labels = sorted((v, sorted(labels)) for v, labels in self.requires.items())
        digest = hashlib.sha256(json.dumps([self.names, labels]).encode())
        for column in (
            self.stream_source,
            self.stream_target,
            self.instructions,
            self.payload_bytes,
            self.memory_bytes,
            self.source_share,
            self.selectivity,
            self.stream_payload_bytes,
        ):
            digest.update(column.astype(column.dtype.newbyteorder("<")).tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamGraph):
            return NotImplemented
        mine, theirs = ((g.sha256, g.name, g.source_rate, g.constraints) for g in (self, other))
        return mine == theirs

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        label = f" {self.name!r}" if self.name else ""
        return (
            f"<StreamGraph{label}: {len(self.names)} operators, {len(self.streams)} streams, "
            f"{len(self.sources)} sources, {len(self.sinks)} sinks>"
        )


def _index(names: Sequence[str]) -> dict[str, int]:
    if not names:
        raise GraphError("operators: the graph has none")
    index: dict[str, int] = {}
    for v, name in enumerate(names):
        _check_text(f"operators[{v}].name", name)
        if not name:
            raise GraphError(f"operators[{v}].name: is empty")
        if index.setdefault(name, v) != v:
            raise GraphError(f"operators[{v}].name: {name!r} is operators[{index[name]}]'s already")
    return index


def _check_text(what: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise GraphError(f"{what}: is no valid unicode text") from None


def _endpoints(i: int, stream: Stream, index: Mapping[str, int]) -> tuple[int, int]:
    for end in (stream.source, stream.target):
        if end not in index:
            raise GraphError(f"streams[{i}]: no operator is called {end!r}")
    return index[stream.source], index[stream.target]


def _own_payload(i: int, stream: Stream) -> float:
    """Return a stream's payload; NaN stands for its source operator's, and so cannot be one."""
    if stream.payload_bytes is None:
        return float("nan")
    if stream.payload_bytes != stream.payload_bytes:
        raise GraphError(f"streams[{i}].payload_bytes: must be finite and at least 0 (got nan)")
    return stream.payload_bytes


def _column(rows: str, name: str, values: ArrayLike, length: int) -> Floats:
    column = np.array(values, dtype=np.float64) + 0.0  # which makes -0 a plain 0
    if column.shape != (length,):
        raise GraphError(f"{rows}: {name} must be a column of {length}, not {column.shape}")
    wrong = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
    if len(wrong):
        first = wrong[0]
        raise GraphError(
            f"{rows}[{first}].{name}: must be finite and at least 0 (got {column[first]:g})"
        )
    return column


def _without(count: int, ends: Ints) -> Ints:
    lacking = np.ones(count, dtype=bool)
    lacking[ends] = False
    found = np.flatnonzero(lacking).astype(np.int32)
    found.flags.writeable = False
    return found
