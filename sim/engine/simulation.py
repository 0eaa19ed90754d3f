"""A simulation: the ticks of one flow on one cluster, for any number of placements."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from sim import bottleneck
from sim.engine import records
from sim.engine.plan import lay_out
from sim.engine.records import Records, blank
from sim.engine.run import run_ticks
from sim.engine.scene import Scene, with_windows
from sim.engine.sets import make_sets, more_sets
from sim.engine.settings import Settings
from sim.engine.wiring import Places, wire
from sim.engine.world import Rules, World
from sim.flow import Floats, Flow, Ints, checked

ROOM = 8  # sets a stream, to begin with
MOST_SETS = 100_000_000
ROUNDING = 1e-6  # of a stream's tuples


class EngineError(RuntimeError):
    """The simulation could not be finished, or lost count; no throughput is known."""


@dataclass(frozen=True, eq=False)
class Moment:
    """What had happened by a tick."""

    tick: int
    operators: Records  # (V,)
    streams: Records  # (E,)
    devices: Records  # (D,)
    links: Records  # (links crossed + 1,), the first is none
    sources: Records
    reached: Floats  # (sinks, S) source tuples, a path


@dataclass(frozen=True, eq=False)
class Raw:
    """A run: what had happened when, and what arrived in every tick that was measured."""

    tick_s: float
    begin: Moment  # of measuring
    end: Moment
    series: tuple[Moment, ...]
    link: Ints  # (links crossed + 1,) number of each among the flow's links
    latency: Floats  # (ticks, sinks) seconds
    arrived: Floats  # (ticks, sinks) tuples


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
        self.sources_by = np.argsort(self.places.operator[self.wiring.sources])
        self.sinks_by = np.argsort(self.places.operator[self.wiring.sinks])
        self.tracked_by = self.sources_by if self.wiring.carried.shape[1] else self.sources_by[:0]
        self.path_weight = self.wiring.path_weight[self.sinks_by][:, self.tracked_by]

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
        return np.array([self.achieved(self.run(row)) for row in rows])

    def achieved(self, raw: Raw) -> float:
        """Return the throughput of a run."""
        seconds = len(raw.arrived) * raw.tick_s
        share = float(raw.arrived.sum()) / (self.nominal.nominal_sink_tuples * seconds)
        return self.flow.source_rate * share

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
        settings, flow, wiring = self.settings, self.inner, self.wiring
        device = checked(flow, placement)[0][self.places.operator]
        tick_s = self.tick_for(placement)
        ticks = round(settings.duration_s / tick_s)
        measured = round(settings.measured_from_s / tick_s)
        columns = wiring.carried.shape[1]
        operators, streams = self.operators.copy(), self.streams.copy()
        links = blank(records.LINK, min(len(flow.gap_s), 2 * len(streams)) + 1)
        windows, slots = self._windows(tick_s)
        number = np.zeros(len(flow.gap_s), np.int32)
        count = lay_out(
            flow.columns,
            wiring.in_stream,
            operators,
            streams,
            links,
            number,
            device,
            self.latency_s,
            self.expected,
            settings.allocation == "weighted",
            tick_s,
        )
        lists = 2 * len(streams) + count
        sets, totals, heads = make_sets(ROOM * len(streams) + ROOM, lists, columns)
        world = World(
            in_stream=wiring.in_stream,
            out_stream=wiring.out_stream,
            carried=wiring.carried,
            operators=operators,
            streams=streams,
            devices=blank(records.DEVICE, flow.devices),
            links=links[:count],
            sources=self.sources.copy(),
            sinks=self.sinks.copy(),
            windows=windows,
            slots=slots,
            slot_totals=np.zeros((len(slots), columns)),
            out_totals=np.zeros((len(windows), columns)),
            reached=np.zeros((len(self.sinks), columns)),
            sets=sets,
            totals=totals,
            lists=heads,
            scratch=np.zeros(columns),
            offered=self._offered(tick_s, ticks),
            speed=self._speed(tick_s, ticks),
            latency=np.zeros((ticks - measured, len(self.sinks))),
            arrived=np.zeros((ticks - measured, len(self.sinks))),
        )
        rules = Rules(
            tick_s=tick_s,
            queue=settings.queue or np.inf,
            pushes=settings.backpressure,
            dynamic=settings.scheduler == "dynamic",
            source_queue=settings.source_queue or np.inf,
            nic=flow.nic,
            delays=bool(streams["delay"].any()),
            measured=measured,
        )
        stops = {measured, ticks}
        every = max(1, round(every_s / tick_s)) if every_s is not None else ticks + 1
        stops |= set(range(every, ticks + 1, every))
        done, moments = 0, {}
        for stop in sorted(stops):
            while (done := run_ticks(world, rules, done, stop)) < stop:
                if len(world.sets) > MOST_SETS:
                    raise EngineError(f"more than {MOST_SETS:,} event sets wait at tick {done}")
                sets, totals = more_sets(world.sets, world.totals, world.lists)
                world = world._replace(sets=sets, totals=totals)
            moments[stop] = self._moment(world, stop)
        link = np.zeros(count, np.int32)
        link[number[number > 0]] = np.flatnonzero(number)
        series = tuple(moments[stop] for stop in sorted(stops) if stop % every == 0)
        latency, arrived = world.latency[:, self.sinks_by], world.arrived[:, self.sinks_by]
        raw = Raw(tick_s, moments[measured], moments[ticks], series, link, latency, arrived)
        _check(raw)
        return raw

    def _moment(self, world: World, tick: int) -> Moment:
        """Return copies of what the moment tells, in the flow's order."""
        return Moment(
            tick,
            world.operators[self.places.of_operator],
            world.streams[self.places.of_stream],
            world.devices.copy(),
            world.links.copy(),
            world.sources[self.sources_by],
            world.reached[self.sinks_by][:, self.tracked_by],
        )

    def tick_for(self, placement: NDArray[np.integer]) -> float:
        """Return seconds a tick: as told, or less, so that two ticks' tuples fit into a queue."""
        told, queue = self.settings.tick_s, self.settings.queue
        if queue == 0 or not len(self.streams):
            return told
        worst = max(1.0, float(bottleneck.worst_utilisation(self.nominal, placement)[0]))
        most = float(self.nominal.stream_tuples.max()) / worst
        return told / max(1, ceil(2.0 * most * told / queue))

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

    def _offered(self, tick_s: float, ticks: int) -> NDArray[np.float64]:
        """Return the tuples offered to each source in each tick, (sources, ticks)."""
        rate = self.inner.source_tuples[self.wiring.sources]
        at: Floats = np.arange(ticks + 1, dtype=np.float64) * tick_s
        profiles = self.scene.profiles
        full_s = [
            np.diff(profiles[v].seconds_at_full_rate(at))
            if v in profiles
            else np.full(ticks, tick_s)
            for v in self.sources["operator"].tolist()
        ]
        return np.asarray(rate[:, None] * np.array(full_s))

    def _speed(self, tick_s: float, ticks: int) -> NDArray[np.float64]:
        """Return the factor of each device's capacity, (ticks, D); (1, D) if it never changes."""
        if not self.scene.speeds:
            return np.ones((1, self.flow.devices))
        made = np.ones((ticks, self.flow.devices))
        for speed in sorted(self.scene.speeds, key=lambda speed: speed.from_s):
            made[round(speed.from_s / tick_s) :, speed.device] = speed.factor
        return made


def _check(raw: Raw) -> None:
    """Raise EngineError where tuples were made or lost, or numbers are not numbers."""
    end = raw.end
    streams, sources = end.streams, end.sources
    there = streams["taken"] + streams["waiting"] + streams["flying"]
    for name, put, found in (
        ("stream", streams["sent"], there),
        ("source", sources["offered"], _accounted(end)),
    ):
        lost = ~(np.abs(put - found) <= ROUNDING * np.maximum(1.0, put))
        if lost.any():
            i = int(np.argmax(lost))
            raise EngineError(
                f"{name} {i}: {put[i]:g} tuples went in, {found[i]:g} are accounted for"
            )


def _accounted(end: Moment) -> Floats:
    """Return tuples of each source that were emitted, dropped or wait."""
    emitted = end.operators["processed"][end.sources["operator"]]
    total: Floats = emitted + end.sources["dropped"] + end.sources["backlog"]
    return total
