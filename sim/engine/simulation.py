"""Simulation of one flow on one cluster, for any number of placements."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.engine import records
from streamplace.sim.engine.contents import Contents, with_contents
from streamplace.sim.engine.deployment import lay_out
from streamplace.sim.engine.event_sets import make_sets
from streamplace.sim.engine.loop import advance
from streamplace.sim.engine.records import EngineState, Rules, blank, copied
from streamplace.sim.engine.scene import Scene, gains, with_windows
from streamplace.sim.engine.settings import Settings
from streamplace.sim.engine.snapshots import RunTrace, SceneError, Snapshot, check
from streamplace.sim.engine.tables import Places, Tables, wire
from streamplace.sim.engine.tick_length import Timed, lay_out_ticks, longest_tick
from streamplace.sim.flow import Floats, Flow, Ints, checked

# Initial number of sets per stream: at most five arise per tick, and few wait; more are added.
ROOM = 8
# Smallest initial number of sets, so that small graphs never ask for more; a guess.
LEAST_ROOM = 1024
# Share of a run that goes on before it is measured: the change is in the beginning; a guess.
LAST_THIRD = 2.0 / 3.0
LONGEST_TICK_S = 1.0  # of a run that looks for the steady state, which longer ticks distort
# One walk is 11 to 15% faster from 1,400 streams on, and not below 500; on 26 operators, it costs
# 3%.
WALKED = 1_000  # streams from which one walk through all is faster than link after link


class Simulation:
    """A simulation of one flow, prepared for any number of placements.

    Parameters
    ----------
    latency_s
        (L,) LogP's L of each link, in seconds.
    settings
        Default: `Settings()`.
    scene
        Default: constant rates and speeds, and no windows.

    Raises
    ------
    ValueError
        If `latency_s` does not fit, the scene does not fit the flow, or no tuple ever reaches a
        sink.
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
        self.nominal = with_windows(flow, self.scene)
        if not self.nominal.nominal_sink_tuples > 0:
            raise ValueError("no tuple ever reaches a sink")
        self.places = Places.of(flow)
        self.inner = self.places.arranged(flow)
        self.wiring = wire(self.inner)
        windows = {int(self.places.of_operator[v]): w for v, w in self.scene.windows.items()}
        in_places = Scene(windows=windows)
        inner = with_windows(self.inner, in_places)
        self.expected = inner.stream_tuples
        self.emitted = inner.operator_tuples * gains(self.inner, in_places)
        self.tables = Tables(self.inner, self.places, self.wiring, self.scene)
        self.order = self.tables.order
        tracked = self.order.tracked
        self.path_weight = self.wiring.path_weight[self.order.sinks][:, tracked]

    @property
    def sources(self) -> int:
        """The number of sources."""
        return len(self.wiring.sources)

    def throughput(self, placements: NDArray[np.integer]) -> Floats:
        """Return the throughput of each placement, (K,) tuples/s at the sources.

        It is (tuples/s offered) * (tuples/s that arrived at the sinks) / (tuples/s that would have
        arrived if nothing was throttled), all during the measured time.

        Raises
        ------
        EngineError
            If a run could not be finished.
        """
        rows = checked(self.flow, placements)
        return np.array([self._throughput(row) for row in rows])

    def _throughput(self, placement: Ints) -> float:
        state, rules, timing, _ = self.ready(placement)
        due = self.due(timing)
        state = advance(state, rules, 0, timing.ticks)
        check(state, self.inner.target, self.order)
        return due.source_rate * _rate(state.arrived, timing) / due.nominal_sink_tuples

    def due(self, timing: Timed) -> Flow:
        """Return the average flow during the measured time, with the selectivities of windows.

        Raises
        ------
        SceneError
            If no tuple that could reach a sink is offered during the measured time.
        """
        if not self.scene.profiles:
            return self.nominal
        tuples = np.zeros(self.flow.operators)
        while_measured = timing.offered[:, timing.measured :].mean(axis=1) / timing.tick_s
        tuples[self.places.operator[self.wiring.sources]] = while_measured
        mean = with_windows(replace(self.flow, source_tuples=tuples), self.scene)
        if not mean.nominal_sink_tuples > 0:
            since = f"from second {timing.measured * timing.tick_s:g} on"
            raise SceneError(
                f"sources: nothing that could reach a sink is offered while measured, {since}"
            )
        return mean

    def run(
        self,
        placement: NDArray[np.integer],
        every_s: float | None = None,
        tick_s: float | None = None,
    ) -> RunTrace:
        """Simulate one placement for the duration of the settings; see `runs`."""
        return next(self.runs(placement, (self.settings.first_duration_s,), every_s, tick_s))

    def runs(
        self,
        placement: NDArray[np.integer],
        durations_s: Sequence[float],
        every_s: float | None = None,
        tick_s: float | None = None,
        start: Contents | None = None,
    ) -> Iterator[RunTrace]:
        """Simulate one placement with one tick, and return its trace after each duration.

        `metrics.run` takes several ticks. The run goes on only as far as traces are asked for, and
        ends early if nothing that could reach a sink is offered later.

        Parameters
        ----------
        placement
            (V,) device indices.
        durations_s
            Increasing seconds. The run is measured from where the settings say, or in its last
            third if it is longer than they say.
        every_s
            Seconds between the snapshots of the time series, which includes the end; None: no time
            series.
        tick_s
            Seconds per tick; None: those of `tick_for`.
        start
            The tuples on streams with which the run begins; None: no tuples.

        Raises
        ------
        ValueError
            If `placement` does not fit the flow.
        SceneError
            If no tuple that could reach a sink is offered during the first measured time; raised
            before the first tick.
        EngineError
            If the run could not be finished.
        """
        devices = checked(self.flow, placement)[0]
        state, rules, longest, link = self.ready(devices, tick_s, durations_s[-1])
        if start is not None:
            state = with_contents(state, start, 0)
        began = state.streams["sent"].copy()
        timings = [longest.until(s, self._measured_from(s)) for s in durations_s]
        marks = {tick for timing in timings for tick in (timing.measured, timing.ticks)}
        if every_s is not None:
            kept = range(0, longest.ticks, max(1, round(every_s / longest.tick_s)))[1:]
            marks.update(kept)
        snapshots, done = dict[int, Snapshot](), 0
        for timing in timings:
            try:
                due = self.due(timing)
            except SceneError:
                if timing is not timings[0]:
                    return
                raise
            for mark in sorted(mark for mark in marks if mark <= timing.ticks):
                if mark not in snapshots:
                    state = advance(state, rules, done, mark)
                    snapshots[mark] = Snapshot.of(state, mark, self.order, began)
                    done = mark
            sampled = () if every_s is None else (*(t for t in kept if t < done), done)
            yield RunTrace(
                timing.tick_s,
                timing.period,
                begin=snapshots[timing.measured],
                end=snapshots[timing.ticks],
                series=tuple(snapshots[tick] for tick in sampled),
                link=link,
                sink=self.tables.ends[0],
                stream=self.tables.ends[1],
                latency=state.latency[: timing.ticks],
                arrived=state.arrived[: timing.ticks],
                devices=devices,
                due=due,
                lost=check(state, self.inner.target, self.order),
                starts_full=start is not None,
            )

    def _measured_from(self, duration_s: float) -> float:
        """Return the second at which measuring begins in a run of this length."""
        if duration_s <= self.settings.first_duration_s:
            return self.settings.measured_from_s
        return LAST_THIRD * duration_s

    def ready(
        self, placement: Ints, tick_s: float | None = None, duration_s: float | None = None
    ) -> tuple[EngineState, Rules, Timed, Ints]:
        """Return the state before the first tick, the rules and the timing of a run, and its links.

        The links are the flow's index of each link crossed; the first entry is unused.

        Parameters
        ----------
        placement
            (V,) checked device indices.
        tick_s
            Seconds per tick; None: those of `tick_for`.
        duration_s
            Seconds for which there are arrays; None: those of the settings.
        """
        tick_s = self._tick_for(placement) if tick_s is None else tick_s
        is_first = tick_s == self.settings.first_tick_s
        first_s = self.settings.first_duration_s
        if is_first and duration_s in (None, first_s):
            timing = self._default_timing
        else:
            timing = self.timed(tick_s, duration_s)
        state, link = self._state(placement[self.places.operator], timing)
        settings = self.settings
        rules = Rules(
            tick_s=float(tick_s),
            queue=float(settings.queue or np.inf),
            pushes=settings.backpressure,
            dynamic=settings.scheduler == "dynamic",
            source_queue=float(settings.source_queue or np.inf),
            nic=self.flow.nic,
            uplinks=self.flow.uplinks > 0,
            walks=len(self.flow.source) >= WALKED and not (self.flow.nic or self.flow.uplinks),
            delays=bool(state.streams["delay"].any()),
            source_wait=settings.source_wait,
        )
        return state, rules, timing, link

    def tick_for(self, placement: NDArray[np.integer]) -> float:
        """Return the seconds per tick for a placement, (V,); see `tick_length`."""
        return self._tick_for(checked(self.flow, placement)[0])

    def _tick_for(self, placement: Ints) -> float:
        return longest_tick(self.nominal, placement, self.settings, self.scene, self.sources)

    def _state(self, device: Ints, timing: Timed) -> tuple[EngineState, Ints]:
        """Return the state before the first tick, and the flow's index of each link crossed.

        Parameters
        ----------
        device
            (V,) device of each operator, in the order of `places`.
        """
        flow, wiring = self.inner, self.wiring
        columns = wiring.carried.shape[1]
        tables = self.tables
        operators, streams = copied(tables.operators), copied(tables.streams)
        streams["most"] = timing.queues
        most = 4 if flow.uplinks else 2
        links = blank(records.LINK, min(len(flow.gap_s), most * len(streams)) + 1)
        count, number = lay_out(
            flow.columns,
            operators,
            streams,
            links,
            device,
            self.latency_s,
            self.expected,
            self.emitted,
            self.settings.allocation == "weighted",
            timing.tick_s,
        )
        link = np.zeros(count, np.int32)
        link[number[number > 0]] = np.flatnonzero(number)
        first_backlog = 2 * len(streams) + count
        lists = first_backlog + self.sources
        sets, totals, heads = make_sets(max(LEAST_ROOM, ROOM * len(streams)), lists, columns)
        state = EngineState(
            out_stream=wiring.out_stream,
            carried=wiring.carried,
            operators=operators,
            streams=streams,
            devices=blank(records.DEVICE, flow.devices),
            links=links[:count],
            sources=blank(records.SOURCE, self.sources),
            arrivals=copied(tables.arrivals),
            windows=copied(timing.windows),
            slots=copied(timing.slots),
            slot_totals=np.zeros((len(timing.slots), columns)),
            out_totals=np.zeros((len(timing.windows), columns)),
            reached=np.zeros((len(wiring.sinks), columns)),
            sets=sets,
            totals=totals,
            first_backlog=first_backlog,
            lists=heads,
            scratch=np.zeros(columns),
            offered=timing.offered,
            speed=timing.speed,
            speed_from=timing.speed_from,
            latency=np.zeros((timing.ticks, len(tables.arrivals))),
            arrived=np.zeros((timing.ticks, len(tables.arrivals))),
        )
        return state, link

    @cached_property
    def _default_timing(self) -> Timed:
        """The timing with the tick of the settings."""
        return self.timed(self.settings.first_tick_s)

    def timed(self, tick_s: float, duration_s: float | None = None) -> Timed:
        """Return the timing of a run with this tick; None: of the settings' duration."""
        rates = self.inner.source_tuples[self.wiring.sources].tolist()
        sources = self.places.operator[self.wiring.sources].tolist()
        offered = dict(zip(sources, rates, strict=True))
        queues = self.tables.queues(self.expected, self.settings.queue, tick_s)
        duration_s = self.settings.first_duration_s if duration_s is None else duration_s
        devices = self.flow.devices
        return lay_out_ticks(
            tick_s, duration_s, self.settings, self.scene, offered, devices, queues
        )

    def lasting(self) -> "Simulation":
        """Return the simulation of the steady state: without a set duration, once nothing changes.

        Raises
        ------
        ValueError
            If no tuple ever reaches a sink.
        """
        tick_s = self.settings.tick_s
        settings = replace(
            self.settings,
            duration_s=None,
            measure_from_s=None,
            tick_s=None if tick_s is None else min(tick_s, LONGEST_TICK_S),
        )
        return Simulation(self.flow, self.latency_s, settings, self.scene.lasting())


def _rate(arrived: Floats, timing: Timed) -> float:
    """Return the tuples/s that arrived during the measured time."""
    return float(arrived[timing.measured :].sum()) / (
        (timing.ticks - timing.measured) * timing.tick_s
    )
