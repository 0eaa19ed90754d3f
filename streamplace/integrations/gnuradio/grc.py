"""Reader of GNU Radio's flowgraphs (``.grc``), whose streams carry items at stated rates."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isclose

from streamplace.errors import FormatError
from streamplace.integrations.gnuradio.flowgraph import Flowgraph, flowgraph_from
from streamplace.integrations.gnuradio.rates import clock_of, rate_of
from streamplace.integrations.logical_builder import Link, build_logical_graph
from streamplace.integrations.yaml import parse_yaml
from streamplace.problem.graph import UNKNOWN
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph
from streamplace.util.text import counted

NO_STREAMS = "has no streams of items, which GNU Radio places by the blocks at their ends"


def read(text: str, where: str) -> LogicalGraph:
    """Read a flowgraph; a tuple is an item.

    A block that takes an item at each of n inputs processes n tuples, so that what it emits per
    tuple is an n-th of what it emits per item at an input. The source rate follows from the blocks
    that keep to a clock, such as throttles and radios.

    Raises
    ------
    FormatError
        If the text is not valid. The message names `where`, the place in it and the fault.
    GraphError
        If the blocks do not form a stream graph.
    """
    flowgraph = flowgraph_from(parse_yaml(text, where), where)
    if not flowgraph.streams:
        raise FormatError(f"{where}: {NO_STREAMS}")
    rates = _Rates.of(flowgraph)
    names = [name for name in flowgraph.blocks if name in rates.placed]
    inputs = Counter(target for _, target in rates.ends)
    logical = build_logical_graph(
        names,
        [
            Link(source, target, selectivity=_or_unknown(rates.emitted[source], inputs[source]))
            for source, target in rates.ends
        ],
        name=flowgraph.title,
        source_rate=rates.source_rate,
        source_shares=rates.shares,
    )
    return replace(logical, notes=[*_notes(flowgraph, rates)])


def _or_unknown(emitted: float | None, inputs: int) -> float:
    return UNKNOWN if emitted is None else emitted / max(inputs, 1)


@dataclass(frozen=True)
class _Rates:
    """Rates of items in a flowgraph.

    Parameters
    ----------
    ends
        Source and target of each stream.
    emitted
        Block -> items on each output per item at each input, or per item of a source; None: it is
        not known.
    steps
        Block -> items at each input, or of a source, in units that all blocks share. Blocks
        without an entry are not joined to the first one by known rates.
    uneven
        Blocks that items reach at contradictory rates.
    clocks
        Block -> the items/s to which it keeps.
    """

    ends: tuple[tuple[str, str], ...]
    emitted: Mapping[str, float | None]
    steps: Mapping[str, float]
    uneven: tuple[str, ...]
    clocks: Mapping[str, float]

    @classmethod
    def of(cls, flowgraph: Flowgraph) -> "_Rates":
        """Return the rates that follow from a flowgraph's parameters."""
        ends = tuple((source[0], target[0]) for source, target in flowgraph.streams)
        targets = {target for _, target in ends}
        emitted = {
            name: rate_of(block, flowgraph.variables) if name in targets else 1.0
            for name, block in flowgraph.blocks.items()
        }
        clocks = {
            name: clock
            for name, block in flowgraph.blocks.items()
            if (clock := clock_of(block, flowgraph.variables))
        }
        return cls(ends, emitted, *_balanced(ends, emitted), clocks)

    @property
    def placed(self) -> set[str]:
        """The blocks that streams connect."""
        return {name for ends in self.ends for name in ends}

    @property
    def sources(self) -> list[str]:
        """The blocks without inputs."""
        return sorted({source for source, _ in self.ends} - {target for _, target in self.ends})

    @property
    def shares(self) -> dict[str, float] | None:
        """Source -> its share of all items of sources; None if rates between them are unknown."""
        if any(name not in self.steps for name in self.sources):
            return None
        total = sum(self.steps[name] for name in self.sources)
        return {name: self.steps[name] / total for name in self.sources} if total > 0 else None

    @property
    def source_rate(self) -> float | None:
        """Items/s of all sources, which the slowest clock sets; None if no clock does."""
        if self.shares is None:
            return None
        scales = [
            clock / self.steps[name] for name, clock in self.clocks.items() if self.steps.get(name)
        ]
        rate = min(scales, default=inf) * sum(self.steps[name] for name in self.sources)
        return rate if 0 < rate < inf else None


def _balanced(
    ends: tuple[tuple[str, str], ...], emitted: Mapping[str, float | None]
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return block -> items at each input in common units, and blocks where rates contradict.

    A block takes as many items at each input as at every other. See `_Rates`.
    """
    after: dict[str, list[str]] = {}
    before: dict[str, list[str]] = {}
    for source, target in ends:
        after.setdefault(source, []).append(target)
        before.setdefault(target, []).append(source)
    steps: dict[str, float] = {}
    forward, backward = [(ends[0][0], 1.0)], list[tuple[str, float]]()
    while forward or backward:  # forward first, so that contradictions show where streams meet
        name, step = (forward or backward).pop()
        if name in steps:
            continue
        steps[name] = step
        if own := emitted[name]:
            forward += [(target, step * own) for target in after.get(name, ())]
        backward += [
            (source, step / out) for source in before.get(name, ()) if (out := emitted[source])
        ]
    uneven = {
        target: None
        for source, target in ends
        if source in steps
        and (out := emitted[source])
        and not isclose(steps[source] * out, steps[target], rel_tol=1e-6)
    }
    return steps, tuple(uneven)


def _notes(flowgraph: Flowgraph, rates: _Rates) -> Iterator[str]:
    """Yield what the reader assumes and leaves out, one line each."""
    for name, clock in rates.clocks.items():
        yield f"{name!r:.40} keeps to a clock of {clock:,.6g} items/s"
    if rates.uneven:
        yield f"items reach {listed(rates.uneven)} at contradictory rates, so an input starves"
    senders = {source for source, _ in rates.ends}
    unknown = sorted(
        {each.type for n, each in flowgraph.blocks.items() if n in senders and not rates.emitted[n]}
    )
    if unknown:
        yield (
            f"no rule gives the rates of {counted(len(unknown), 'type')} of blocks, "
            f"{listed(unknown)}; state their selectivities in --costs, or use profile gnuradio"
        )
    alone = [name for name in flowgraph.blocks if name not in rates.placed]
    yield from messages_note(len(flowgraph.messages), alone)


def messages_note(count: int, alone: Sequence[str], used: str = "") -> Iterator[str]:
    """Yield a note about message connections, which carry no items, if there are any.

    Parameters
    ----------
    alone
        Blocks without other connections.
    used
        What they use, as the end of a clause.
    """
    if count:
        who = f", and so are blocks without others{used}: {listed(alone)}" if alone else ""
        yield f"message connections are left out ({count:,}){who}"
