"""Costs files: the user's numbers, which complete or correct those of an imported file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from streamplace.errors import FormatError, GraphError, located
from streamplace.files.reading import check, name_of, read_text
from streamplace.files.schema import Amounts, Form, Name, Number, Positive
from streamplace.files.toml import parse_toml
from streamplace.formats.logical_builder import Parallelism
from streamplace.formats.tables import Table, table_of
from streamplace.problem.graph import UNKNOWN, StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import AnyDistribution, KeyedDistribution, LogicalGraph
from streamplace.util.suggest import did_you_mean


def from_toml(text: str) -> Any:
    """Parse TOML.

    Raises
    ------
    GraphError
        If the text is not valid TOML.
    """
    try:
        return parse_toml(text)
    except ValueError as error:
        raise GraphError(f"{error}; costs are TOML, or CSV if the name ends in .csv") from None


class DefaultForm(Form):
    """Costs of operators without own ones: per tuple, and those of one instance."""

    instructions: Number | None = None
    payload_bytes: Number | None = None
    memory_bytes: Number | None = None
    selectivity: Number | None = Field(None, description="of every stream that the operator sends")
    instructions_se: Number | None = Field(None, description="standard error of instructions")
    payload_bytes_se: Number | None = Field(None, description="standard error of payload_bytes")
    selectivity_se: Number | None = Field(None, description="standard error of selectivity")
    parallelism: Parallelism | None = Field(
        None, description="number of instances, where the imported file leaves it open"
    )
    resources: Amounts | None = Field(None, description='amounts such as {"gpu": 1}')


class CostForm(DefaultForm):
    """Costs of one operator, and its numbers of instances and partitions."""

    parallelism: Parallelism | None = Field(
        None, description="number of instances; operators of one task have the same"
    )
    partitions: Parallelism | None = Field(
        None, description="of a source: what it reads; of an operator with keys: its key groups"
    )


class CostsForm(Form):
    """A costs file."""

    source_rate: Positive | None = None
    source_shares: dict[Name, Number] | None = Field(None, description="of the rate; sum 1")
    source_rates: dict[Name, Number] | None = Field(
        None, description="tuples/s by source, instead of source_rate and source_shares"
    )
    default: DefaultForm = DefaultForm()
    operators: dict[Name, CostForm] = Field({})
    streams: dict[Name, Number] = Field(
        {}, description="selectivities, by source->target or, of one stream, source->target:id"
    )


@dataclass(frozen=True)
class Costs:
    """The user's numbers for the operators and streams of an imported graph.

    Parameters
    ----------
    source_rate
        Tuples/s over all sources.
    source_shares
        Source -> its share of the rate. None keeps the graph's shares, which are equal if the
        imported file has none.
    source_rates
        Source -> tuples/s, instead of both.
    default
        Numbers for all operators; they replace unknown numbers only.
    operators
        Operator -> its numbers, which replace the graph's. A number without a standard error is
        exact, even if it replaces one that was not.
    streams
        ``source->target`` -> selectivity, which replaces the graph's. With ``:id`` behind it, the
        key means the stream that the imported file calls so, and precedes the key without it.
    notes
        What was assumed when they were read, a sentence each.
    """

    source_rate: float | None = None
    source_shares: Mapping[str, float] | None = None
    source_rates: Mapping[str, float] | None = None
    default: DefaultForm = field(default_factory=DefaultForm)
    operators: Mapping[str, CostForm] = field(default_factory=dict)
    streams: Mapping[str, float] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @classmethod
    def read(cls, path: str | Path) -> "Costs":
        """Read a TOML file, or CSV with a header such as ``operator,cpu_ms,payload_bytes``.

        Raises
        ------
        FormatError
            If the file is not valid. The message names the file, the place in it and the fault.
        """
        where = name_of(path)
        text = read_text(path)
        with located(where, FormatError):
            if where.lower().endswith(".csv"):
                found = cls.of_table(table_of(text), where)
            else:
                found = cls._of_value(from_toml(text), where)
        if found == cls(notes=found.notes):
            remedy = "'streamplace import --help' shows what belongs there"
            raise FormatError(f"{where}: has no costs; {remedy}")
        return found

    @classmethod
    def of_table(cls, table: Table, where: str) -> "Costs":
        """Return the costs in a table.

        Raises
        ------
        FormatError
            If a number is out of range, or a stream has a payload.
        """
        streams = {f"{a}->{b}": numbers for (a, b), numbers in table.streams.items()}
        for name, numbers in streams.items():
            if "payload_bytes" in numbers:
                own = "costs have the payload of each operator, not of a stream"
                raise FormatError(f"{where}: stream {name!r:.80}: {own}")
        value: dict[str, Any] = {
            "operators": table.operators,
            "streams": {name: n["selectivity"] for name, n in streams.items() if n},
        }
        if table.rates:
            value["source_rates"] = table.rates
        return cls._of_value(value, where, table.notes)

    @classmethod
    def _of_value(cls, value: Any, where: str, notes: Sequence[str] = ()) -> "Costs":
        form = check(CostsForm, value, where)
        rates = form.source_rate, form.source_shares, form.source_rates
        return cls(*rates, form.default, form.operators, form.streams, notes)

    def of(self, logical: LogicalGraph) -> LogicalGraph:
        """Return the logical graph with these costs filled in.

        Raises
        ------
        GraphError
            If the graph lacks an operator or stream that these costs name, the source shares do
            not sum to 1, operators of one task would have different parallelisms, or partitions do
            not fit an operator.
        """
        graph = logical.graph
        keys = _keys_of_streams(logical)
        named = {key for of_stream in keys for key in of_stream}
        if unknown := [name for name in self.operators if name not in graph.index]:
            raise GraphError(f"operators: unknown {_unknown('operator', unknown, graph.names)}")
        if unknown := [name for name in self.streams if name not in named]:
            raise GraphError(f"streams: unknown {_unknown('stream', unknown, sorted(named))}")
        of_operators, of_streams = self._operator_columns(graph), self._stream_columns(graph, keys)
        renumbered = graph.with_numbers(
            **of_operators,
            **of_streams,
            resources=self._resources(graph),
            seconds_on=None,
            source_rate=self.source_rate,
            source_shares=self.source_shares,
            source_rates=self.source_rates,
        )
        notes = [*logical.notes, *self.notes]
        if replaced := self._replaced(graph, keys):
            ways = "[streams] of a TOML costs file sets each one"
            notes.append(
                f"the costs' selectivity of an operator replaces that of {listed(replaced)}; {ways}"
            )
        if self.default.parallelism is not None and not logical.open_counts:
            notes.append(
                "the costs' default parallelism counts for no operator, since the file leaves no "
                "number of instances open; set it in [operators]"
            )
        parallelism, open_counts = self._parallelism(logical)
        numbered = replace(
            logical.with_graph(*renumbered),
            parallelism=parallelism,
            open_counts=open_counts,
            notes=tuple(notes),
        )
        own = {name: form.partitions for name, form in self.operators.items()}
        return with_partitions(numbered, {name: n for name, n in own.items() if n is not None})

    def _replaced(self, graph: StreamGraph, keys: Sequence[Sequence[str]]) -> list[str]:
        """Return streams that lose their own selectivity to one number for all of an operator's."""
        sent = Counter(stream.source for stream in graph.streams)
        replaced = []
        for stream, own, names in zip(graph.streams, graph.selectivity.tolist(), keys, strict=True):
            number = self.operators.get(stream.source, CostForm()).selectivity
            stated = any(name in self.streams for name in names)
            kept = number in (None, own) or np.isnan(own) or stated
            if sent[stream.source] > 1 and not kept:
                replaced.append(names[-1])
        return replaced

    def _parallelism(self, logical: LogicalGraph) -> tuple[dict[str, int], list[str]]:
        """Return the parallelism of operators, and those for which it is still open.

        One number holds for all operators of a task.
        """
        stated = {name: form.parallelism for name, form in self.operators.items()}
        found = dict(logical.parallelism)
        if self.default.parallelism is not None:
            found |= dict.fromkeys(logical.open_counts, self.default.parallelism)
        found |= {name: count for name, count in stated.items() if count is not None}
        partitions = {name: form.partitions for name, form in self.operators.items()}
        for task in logical.tasks:
            counts = {count for name in task if (count := stated.get(name)) is not None}
            if len(counts) > 1:
                raise GraphError(
                    f"operators: {listed(task)} are one task, so their parallelism must be equal"
                )
            read = max((partitions.get(name) or 0 for name in task), default=0)
            if logical.per_partition and read:
                if counts - {read}:
                    raise GraphError(
                        f"operators: {listed(task)} run as one task per partition, so their "
                        f"parallelism must be {read:,} (got {max(counts):,})"
                    )
                counts = {read}
            found |= {name: count for count in counts for name in task}
        _inherit(logical, found)
        several = {name: count for name, count in found.items() if count > 1}
        return several, [name for name in logical.open_counts if name not in found]

    def _operator_columns(self, graph: StreamGraph) -> dict[str, Any]:
        """Return the operators' numbers and their standard errors, (V,) each."""
        columns = {}
        for field_name in ("instructions", "payload_bytes", "memory_bytes"):
            column = getattr(graph, field_name).copy()
            of_error = f"{field_name}_se"
            errors = getattr(graph, of_error, np.zeros(len(column))).copy()
            default = getattr(self.default, field_name)
            if default is not None:
                unset = np.isnan(column) | ((column == 0) & (field_name == "memory_bytes"))
                column[unset] = default
                errors[unset] = getattr(self.default, of_error, None) or 0.0
            for name, form in self.operators.items():
                number, error = getattr(form, field_name), getattr(form, of_error, None)
                if number is not None:
                    column[graph.index[name]] = number
                if number is not None or error is not None:
                    errors[graph.index[name]] = error or 0.0
            columns[field_name] = column
            if of_error in CostForm.model_fields:
                columns[of_error] = errors
        return columns

    def _resources(self, graph: StreamGraph) -> dict[int, Mapping[str, float]]:
        """Return operator index -> its resources."""
        found: dict[int, Mapping[str, float]] = dict(graph.resources)
        for v, name in enumerate(graph.names):
            own = self.operators.get(name, CostForm()).resources
            if own is not None:
                found[v] = own
            elif self.default.resources is not None:
                found.setdefault(v, self.default.resources)
        return found

    def _stream_columns(self, graph: StreamGraph, keys: Sequence[Sequence[str]]) -> dict[str, Any]:
        """Return selectivity, its standard error and payload of the streams, (E,) each."""
        selectivity, errors = graph.selectivity.copy(), graph.selectivity_se.copy()
        payload = graph.stream_payload_bytes.copy()
        if self.default.selectivity is not None:
            errors[np.isnan(selectivity)] = self.default.selectivity_se or 0.0
            selectivity[np.isnan(selectivity)] = self.default.selectivity
        for e, stream in enumerate(graph.streams):
            form = self.operators.get(stream.source, CostForm())
            stated = (self.streams[key] for key in keys[e] if key in self.streams)
            number = next(stated, form.selectivity)
            if number is not None:
                selectivity[e] = number
            if number is not None or form.selectivity_se is not None:
                errors[e] = form.selectivity_se or 0.0
            if form.payload_bytes is not None:
                payload[e] = UNKNOWN  # the stream then takes its source operator's payload
        return {
            "selectivity": selectivity,
            "selectivity_se": errors,
            "stream_payload_bytes": payload,
        }


def _keys_of_streams(logical: LogicalGraph) -> list[list[str]]:
    """Return the keys that name each of the E streams, the most precise one first."""
    found = []
    for stream, name in zip(logical.graph.streams, logical.stream_ids, strict=True):
        ends = f"{stream.source}->{stream.target}"
        found.append([f"{ends}:{name}", ends] if name else [ends])
    return found


def _unknown(noun: str, unknown: Sequence[str], names: Sequence[str]) -> str:
    """Return a noun, in the plural if several names are unknown, these, and what may be meant."""
    if len(unknown) > 1:
        return f"{noun}s {listed(unknown)}; known: {listed(names)}"
    return f"{noun} {listed(unknown)}{did_you_mean(unknown[0], names)}"


def with_partitions(logical: LogicalGraph, partitions: Mapping[str, int]) -> LogicalGraph:
    """Return a logical graph with the partitions of some of its operators.

    Those of a source are what it reads, such as the partitions of a topic: further instances are
    idle, as in Flink. Those of an operator with streams by key are its key groups, of which each
    instance needs one; see the field of `Operator`.

    Parameters
    ----------
    partitions
        Operator -> number of partitions.

    Raises
    ------
    GraphError
        If an operator has inputs, but none of them by key, or more instances than key groups.
    """
    if not partitions:
        return logical
    sources = {logical.graph.names[v] for v in logical.graph.sources.tolist()}
    distributions = dict(logical.distributions)
    for (source, target), several in logical.distributions.items():
        if target in partitions:
            distributions[source, target] = [_grouped(one, partitions[target]) for one in several]
    keyed = {
        stream.target
        for stream, kind in zip(logical.graph.streams, logical.stream_distributions, strict=True)
        if isinstance(kind, KeyedDistribution)
    }
    for name, number in partitions.items():
        if name not in sources | keyed:
            where = f"operators[{name!r:.80}].partitions"
            raise GraphError(f"{where}: only sources and operators with streams by key have them")
        if name in keyed and (count := logical.parallelism.get(name, 1)) > number:
            least = f"must be at least the parallelism, {count:,} (got {number:,})"
            raise GraphError(f"operators[{name!r:.80}].partitions: {least}")
    idle = [n for n in sources & {*partitions} if logical.parallelism.get(n, 1) > partitions[n]]
    return replace(
        logical,
        notes=[*logical.notes, *_idle(sorted(idle))],
        distributions=distributions,
        partitions={**logical.partitions, **_of(partitions, sources)},
        max_parallelism={**logical.max_parallelism, **_of(partitions, keyed)},
    )


def _idle(names: Sequence[str]) -> list[str]:
    """Return a note on sources with more instances than partitions."""
    if not names:
        return []
    return [f"{listed(names)}: more instances than partitions, so that some read nothing"]


def _grouped(distribution: AnyDistribution, groups: int) -> AnyDistribution:
    """Return a distribution by key with a number of key groups, and others as they are."""
    if not isinstance(distribution, KeyedDistribution):
        return distribution
    return KeyedDistribution(groups, distribution.keys)


def _inherit(logical: LogicalGraph, found: dict[str, int]) -> None:
    """Add the numbers of the tasks that have as many instances as those before them, in place."""
    waiting = [task for task in logical.tasks if task[0] in logical.repartitioned]
    while ready := [
        task
        for task in waiting
        if task[0] not in found and found.keys() >= {*logical.repartitioned[task[0]]}
    ]:
        for task in ready:
            most = max(found[name] for name in logical.repartitioned[task[0]])
            found |= dict.fromkeys(task, most)


def _of(partitions: Mapping[str, int], names: set[str]) -> dict[str, int]:
    return {name: number for name, number in partitions.items() if name in names}
