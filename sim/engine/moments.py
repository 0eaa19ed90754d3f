"""What a run leaves behind, and whether every tuple of it is accounted for."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.engine.records import Records
from sim.engine.sets import count_tuples
from sim.engine.world import World
from sim.flow import Floats, Flow, Ints

ROUNDING = 1e-6  # of a stream's tuples
Columns = dict[str, Floats]


class EngineError(RuntimeError):
    """The simulation could not be finished, or lost count; no throughput is known."""


class Order(NamedTuple):
    """Where a run keeps everything, in the flow's order."""

    operators: Ints  # (V,)
    streams: Ints  # (E,)
    sources: Ints
    sinks: Ints
    tracked: Ints  # (S,) sources told apart


@dataclass(frozen=True, eq=False)
class Moment:
    """What had happened by a tick, in the flow's order.

    Parameters
    ----------
    operators
        (V,) ``processed`` and ``gathered`` (by windows, now) in tuples; ``busy_s``, ``blocked_s``.
    streams
        (E,) ``sent``, ``taken``, ``waiting`` and ``flying`` (now), in tuples.
    devices, links
        (D,) ``busy_s``, ``stalled_s``; (links crossed + 1,), the first is none, ``busy_s``,
        ``late_s``.
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
    def of(cls, world: World, tick: int, order: Order) -> "Moment":
        """Return the moment that it is."""
        operators = _columns(world.operators, ("processed", "busy_s", "blocked_s"), order.operators)
        operators["gathered"] = _gathered(world)[order.operators]
        return cls(
            tick,
            operators,
            _columns(world.streams, ("sent", "taken", "waiting", "flying"), order.streams),
            _columns(world.devices, ("busy_s", "stalled_s")),
            _columns(world.links, ("busy_s", "late_s")),
            _columns(world.sources, ("offered", "dropped", "backlog"), order.sources),
            world.reached[order.sinks][:, order.tracked],
        )


@dataclass(frozen=True, eq=False)
class Raw:
    """A run: what had happened when, and what arrived in every tick.

    A sink has a column for each of its inputs, in `arrived` and `latency`: tuples that arrive by
    one input in one tick are told together.
    """

    tick_s: float
    period: int  # ticks, see `sim.engine.ticks`
    begin: Moment  # of measuring
    end: Moment
    series: tuple[Moment, ...]
    link: Ints  # (links crossed + 1,) number of each among the flow's links
    sink: Ints  # (columns,) number among the sinks
    stream: Ints  # (columns,) or -1 of a sink that is a source
    latency: Floats  # (ticks, columns) seconds, on average
    arrived: Floats  # (ticks, columns) tuples
    due: float  # tuples/s that would arrive while measured, where nothing is throttled
    offered: float  # tuples/s, all sources together, while measured
    lost: float  # the largest share of a stream's tuples that is not accounted for


def check(world: World, flow: Flow, order: Order) -> float:
    """Raise EngineError where tuples were made or lost, or numbers are not numbers.

    Every stream's sets are counted; every operator has processed what it took. Returns the largest
    share that is not accounted for: of rounding.

    Parameters
    ----------
    flow
        In its places.
    """
    streams, sources = world.streams, world.sources
    queued, away = np.zeros(len(streams)), np.zeros(len(streams))
    count_tuples(world, queued, away)
    sent, taken = streams["sent"], streams["taken"]
    queue, waiting = "the queue of stream", streams["waiting"]
    lost = _compare("stream", sent, taken + queued + away, order.streams)
    lost = max(lost, _compare(queue, waiting, queued, order.streams, sent))
    emitted = sources["offered"] - sources["dropped"] - sources["backlog"]
    came = np.zeros(flow.operators)
    np.add.at(came, flow.target, taken)
    from_sources = world.operators["source"] >= 0
    came[from_sources] += emitted[world.operators["source"][from_sources]]
    return max(lost, _compare("operator", came, world.operators["processed"], order.operators))


def _compare(
    kind: str, put: Floats, found: Floats, order: Ints, scale: Floats | None = None
) -> float:
    lost = np.abs(put - found) / np.maximum(1.0, put if scale is None else scale)
    wrong = ~(lost <= ROUNDING)
    if wrong.any():
        place = int(np.argmax(wrong))
        number = int(np.flatnonzero(order == place)[0])
        raise EngineError(
            f"{kind} {number}: {put[place]:g} tuples went in, {found[place]:g} are accounted for"
        )
    return float(lost.max(initial=0.0))


def _columns(records: Records, names: tuple[str, ...], order: Ints | None = None) -> Columns:
    return {name: records[name].copy() if order is None else records[name][order] for name in names}


def _gathered(world: World) -> Floats:
    """Return the tuples in the windows of each operator, (V,), and those they have yet to send."""
    made = np.zeros(len(world.operators))
    if not len(world.windows):
        return made
    for v in np.flatnonzero(world.operators["window"] >= 0):
        window = world.windows[world.operators["window"][v]]
        first = int(window["first_slot"])
        made[v] = world.slots["tuples"][first : first + int(window["slots"])].sum() + window["out"]
    return made
