"""The columns of a graph: numbers, names and details of its operators and streams."""

from collections.abc import Mapping
from functools import cached_property
from math import isnan
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from streamplace.problem.columns import OPERATOR_NUMBERS, SELECTIVITY, SELECTIVITY_SE, graph_hash
from streamplace.problem.constraints import Constraints
from streamplace.problem.details import (
    DETAILS,
    STREAM_DETAILS,
    by_index,
    ranks_of,
    stream_details_of,
)
from streamplace.problem.graph_checks import (
    acyclic_order,
    check_errors,
    check_text,
    checked_rate,
    column_of,
    indices_not_in,
    payload_of_streams,
    shares_of,
)
from streamplace.problem.operators import UNKNOWN, Operator, RowView, Stream
from streamplace.problem.parallelism import NO_SCALING, NO_SHARES, KeyShares, Scaling
from streamplace.problem.resources import NO_RESOURCES, Resources
from streamplace.problem.rows import Columns
from streamplace.problem.seconds import NO_SECONDS, Seconds
from streamplace.problem.semantics import Firing, Multicast, check_semantics
from streamplace.problem.topology import sorted_streams
from streamplace.util.arrays import Floats, Ints

MAPPINGS = frozenset(
    {"index", "requires", "instance_of"} | {each.name for each in (*DETAILS, *STREAM_DETAILS)}
)
"""Attributes that are read-only mappings."""


class GraphColumns:
    """The columns of `StreamGraph`, which describes them."""

    name: str
    instructions: Floats
    payload_bytes: Floats
    memory_bytes: Floats
    cores: Floats
    instructions_se: Floats
    payload_bytes_se: Floats
    resources: Mapping[int, Resources]
    seconds_on: Mapping[int, Seconds]
    type: Mapping[int, str]
    output_shape: Mapping[int, tuple[int, ...]]
    meta_op: Mapping[int, str]
    parallelism: Mapping[int, int | Literal["free"]]
    min_parallelism: Mapping[int, int]
    max_parallelism: Mapping[int, int]
    partitions: Mapping[int, int]
    scaling: Mapping[int, Scaling]
    partitioning: Mapping[int, str]
    key_shares: Mapping[int, KeyShares]

    def _set(
        self,
        columns: Columns,
        name: str,
        source_rate: float | None,
        source_shares: Mapping[str, float] | None,
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
        self.index: Mapping[str, int] = MappingProxyType(dict(index))
        self.requires: Mapping[int, tuple[str, ...]] = MappingProxyType(dict(columns.requires))
        self.instance_of: Mapping[int, str] = MappingProxyType(dict(columns.instance_of))
        self._set_details({detail.name: columns.details.get(detail.name, {}) for detail in DETAILS})
        self.stated_cores: frozenset[str] = frozenset()
        self.constraints = Constraints() if constraints is None else Constraints.of(constraints)
        numbers = {
            column.name: _column(
                columns.operator_numbers.get(column.name), len(index), column.default
            )
            for column in OPERATOR_NUMBERS
        }
        self._set_operator_numbers(numbers)
        self.source_rate = checked_rate(source_rate)
        own = _column(columns.stream_numbers["payload_bytes"], len(ends), UNKNOWN)
        payload = payload_of_streams(ends, own, self.payload_bytes)
        selectivity, error = (
            column_of(
                "streams",
                column,
                _column(columns.stream_numbers[column.name], len(ends), column.default),
                len(ends),
            )
            for column in (SELECTIVITY, SELECTIVITY_SE)
        )
        self.order = acyclic_order(self.names, ends)
        self._sort_streams(ends, selectivity, payload, error, columns.stream_details)
        self.source_share = shares_of(source_shares, self.names, self.sources)
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
            self.seconds_on.get(v, NO_SECONDS),
            self.type.get(v, ""),
            self.output_shape.get(v, ()),
            self.meta_op.get(v, ""),
            self.parallelism.get(v),
            self.min_parallelism.get(v),
            self.max_parallelism.get(v),
            self.partitions.get(v),
            self.scaling.get(v, NO_SCALING),
        )

    def _stream(self, e: int) -> Stream:
        payload = float(self.stream_payload_bytes[e])
        return Stream(
            self.names[self.stream_source[e]],
            self.names[self.stream_target[e]],
            float(self.selectivity[e]),
            None if isnan(payload) else payload,
            float(self.selectivity_se[e]),
            self.partitioning.get(e, ""),
            self.key_shares.get(e, NO_SHARES),
        )

    def _set_operator_numbers(self, numbers: Mapping[str, ArrayLike | None]) -> None:
        """Check and set the columns of operators; None keeps a column."""
        for column in OPERATOR_NUMBERS:
            values = numbers.get(column.name)
            if values is not None:
                setattr(self, column.name, column_of("operators", column, values, len(self.names)))
        check_errors("operators", "instructions", self.instructions, self.instructions_se)
        check_errors("operators", "payload_bytes", self.payload_bytes, self.payload_bytes_se)

    def _set_details(self, details: Mapping[str, Mapping[int, object] | None]) -> None:
        """Check and set details of operators; None keeps a detail."""
        for detail in DETAILS:
            if (several := details.get(detail.name)) is not None:
                setattr(self, detail.name, MappingProxyType(detail.of(several)))

    def _sort_streams(
        self,
        ends: Ints,
        selectivity: Floats,
        payload_bytes: Floats,
        selectivity_se: Floats,
        details: Mapping[str, Mapping[int, object]],
    ) -> Ints:
        """Set the columns of streams in topological order; return their previous indices, (E,)."""
        check_errors("streams", "selectivity", selectivity, selectivity_se)
        checked = stream_details_of(details)
        ranks = ranks_of(checked, len(ends))
        by = sorted_streams(self.order, ends, selectivity, payload_bytes, selectivity_se, *ranks)
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
        self.selectivity = selectivity[by]
        self.stream_payload_bytes = payload_bytes[by]
        self.selectivity_se = selectivity_se[by]
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
        details = {detail.name: by_index(getattr(self, detail.name)) for detail in DETAILS}
        header += [{name: [[*x] for x in of.items()]} for name, of in details.items() if of]
        of_streams = {one.name: by_index(getattr(self, one.name)) for one in STREAM_DETAILS}
        header += [{name: [[*x] for x in of.items()]} for name, of in of_streams.items() if of]
        header += [{name: value} for name, value in self.semantics.items()]
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
            vars(self)[name] = MappingProxyType(value) if name in MAPPINGS else value


def _column(values: ArrayLike | None, length: int, default: float | None) -> ArrayLike:
    """Return a column, or one of default values for None."""
    return np.full(length, default) if values is None else values
