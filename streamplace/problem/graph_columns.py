"""The columns of a graph: numbers, names and details of its operators and streams."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from math import isnan
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import GraphError
from streamplace.problem.constraints import Constraints
from streamplace.problem.fields import Number, check_text, json_value, plain
from streamplace.problem.graph_checks import (
    STREAM_PAYLOAD,
    Firing,
    Multicast,
    acyclic_order,
    check_errors,
    check_semantics,
    column_of,
    indices_not_in,
    payload_of_streams,
    rate_and_shares,
    sorted_streams,
)
from streamplace.problem.operators import (
    COUNTS,
    OPERATOR_DETAILS,
    OPERATOR_NUMBERS,
    STREAM_DETAILS,
    STREAM_NUMBERS,
    UNKNOWN,
    Operator,
    RowView,
    Stream,
)
from streamplace.problem.parallelism import FLINK, KeyShares, Partitions, Scaling
from streamplace.problem.resources import Resources
from streamplace.problem.rows import Columns, Values
from streamplace.problem.seconds import Seconds
from streamplace.util.arrays import Floats, Ints

MAPPINGS = frozenset({"index"} | {detail.column for detail in (*OPERATOR_DETAILS, *STREAM_DETAILS)})
"""Attributes that are read-only mappings."""
_OF_OPERATORS, _OF_STREAMS = (
    [
        (each.name, each.column, isinstance(each.kind, Number), each.is_whole)
        for each in (*numbers, *details)
    ]
    for numbers, details in (
        (OPERATOR_NUMBERS, OPERATOR_DETAILS),
        (STREAM_NUMBERS, STREAM_DETAILS),
    )
)


class GraphColumns:
    """The columns of `StreamGraph`, which describes them."""

    name: str
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
    selectivity: Floats
    selectivity_se: Floats
    stream_payload_bytes: Floats
    partitioning: Mapping[int, str]
    key_shares: Mapping[int, KeyShares]
    file: str | None = None

    def _set(
        self,
        columns: Columns,
        name: str,
        source_rate: float | None,
        source_shares: Mapping[str, float] | None,
        source_rates: Mapping[str, float] | None,
        constraints: Constraints | None,
        firing: Firing,
        multicast: Multicast,
    ) -> None:
        """Check all values and store them; streams may come in any order."""
        check_text("name", name)
        index, ends = columns.index, columns.ends
        check_semantics(firing, multicast)
        self.firing, self.multicast = firing, multicast
        self.name = name
        self.names = tuple(index)
        self.index: Mapping[str, int] = MappingProxyType(index)
        values = columns.values
        self._set_details({each.name: values.get(each.name) or {} for each in OPERATOR_DETAILS})
        self.stated_cores: frozenset[str] = frozenset()
        self.constraints = Constraints() if constraints is None else Constraints.of(constraints)
        for each in OPERATOR_NUMBERS:
            column = column_of("operators", each, values.get(each.name), len(index))
            setattr(self, each.name, column)
        check_errors("operators", OPERATOR_NUMBERS, vars(self))
        numbers = self._stream_numbers(ends, values)
        self.order = acyclic_order(self.names, ends)
        self._sort_streams(ends, numbers, {f.name: values.get(f.name) for f in STREAM_DETAILS})
        for v in self.sources.tolist():
            if self.partitions.get(v) == FLINK:
                raise GraphError(
                    f"operators[{v}].partitions: 'flink' is for operators with inputs; state the "
                    "number that the source reads"
                )
        self.source_rate, self.source_share = rate_and_shares(
            source_rate, source_shares, source_rates, self.names, self.sources
        )
        self._freeze()

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

    def _set_details(self, details: Values) -> None:
        """Check and set details of operators; None keeps a detail."""
        for each in OPERATOR_DETAILS:
            if (several := details.get(each.name)) is not None:
                setattr(self, each.name, MappingProxyType(each.by_index("operators", several)))

    def _stream_numbers(self, ends: Ints, values: Values) -> dict[str, Floats]:
        """Return the checked numbers of streams by column; None stands for the default."""
        own = values.get(STREAM_PAYLOAD.column)
        payload = payload_of_streams(ends, own, self.payload_bytes)
        found = {STREAM_PAYLOAD.column: payload}
        for each in STREAM_NUMBERS:
            if each is not STREAM_PAYLOAD:
                column = column_of("streams", each, values.get(each.column), len(ends))
                found[each.column] = column
        return found

    def _sort_streams(self, ends: Ints, numbers: Mapping[str, Floats], details: Values) -> Ints:
        """Set the columns of streams in topological order; return their previous indices, (E,)."""
        check_errors("streams", STREAM_NUMBERS, numbers)
        checked = _stream_details(details)
        ranks = _ranks_of(checked, len(ends))
        columns = [numbers[each.column] for each in STREAM_NUMBERS]
        by = sorted_streams(self.order, ends, *columns, *ranks)
        if ranks:
            now = {before: e for e, before in enumerate(by.tolist())}
            checked = {
                name: {now[e]: values[e] for e in sorted(values, key=now.__getitem__)}
                for name, values in checked.items()
            }
        for name, values in checked.items():
            setattr(self, name, MappingProxyType(values))
        self.stream_source = np.ascontiguousarray(ends[by, 0])
        self.stream_target = np.ascontiguousarray(ends[by, 1])
        for name, column in numbers.items():
            setattr(self, name, column[by])
        return by

    def _freeze(self) -> None:
        for values in vars(self).values():
            if isinstance(values, np.ndarray):
                values.flags.writeable = False

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

    def __getstate__(self) -> dict[str, object]:
        """Return the state to pickle, with plain dicts for read-only mappings."""
        state = vars(self).items()
        return {k: dict(v) if isinstance(v, MappingProxyType) else v for k, v in state}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore the pickled state; arrays and mappings are read-only again."""
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            vars(self)[name] = MappingProxyType(value) if name in MAPPINGS else value


def _bytes_of(values: NDArray[np.generic]) -> bytes:
    return values.astype(values.dtype.newbyteorder("<")).tobytes()


def _stream_details(several: Values) -> dict[str, dict[int, Any]]:
    """Return the checked details of streams, by their field's name and then by index.

    Raises
    ------
    GraphError
        On a value that is not valid, and on shares of keys of a stream that is not divided by key.
    """
    checked: dict[str, dict[int, Any]] = {}
    for each in STREAM_DETAILS:
        checked[each.name] = each.by_index("streams", several.get(each.name) or {})
    for e in checked["key_shares"]:
        if (kind := checked["partitioning"].get(e, "")) != "hash":
            got = f"{kind!r}" if kind else "no partitioning"
            fix = 'set "partitioning": "hash", or remove key_shares'
            raise GraphError(
                f"streams[{e}].key_shares: only a stream of partitioning 'hash' may have them "
                f"(got {got}); {fix}"
            )
    return checked


def _ranks_of(details: Mapping[str, Mapping[int, Any]], count: int) -> list[Floats]:
    """Return the rank of each stream, (E,), by its details as text; nothing if none has any.

    The order of streams, and the hash of the graph, then do not depend on the order in its file.
    """
    if not any(details.values()):
        return []
    texts = [json.dumps([json_value(of.get(e)) for of in details.values()]) for e in range(count)]
    rank = {text: float(i) for i, text in enumerate(sorted(set(texts)))}
    return [np.array([rank[text] for text in texts])]
