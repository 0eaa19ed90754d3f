"""Snapshots and traces of a run, and the check that all tuples are accounted for."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from streamplace.sim.engine.event_sets import NOTHING
from streamplace.sim.engine.records import EngineState
from streamplace.sim.flow import Floats, Flow, Ints
from streamplace.sim.jit import inner, kernel

# Tolerated share of unaccounted tuples: sums of millions of ticks round, and faults are larger.
ROUNDING = 1e-6
OFFERED = 1e-4  # share of the offered tuples below which an operator's own are their rounding
Columns = dict[str, Floats]


OPERATORS = ("processed", "busy_s", "blocked_s", "gathered")
STREAMS = ("sent", "taken", "waiting", "in_flight")
SOURCES = ("offered", "dropped", "backlog")
LINKS = ("busy_s", "full_s", "stalled_s")


class EngineError(RuntimeError):
    """The simulation could not be finished or lost tuples, so the throughput is unknown."""


class SceneError(ValueError):
    """A scene that offers nothing during the measured time."""


class Order(NamedTuple):
    """Indices into the state, in the flow's order."""

    operators: Ints  # (V,)
    streams: Ints  # (E,)
    sources: Ints
    sinks: Ints
    tracked: Ints  # (S,) tracked sources


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The counters at a tick, in the flow's order: cumulative, or where marked, current values.

    Parameters
    ----------
    operators
        (V,) ``processed`` and ``gathered`` (current, in windows) in tuples; ``busy_s`` and
        ``blocked_s`` in seconds.
    streams
        (E,) ``sent``, ``taken``, ``waiting`` (current) and ``in_flight`` (current) in tuples.
    devices
        (D,) ``busy_s`` and ``stalled_s`` in seconds.
    links
        (links crossed + 1,) ``busy_s``, ``full_s`` and ``stalled_s`` in seconds; the first entry is
        unused.
    sources
        ``offered``, ``dropped`` and ``backlog`` (current) in tuples.
    reached
        (sinks, S) source tuples per path.
    """

    tick: int
    operators: Columns
    streams: Columns
    devices: Columns
    links: Columns
    sources: Columns
    reached: Floats

    @classmethod
    def of(
        cls, state: EngineState, tick: int, order: Order, began: Floats | None = None
    ) -> "Snapshot":
        """Return a snapshot of a state.

        Parameters
        ----------
        began
            (E,) tuples with which each stream began, in the order of the state, which `sent` leaves
            out; None: none.
        """
        operators = np.empty((len(OPERATORS), len(order.operators)))
        streams = np.empty((len(STREAMS), len(order.streams)))
        sources = np.empty((len(SOURCES), len(order.sources)))
        read_off(state, order.operators, order.streams, order.sources, operators, streams, sources)
        if began is not None:
            streams[0] -= began[order.streams]
        return cls(
            tick,
            dict(zip(OPERATORS, operators, strict=True)),
            dict(zip(STREAMS, streams, strict=True)),
            {name: state.devices[name].copy() for name in ("busy_s", "stalled_s")},
            {name: state.links[name].copy() for name in LINKS},
            dict(zip(SOURCES, sources, strict=True)),
            state.reached[order.sinks][:, order.tracked],
        )


@dataclass(frozen=True, eq=False)
class RunTrace:
    """The trace of a run: snapshots, and the arrivals of every tick.

    `arrived` and `latency` have a column for each input of a sink; tuples that arrive by one input
    in one tick are combined.
    """

    tick_s: float
    period: int  # ticks; see `streamplace.sim.engine.tick_length`
    begin: Snapshot  # when measuring begins
    end: Snapshot
    series: tuple[Snapshot, ...]
    link: Ints  # (links crossed + 1,) index among the flow's links
    sink: Ints  # (columns,) number among the sinks
    stream: Ints  # (columns,) stream, or -1 for a sink that is a source
    latency: Floats  # (ticks, columns) mean seconds
    arrived: Floats  # (ticks, columns) tuples
    devices: Ints  # (V,) the placement
    due: Flow  # average flow during the measured time if nothing was throttled
    lost: float  # largest unaccounted share of a stream's or operator's tuples
    starts_full: bool = False  # whether it began with the queues of its steady state


def check(state: EngineState, target: Ints, order: Order) -> float:
    """Check that the tuples that every stream sent and every operator took are accounted for.

    Returns the largest unaccounted share of a stream's or operator's tuples, which is rounding.

    Parameters
    ----------
    target
        (E,) target of every stream, in the order of `Places`.

    Raises
    ------
    EngineError
        If tuples were created or lost, or a count is NaN.
    """
    streams, operators = len(state.streams), len(state.operators)
    queued, away, came = np.zeros(streams), np.zeros(streams), np.zeros(operators)
    worst = largest_loss(state, target, queued, away, came)
    # Which place lost tuples is looked up only for the message.
    if worst <= ROUNDING:
        return worst
    sent, accounted = state.streams["sent"], state.streams["taken"] + queued + away
    processed, source = state.operators["processed"], state.operators["source"]
    # what a source emitted is a difference of what was offered and what waits
    offered = np.where(source >= 0, np.append(state.sources["offered"], 0.0)[source], 0.0)
    worst = 0.0
    for kind, put, found, least, places in (
        ("stream", sent, accounted, 1.0, order.streams),
        ("the queue of stream", state.streams["waiting"], queued, sent, order.streams),
        ("operator", came, processed, OFFERED * offered, order.operators),
    ):
        lost = np.abs(put - found) / np.maximum(np.maximum(1.0, least), put)
        if not len(lost):  # a graph without streams
            continue
        worst = max(worst, float(lost.max()))
        place = int(np.argmax(np.where(np.isnan(lost), np.inf, lost)))
        if not lost[place] <= ROUNDING:
            number = int(np.flatnonzero(places == place)[0])
            message = f"{put[place]:.9g} tuples went in, {found[place]:.9g} are accounted for"
            raise EngineError(f"{kind} {number}: {message}")
    return worst


@kernel
def read_off(
    state: EngineState,
    operator: Ints,
    stream: Ints,
    source: Ints,
    operators: Floats,
    streams: Floats,
    sources: Floats,
) -> None:
    """Fill in one row per counter named in `streamplace.sim.engine.snapshots`, in the flow's order.

    Parameters
    ----------
    operator, stream, source
        (V,), (E,) and (sources,) index of each in the state.
    operators, streams, sources
        (4, V), (4, E) and (3, sources).
    """
    for i in range(operator.shape[0]):
        at = state.operators[operator[i]]
        operators[0, i], operators[1, i], operators[2, i] = at.processed, at.busy_s, at.blocked_s
        operators[3, i] = 0.0
        if at.window >= 0:
            window = state.windows[at.window]
            operators[3, i] = window.out
            for slot in range(window.first_slot, window.first_slot + window.slots):
                operators[3, i] += state.slots[slot].tuples
    for i in range(stream.shape[0]):
        on = state.streams[stream[i]]
        streams[0, i], streams[1, i] = on.sent, on.taken
        streams[2, i], streams[3, i] = on.waiting, on.in_flight
    for i in range(source.shape[0]):
        of = state.sources[source[i]]
        sources[0, i], sources[1, i], sources[2, i] = of.offered, of.dropped, of.backlog


@inner
def _count_tuples(
    state: EngineState, target: Ints, queued: Floats, away: Floats, came: Floats
) -> None:
    """Count each stream's queued tuples and tuples in flight, and each operator's input tuples.

    Adds to `queued`, (E,), `away`, (E,), for wires and links, and `came`, (V,), for tuples from
    streams and sources.
    """
    count = state.streams.shape[0]
    for v in range(state.operators.shape[0]):
        s = state.operators[v].source
        if s >= 0:
            source = state.sources[s]
            came[v] = source.offered - source.dropped - source.backlog
    for e in range(count):
        came[target[e]] += state.streams[e].taken * state.operators[target[e]].part
    for which in range(state.first_backlog):
        i = state.lists[which].head
        while i != NOTHING:
            e = state.sets[i].stream
            if which < count:
                queued[e] += state.sets[i].size
            else:
                away[e] += state.sets[i].size
            i = state.sets[i].after


@kernel
def largest_loss(
    state: EngineState, target: Ints, queued: Floats, away: Floats, came: Floats
) -> float:
    """Return the largest share of a stream's or operator's tuples that is unaccounted for.

    The result is NaN if any count is NaN. Counts are added to the arrays; see `_count_tuples`.
    """
    _count_tuples(state, target, queued, away, came)
    worst = 0.0  # np.maximum propagates NaN
    for e in range(state.streams.shape[0]):
        sent, scale = state.streams[e].sent, max(1.0, state.streams[e].sent)
        found = state.streams[e].taken + queued[e] + away[e]
        worst = np.maximum(worst, abs(sent - found) / scale)
        worst = np.maximum(worst, abs(state.streams[e].waiting - queued[e]) / scale)
    for v in range(state.operators.shape[0]):
        lost = abs(came[v] - state.operators[v].processed) / max(1.0, came[v])
        worst = np.maximum(worst, lost)
    return worst
