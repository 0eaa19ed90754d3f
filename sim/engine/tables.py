"""Tables of a simulation that do not depend on the placement: operators, streams, arrivals."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sim.engine import records
from sim.engine.records import Records, blank
from sim.engine.scene import Scene
from sim.engine.snapshots import Order
from sim.engine.topology import MOST_TRACKED, Places, Wiring
from sim.flow import Floats, Flow, Ints


class Tables:
    """The tables of a flow of V operators and E streams.

    Parameters
    ----------
    flow
        The flow in the order of `places`.
    scene
        Its operators are those of the flow outside.
    """

    def __init__(self, flow: Flow, places: Places, wiring: Wiring, scene: Scene) -> None:
        self.flow, self.places, self.wiring, self.scene = flow, places, wiring, scene

    @property
    def tracks_sources(self) -> bool:
        """Whether tuples at sinks are tracked by source."""
        return len(self.wiring.sources) <= MOST_TRACKED

    @cached_property
    def operators(self) -> Records:
        """The operators before the first tick, (V,)."""
        made, wiring = blank(records.OPERATOR, self.flow.operators), self.wiring
        made["source"], made["sink"] = wiring.source_of, wiring.sink_of
        made["first_in"], made["inputs"] = wiring.first_in[:-1], np.diff(wiring.first_in)
        made["first_out"], made["outputs"] = wiring.first_out[:-1], np.diff(wiring.first_out)
        made["window"] = -1
        windowed = self.places.of_operator[list(self.scene.windows)]
        made["window"][windowed] = np.arange(len(self.scene.windows))
        made["arrival"][wiring.sinks] = np.cumsum(self._columns) - self._columns
        return made

    @cached_property
    def streams(self) -> Records:
        """The streams before the first tick, (E,)."""
        made = blank(records.STREAM, len(self.flow.source))
        made["selectivity"] = self.flow.selectivity
        return made

    @cached_property
    def arrivals(self) -> Records:
        """The columns of arrivals at sinks: one per input, or one for a sink that is a source."""
        made = blank(records.ARRIVAL, int(self._columns.sum()))
        made["operator"] = np.repeat(self.wiring.sinks, self._columns)
        return made

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """The sink's number and the flow's stream index, or -1, of each arrival column."""
        sinks = self.wiring.sink_of[self.arrivals["operator"]]
        made = np.full(len(self.arrivals), -1, np.int32)
        for v in self.wiring.sinks.tolist():
            row = self.operators[v]
            first, column, count = (int(row[n]) for n in ("first_in", "arrival", "inputs"))
            made[column : column + count] = self.places.stream[first : first + count]
        return np.argsort(self.order.sinks).astype(np.int32)[sinks], made

    @cached_property
    def order(self) -> Order:
        """Where operators, streams, sources and sinks of the flow outside are in the tables."""
        of_source, of_sink = (
            np.argsort(self.places.operator[ends]).astype(np.int32)
            for ends in (self.wiring.sources, self.wiring.sinks)
        )
        tracked = of_source if self.tracks_sources else of_source[:0]
        return Order(self.places.of_operator, self.places.of_stream, of_source, of_sink, tracked)

    def queues(self, expected: Floats, queue: float, tick_s: float) -> Floats:
        """Return the largest number of tuples that may wait on each stream, (E,).

        A stream's queue is smaller than that of the operator's busiest input in proportion to the
        expected rate, but has room for bursts: two ticks at the peak rate, and twice the output of
        a window.

        Parameters
        ----------
        expected
            (E,) expected tuples/s.
        queue
            Longest queue of an operator's busiest input; 0: unlimited.
        """
        if queue == 0:
            return np.full(len(expected), np.inf)
        target = self.flow.target
        busiest = np.zeros(self.flow.operators)
        np.maximum.at(busiest, target, expected)
        share = np.divide(expected, busiest[target], out=np.ones(len(target)), where=expected > 0)
        peak = max([1.0, *(max(p.factor) for p in self.scene.profiles.values())])
        at_once = 2.0 * peak * expected * self._gathering_s(tick_s)[self.flow.source]
        return np.minimum(queue, np.maximum(share * queue, at_once))

    def _gathering_s(self, tick_s: float) -> Floats:
        """Return the seconds for which each operator's output may be gathered, (V,)."""
        longest = np.full(self.flow.operators, tick_s)
        for v, window in self.scene.windows.items():
            longest[self.places.of_operator[v]] = window.advance_s
        if self.scene.windows:
            streams = zip(self.flow.source.tolist(), self.flow.target.tolist(), strict=True)
            for v, w in streams:
                longest[w] = max(longest[w], longest[v])
        return longest

    @cached_property
    def _columns(self) -> NDArray[np.int64]:
        """(sinks,) number of arrival columns: one per input, or one for a sink that is a source."""
        return np.maximum(np.diff(self.wiring.first_in)[self.wiring.sinks].astype(np.int64), 1)
