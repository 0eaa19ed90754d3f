"""Snapshots and traces of a run, and the check that every tuple is accounted for."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.engine.conservation import count_tuples, largest_loss, read_off
from sim.engine.state import EngineState
from sim.flow import Floats, Flow, Ints

ROUNDING = 1e-6  # of a stream's tuples
Columns = dict[str, Floats]


OPERATORS = ("processed", "busy_s", "blocked_s", "gathered")
STREAMS = ("sent", "taken", "waiting", "in_flight")
SOURCES = ("offered", "dropped", "backlog")
LINKS = ("busy_s", "full_s", "stalled_s")


class EngineError(RuntimeError):
    """The simulation could not be finished, or lost count; no throughput is known."""


class SceneError(ValueError):
    """A scene under which nothing can be measured."""


class Order(NamedTuple):
    """Where a run keeps everything, in the flow's order."""

    operators: Ints  # (V,)
    streams: Ints  # (E,)
    sources: Ints
    sinks: Ints
    tracked: Ints  # (S,) sources told apart


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What had happened by a tick, in the flow's order.

    Parameters
    ----------
    operators
        (V,) ``processed`` and ``gathered`` (by windows, now) in tuples; ``busy_s``, ``blocked_s``.
    streams
        (E,) ``sent``, ``taken``, ``waiting`` and ``in_flight`` (now), in tuples.
    devices, links
        (D,) ``busy_s``, ``stalled_s``; (links crossed + 1,), the first is none, ``busy_s``,
        ``full_s``, ``stalled_s``.
    sources
        ``offered``, ``dropped`` and ``backlog`` (now), in tuples.
    reached
        (sinks, S) source tuples, a path.
    """

    tick: int
    operators: Columns
    streams: Columns
    devices: Columns
    links: Columns
    sources: Columns
    reached: Floats

    @classmethod
    def of(cls, state: EngineState, tick: int, order: Order) -> "Snapshot":
        """Return the moment that it is."""
        operators = np.empty((len(OPERATORS), len(order.operators)))
        streams = np.empty((len(STREAMS), len(order.streams)))
        sources = np.empty((len(SOURCES), len(order.sources)))
        read_off(state, order.operators, order.streams, order.sources, operators, streams, sources)
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
    """A run: what had happened when, and what arrived in every tick.

    A sink has a column for each of its inputs, in `arrived` and `latency`: tuples that arrive by
    one input in one tick are told together.
    """

    tick_s: float
    period: int  # ticks, see `sim.engine.tick_length`
    begin: Snapshot  # of measuring
    end: Snapshot
    series: tuple[Snapshot, ...]
    link: Ints  # (links crossed + 1,) number of each among the flow's links
    sink: Ints  # (columns,) number among the sinks
    stream: Ints  # (columns,) or -1 of a sink that is a source
    latency: Floats  # (ticks, columns) seconds, on average
    arrived: Floats  # (ticks, columns) tuples
    due: Flow  # what is offered on average while measured, where nothing is throttled
    lost: float  # the largest share of a stream's tuples that is not accounted for


def check(state: EngineState, target: Ints, order: Order) -> float:
    """Raise EngineError where tuples were made or lost, or numbers are not numbers.

    Every stream's sets are counted; every operator has processed what it took. Returns the largest
    share of a stream's or operator's tuples that is not accounted for: of rounding.

    Parameters
    ----------
    target
        (E,) of every stream in its place.
    """
    streams, operators = len(state.streams), len(state.operators)
    queued, away, came = np.zeros(streams), np.zeros(streams), np.zeros(operators)
    count_tuples(state, target, queued, away, came)
    worst = largest_loss(state, queued, away, came)
    if worst <= ROUNDING:
        return worst
    sent, there = state.streams["sent"], state.streams["taken"] + queued + away
    processed = state.operators["processed"]
    for kind, put, found, places in (
        ("stream", sent, there, order.streams),
        ("the queue of stream", state.streams["waiting"], queued, order.streams),
        ("operator", came, processed, order.operators),
    ):
        lost = np.abs(put - found) / np.maximum(1.0, put)
        place = int(np.argmax(np.where(np.isnan(lost), np.inf, lost)))
        if not lost[place] <= ROUNDING:
            number = int(np.flatnonzero(places == place)[0])
            message = f"{put[place]:g} tuples went in, {found[place]:g} are accounted for"
            raise EngineError(f"{kind} {number}: {message}")
    return worst
