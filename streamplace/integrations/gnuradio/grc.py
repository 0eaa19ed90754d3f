"""Reader and writer of GNU Radio's flowgraphs (``.grc``), whose streams carry items at rates."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from math import inf, isclose
from typing import Any

from streamplace.errors import FormatError, ProblemError
from streamplace.integrations.gnuradio.flowgraph import DISABLED, Flowgraph, flowgraph_from
from streamplace.integrations.gnuradio.rates import clock_of, rate_of
from streamplace.integrations.instances import operator_devices
from streamplace.integrations.logical_builder import Link, build_logical_graph
from streamplace.integrations.yaml import parse_yaml, to_yaml
from streamplace.problem.graph import UNKNOWN
from streamplace.problem.graph_checks import listed
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement
from streamplace.util.text import counted

NO_STREAMS = "has no streams of items, which GNU Radio places by the blocks at their ends"
CORES = re.compile(r"core(0|[1-9][0-9]{0,4})(?:-(0|[1-9][0-9]{0,4}))?", re.ASCII)
RULE = "name each device after its core, as in core0, or its cores, as in core0-3"


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


def write(placement: Placement, text: str, where: str) -> str:
    """Return a flowgraph whose blocks have the cores of their devices as ``affinity``.

    A device is named ``core`` and the number of its core, or those of its first and last one.
    Blocks that the placement lacks keep their affinity.

    Parameters
    ----------
    text
        The flowgraph.

    Raises
    ------
    FormatError
        If the text is not a flowgraph. The message names `where`, the place in it and the fault.
    ProblemError
        If a device has another name, two have the same core, the flowgraph lacks a block, or an
        operator has several instances.
    """
    value: Any = parse_yaml(text, where)
    flowgraph = flowgraph_from(value, where)
    devices = operator_devices(placement)
    if lacking := [name for name in devices if name not in flowgraph.blocks]:
        raise ProblemError(f"{where} has no blocks that run named {listed(lacking)}")
    if len(devices) < len(placement.devices):
        raise ProblemError("a block of GNU Radio has one instance only: place with one of each")
    owner: dict[int, str] = {}
    for device in dict.fromkeys(devices.values()):
        for core in cores_of(device):
            if owner.setdefault(core, device) != device:
                raise ProblemError(
                    f"devices {owner[core]!r} and {device!r} both have core {core}: give each core "
                    "to one device"
                )
    for block in value["blocks"]:
        name, states = block["name"], block.get("states") or {}
        if name in devices and states.get("state") not in DISABLED:
            block.setdefault("parameters", {})["affinity"] = str(cores_of(devices[name]))
    return to_yaml([value])


def cores_of(device: str) -> list[int]:
    """Return the numbers of a device's cores.

    Raises
    ------
    ProblemError
        If its name does not say which.
    """
    found = CORES.fullmatch(device)
    first = int(found[1]) if found else 0
    last = int(found[2] or first) if found else -1
    if last < first:
        raise ProblemError(f"device {device!r:.40} does not say which cores it has: {RULE}")
    return list(range(first, last + 1))


def write_counters(placement: Placement) -> str:
    """Return ``streamplace_counters.py``, which is the same for every placement."""
    return helper_source()


def helper_source() -> str:
    """Return the text of ``streamplace_counters.py``, which depends on GNU Radio only."""
    return files(__package__).joinpath("streamplace_counters.py").read_text(encoding="utf-8")
