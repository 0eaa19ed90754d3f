"""Costs that an engine's document does not tell, from a file of the user's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isnan
from pathlib import Path

from pydantic import Field

from streamplace.errors import FormatError, GraphError, located
from streamplace.files.reading import check, name_of, read_text
from streamplace.files.schema import Form, Name, Number, Positive
from streamplace.integrations.cost_tables import from_csv, from_toml
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph, Way

Ends = tuple[str, str]
Spread = Sequence[Way]


class CostForm(Form):
    """What one operator costs."""

    instructions: Number | None = None
    payload_bytes: Number | None = None
    memory_bytes: Number | None = None
    selectivity: Number | None = Field(None, description="of every stream it sends")


class CostsForm(Form):
    """A file of costs."""

    source_rate: Positive | None = None
    source_shares: dict[Name, Number] | None = Field(None, description="of the rate; sum 1")
    default: CostForm = CostForm()
    operators: dict[Name, CostForm] = Field({})
    streams: dict[Name, Number] = Field({}, description="selectivities, by source->target")


@dataclass(frozen=True)
class Costs:
    """Numbers by operator; those of `default` are for operators and streams that nobody knows.

    Parameters
    ----------
    source_rate
        Tuples/s over all sources.
    source_shares
        Source -> its share of that; None: the document's, else equal.
    operators
        Operator -> its numbers; they replace what the document tells.
    streams
        ``source->target`` -> selectivity, which replaces the document's.
    """

    source_rate: float | None = None
    source_shares: Mapping[str, float] | None = None
    default: CostForm = field(default_factory=CostForm)
    operators: Mapping[str, CostForm] = field(default_factory=dict)
    streams: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path) -> "Costs":
        """Read a TOML file, or CSV with a header ``operator,instructions,payload_bytes,…``.

        Raises
        ------
        FormatError
            Naming the file, the place in it and the fault.
        """
        where = name_of(path)
        text = read_text(path)
        with located(where, FormatError):
            value = from_csv(text) if where.lower().endswith(".csv") else from_toml(text)
        form = check(CostsForm, value, where)
        shares = form.source_shares
        return cls(form.source_rate, shares, form.default, form.operators, form.streams)

    def of(self, job: LogicalGraph) -> LogicalGraph:
        """Return the job with these costs.

        Raises
        ------
        GraphError
            If the job lacks an operator or stream that they name, or shares are none.
        """
        graph = job.graph
        named = {f"{s.source}->{s.target}" for s in graph.streams}
        if strangers := [name for name in self.operators if name not in graph.index]:
            raise GraphError(f"operators: the job has no {listed(strangers)}")
        if strangers := [name for name in self.streams if name not in named]:
            raise GraphError(f"streams: the job has no {listed(strangers)}")
        shares = {graph.names[v]: float(graph.source_share[v]) for v in graph.sources}
        operators = [self._operator(operator) for operator in graph.operators]
        payload = {operator.name: operator.payload_bytes for operator in operators}
        told = StreamGraph(
            operators,
            [self._stream(stream) for stream in graph.streams],
            name=graph.name,
            source_rate=graph.source_rate if self.source_rate is None else self.source_rate,
            source_shares=shares if self.source_shares is None else self.source_shares,
            constraints=graph.constraints,
        )
        return replace(job, graph=told, distributions=self._distributions(job, payload))

    def _distributions(self, job: LogicalGraph, payload: Mapping[str, float]) -> dict[Ends, Spread]:
        """Return how streams are spread, where several join the same operators in their new order.

        A graph orders those by selectivity and payload, which costs change.
        """
        told: dict[Ends, Spread] = {}
        for ends, spread in job.distributions.items():
            told[ends] = spread
            if len(set(spread)) > 1:
                streams = [s for s in job.graph.streams if (s.source, s.target) == ends]
                ranks = [_rank(self._stream(stream), payload[ends[0]]) for stream in streams]
                ranked = sorted(zip(ranks, spread, strict=False), key=lambda both: both[0])
                told[ends] = [how for _, how in ranked]
        return told

    def _operator(self, operator: Operator) -> Operator:
        own = self.operators.get(operator.name, CostForm())
        for what in ("instructions", "payload_bytes", "memory_bytes"):
            number = getattr(own, what)
            there = getattr(operator, what)
            if number is None and (isnan(there) or (what == "memory_bytes" and there == 0)):
                number = getattr(self.default, what)
            if number is not None:
                operator = replace(operator, **{what: number})
        return operator

    def _stream(self, stream: Stream) -> Stream:
        own = self.operators.get(stream.source, CostForm())
        number = self.streams.get(f"{stream.source}->{stream.target}", own.selectivity)
        if number is None and isnan(stream.selectivity):
            number = self.default.selectivity
        if number is not None:
            stream = replace(stream, selectivity=number)
        told = stream.payload_bytes is not None and not isnan(stream.payload_bytes)
        if told and own.payload_bytes is None:
            return stream
        return replace(stream, payload_bytes=None)  # its source operator's


def _rank(stream: Stream, payload_bytes: float) -> tuple[float, float]:
    """Return where a stream stands among those that join the same operators; unknown is last."""
    own = payload_bytes if stream.payload_bytes is None else stream.payload_bytes
    return (inf if isnan(stream.selectivity) else stream.selectivity, inf if isnan(own) else own)
