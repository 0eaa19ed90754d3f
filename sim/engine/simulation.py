"""A simulation: the ticks of one flow on one cluster, for any number of placements."""

from functools import cached_property
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim import bottleneck
from sim.engine import records
from sim.engine.moments import EngineError, Moment, Order, Raw, check
from sim.engine.plan import lay_out
from sim.engine.records import Records, blank, copied
from sim.engine.run import run_ticks
from sim.engine.scene import Scene, with_windows
from sim.engine.sets import make_sets, more_sets
from sim.engine.settings import Settings
from sim.engine.wiring import Places, wire
from sim.engine.world import Rules, World
from sim.flow import Floats, Flow, Ints, checked

ROOM = 8  # sets a stream, to begin with
LEAST_ROOM = 1024  # sets
MOST_SETS = 100_000_000


class Timed(NamedTuple):
    """What depends on the length of a tick."""

    ticks: int
    measured: int  # the first that is
    offered: Floats  # (sources, ticks) tuples; (sources, 1) if they never change
    speed: Floats  # (ticks, D) factor of each device's capacity; (1, D) if it never changes
    windows: Records
    slots: Records


class Simulation:
    """What a run needs that does not depend on the placement.

    Parameters
    ----------
    latency_s
        (L,) LogP's L of each link.

    Raises
    ------
    ValueError
        If `latency_s` does not fit, or a scene names an operator or device that is not there, or
        a window's size is no multiple of its advance.
    """

    def __init__(
        self,
        flow: Flow,
        latency_s: Floats,
        settings: Settings | None = None,
        scene: Scene | None = None,
    ) -> None:
        self.flow = flow
        self.settings = settings or Settings()
        self.scene = scene or Scene()
        self.latency_s = np.ascontiguousarray(latency_s, dtype=np.float64)
        if self.latency_s.shape != flow.gap_s.shape or not np.all(self.latency_s >= 0):
            raise ValueError(f"latency_s must be {flow.gap_s.shape} numbers of at least 0")
        self.scene.check(flow)
        self.places = Places.of(flow)
        self.inner = self.places.arranged(flow)
        self.wiring = wire(self.inner)
        self.nominal = with_windows(flow, self.scene)
        self.expected = self.nominal.stream_tuples[self.places.stream]
        self.operators, self.streams = self._operators(), self._streams()
        self.sources = blank(records.SOURCE, len(self.wiring.sources))
        self.sources["operator"] = self.places.operator[self.wiring.sources]
        self.sinks = blank(records.SINK, len(self.wiring.sinks))
        self.sinks["operator"] = self.wiring.sinks
        of_source, of_sink = (
            np.argsort(self.places.operator[ends]).astype(np.int32)
            for ends in (self.wiring.sources, self.wiring.sinks)
        )
        tracked = of_source if self.wiring.carried.shape[1] else of_source[:0]
        places = self.places
        self.order = Order(places.of_operator, places.of_stream, of_source, of_sink, tracked)
        self.path_weight = self.wiring.path_weight[of_sink][:, tracked]

    def throughput(self, placements: NDArray[np.integer]) -> Floats:
        """Return the throughput of each placement, (K,) tuples/s at the sources.

        source rate * (tuples/s that arrived at the sinks while measured) / (tuples/s that would
        where nothing is throttled)

        Raises
        ------
        EngineError
            If a run could not be finished.
        """
        rows = checked(self.flow, placements)
        return np.array([self._throughput(row) for row in rows])

    def _throughput(self, placement: Ints) -> float:
        world, rules, timed, _ = self._ready(placement)
        world = _advance(world, rules, 0, timed.ticks)
        check(world, self.order)
        return self._achieved(world.arrived, rules.tick_s)

    def achieved(self, raw: Raw) -> float:
        """Return the throughput of a run."""
        return self._achieved(raw.arrived, raw.tick_s)

    def _achieved(self, arrived: Floats, tick_s: float) -> float:
        due = self.nominal.nominal_sink_tuples * len(arrived) * tick_s
        return self.flow.source_rate * (float(arrived.sum()) / due)

    def run(self, placement: NDArray[np.integer], every_s: float | None = None) -> Raw:
        """Simulate one placement.

        Parameters
        ----------
        placement
            (V,) device indices.
        every_s
            Keep a moment every so often, the end included; None: only that of the end.

        Raises
        ------
        ValueError
            If `placement` does not fit the flow.
        EngineError
            If the run could not be finished.
        """
        world, rules, timed, link = self._ready(checked(self.flow, placement)[0])
        every = max(1, round(every_s / rules.tick_s)) if every_s is not None else timed.ticks + 1
        kept = range(every, timed.ticks + 1, every)
        moments, done = {}, 0
        for stop in sorted({timed.measured, timed.ticks, *kept}):
            world = _advance(world, rules, done, stop)
            moments[stop] = Moment.of(world, stop, self.order)
            done = stop
        check(world, self.order)
        return Raw(
            rules.tick_s,
            begin=moments[timed.measured],
            end=moments[timed.ticks],
            series=tuple(moments[stop] for stop in kept),
            link=link,
            latency=world.latency[:, self.order.sinks],
            arrived=world.arrived[:, self.order.sinks],
        )

    def _ready(self, placement: Ints) -> tuple[World, Rules, Timed, Ints]:
        """Return all that a run begins with, and the flow's number of each link crossed."""
        tick_s = self.tick_for(placement)
        timed = self._as_told if tick_s == self.settings.tick_s else self._timed(tick_s)
        world, link = self._world(placement[self.places.operator], tick_s, timed)
        return world, self._rules(world, tick_s, timed.measured), timed, link

    def _world(self, device: Ints, tick_s: float, timed: Timed) -> tuple[World, Ints]:
        """Return the world before the first tick, and the flow's number of each link crossed.

        Parameters
        ----------
        device
            (V,) of each operator in its place.
        """
        flow, wiring = self.inner, self.wiring
        columns = wiring.carried.shape[1]
        operators, streams = copied(self.operators), copied(self.streams)
        links = blank(records.LINK, min(len(flow.gap_s), 2 * len(streams)) + 1)
        number = np.zeros(len(flow.gap_s), np.int32)
        count = lay_out(
            flow.columns,
            operators,
            streams,
            links,
            number,
            device,
            self.latency_s,
            self.expected,
            self.settings.allocation == "weighted",
            tick_s,
        )
        link = np.zeros(count, np.int32)
        link[number[number > 0]] = np.flatnonzero(number)
        windows, slots, measured = timed.windows, timed.slots, timed.ticks - timed.measured
        lists = 2 * len(streams) + count
        sets, totals, heads = make_sets(max(LEAST_ROOM, ROOM * len(streams)), lists, columns)
        world = World(
            out_stream=wiring.out_stream,
            carried=wiring.carried,
            operators=operators,
            streams=streams,
            devices=blank(records.DEVICE, flow.devices),
            links=links[:count],
            sources=copied(self.sources),
            sinks=copied(self.sinks),
            windows=copied(windows),
            slots=copied(slots),
            slot_totals=np.zeros((len(slots), columns)),
            out_totals=np.zeros((len(windows), columns)),
            reached=np.zeros((len(self.sinks), columns)),
            sets=sets,
            totals=totals,
            lists=heads,
            scratch=np.zeros(columns),
            offered=timed.offered,
            speed=timed.speed,
            latency=np.zeros((measured, len(self.sinks))),
            arrived=np.zeros((measured, len(self.sinks))),
        )
        return world, link

    def _rules(self, world: World, tick_s: float, measured: int) -> Rules:
        settings = self.settings
        return Rules(
            tick_s=tick_s,
            queue=settings.queue or np.inf,
            pushes=settings.backpressure,
            dynamic=settings.scheduler == "dynamic",
            source_queue=settings.source_queue or np.inf,
            nic=self.flow.nic,
            delays=bool(world.streams["delay"].any()),
            measured=measured,
        )

    def tick_for(self, placement: NDArray[np.integer]) -> float:
        """Return seconds a tick: as told, or less, so that two ticks' tuples fit into a queue."""
        told, queue = self.settings.tick_s, self.settings.queue
        most = 2.0 * float(self.expected.max(initial=0.0)) * told
        if queue == 0 or most <= queue:
            return told
        worst = max(1.0, float(bottleneck.worst_utilisation(self.nominal, placement)[0]))
        return told / max(1, ceil(most / worst / queue))

    @cached_property
    def _as_told(self) -> Timed:
        """What depends on the length of a tick, with that of the settings."""
        return self._timed(self.settings.tick_s)

    def _timed(self, tick_s: float) -> Timed:
        ticks = round(self.settings.duration_s / tick_s)
        measured = round(self.settings.measured_from_s / tick_s)
        offered, speed = self._offered(tick_s, ticks), self._speed(tick_s, ticks)
        return Timed(ticks, measured, offered, speed, *self._windows(tick_s))

    def _operators(self) -> Records:
        made, wiring = blank(records.OPERATOR, self.flow.operators), self.wiring
        made["source"], made["sink"] = wiring.source_of, wiring.sink_of
        made["first_in"], made["inputs"] = wiring.first_in[:-1], np.diff(wiring.first_in)
        made["first_out"], made["outputs"] = wiring.first_out[:-1], np.diff(wiring.first_out)
        made["window"] = -1
        windowed = self.places.of_operator[list(self.scene.windows)]
        made["window"][windowed] = np.arange(len(self.scene.windows))
        return made

    def _streams(self) -> Records:
        made = blank(records.STREAM, len(self.inner.source))
        made["selectivity"] = self.inner.selectivity
        made["most"] = self._queues()
        return made

    def _queues(self) -> Floats:
        """Return tuples that may wait on each stream, (E,)."""
        target, tuples = self.inner.target, self.expected
        busiest = np.zeros(self.flow.operators)
        np.maximum.at(busiest, target, tuples)
        share = np.divide(tuples, busiest[target], out=np.ones(len(target)), where=tuples > 0)
        return share * (self.settings.queue or np.inf)

    def _windows(self, tick_s: float) -> tuple[Records, Records]:
        every = list(self.scene.windows.values())
        made = blank(records.WINDOW, len(every))
        slots = np.array([window.slots for window in every], dtype=np.int64)
        made["ratio"] = [window.ratio for window in every]
        made["count"] = [-1.0 if w.count is None else w.count for w in every]
        made["advance"] = [max(1, round(window.advance_s / tick_s)) for window in every]
        made["due"] = made["advance"]
        made["slots"] = slots
        made["first_slot"] = made["slot"] = np.cumsum(slots) - slots
        return made, blank(records.SLOT, int(slots.sum()))

    def _offered(self, tick_s: float, ticks: int) -> Floats:
        """Return the tuples offered to each source in each tick, (sources, ticks).

        (sources, 1) if they never change.
        """
        rate = self.inner.source_tuples[self.wiring.sources]
        profiles = self.scene.profiles
        if not profiles:
            return rate[:, None] * tick_s
        at: Floats = np.arange(ticks + 1, dtype=np.float64) * tick_s
        full_s = [
            np.diff(profiles[v].seconds_at_full_rate(at))
            if v in profiles
            else np.full(ticks, tick_s)
            for v in self.sources["operator"].tolist()
        ]
        return np.asarray(rate[:, None] * np.array(full_s))

    def _speed(self, tick_s: float, ticks: int) -> Floats:
        """Return the factor of each device's capacity, (ticks, D); (1, D) if it never changes."""
        if not self.scene.speeds:
            return np.ones((1, self.flow.devices))
        made = np.ones((ticks, self.flow.devices))
        for speed in sorted(self.scene.speeds, key=lambda speed: speed.from_s):
            made[round(speed.from_s / tick_s) :, speed.device] = speed.factor
        return made


def _advance(world: World, rules: Rules, begin: int, end: int) -> World:
    """Run ticks from `begin` up to `end`; return the world with the room that it took."""
    while (begin := run_ticks(world, rules, begin, end)) < end:
        if len(world.sets) > MOST_SETS:
            raise EngineError(f"more than {MOST_SETS:,} event sets wait at tick {begin}")
        sets, totals = more_sets(world.sets, world.totals, world.lists)
        world = world._replace(sets=sets, totals=totals)
    return world
