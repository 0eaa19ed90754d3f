"""Metrics of a run: rates, latencies, utilisations, and whether it has settled."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.engine.contents import Contents
from streamplace.sim.engine.simulation import Simulation
from streamplace.sim.engine.snapshots import RunTrace
from streamplace.sim.engine.steady import contents_when_steady
from streamplace.sim.flow import Floats, checked
from streamplace.sim.work import instructions_of

MAX_DIGITS = 4  # of latencies: more would claim what a tick cannot show
STEADY = 0.01  # tolerance for steady and settled runs, as a share of the expected tuples; a guess
# With 2,000 random problems, no settled run of one source is then .01 from `bottleneck`
# (docs/results/engine.md).
STANDS = 0.002  # largest change of relative throughput by a halving
# One may change nothing while the size of a queue, and not the tick, limits a stream.
ENOUGH = 2  # halvings in a row that change nothing
# Multiples of the first duration after which a run asks again: up to ten minutes; a guess.
LONGER = (2, 5, 10)
MAX_STEPS = 100_000_000  # (operators + streams) x ticks of the last run: about ten seconds


@dataclass(frozen=True, eq=False)
class Series:
    """Time series with T moments: mean rates (tuples/s) and shares of time from one to the next.

    `waiting`, `in_flight`, `backlog` and `gathered` (by windows) are tuples at each moment.
    """

    at_s: Floats  # (T,)
    offered: Floats  # (T, sources)
    dropped: Floats  # (T, sources)
    backlog: Floats  # (T, sources)
    processed: Floats  # (T, V)
    gathered: Floats  # (T, V)
    busy: Floats  # (T, V)
    blocked: Floats  # (T, V)
    sent: Floats  # (T, E)
    waiting: Floats  # (T, E)
    in_flight: Floats  # (T, E)
    device_utilisation: Floats  # (T, D)
    device_stalled: Floats  # (T, D)
    link_utilisation: Floats  # (T, links crossed + 1)
    link_full: Floats  # (T, links crossed + 1)
    link_stalled: Floats  # (T, links crossed + 1)
    mean_latency_s: Floats  # (T, sinks) NaN if nothing arrived
    path_mean_throughput: (
        Floats  # (T, sinks) source tuples/s per path; 0 if sources are not tracked
    )


@dataclass(frozen=True, eq=False)
class RunMetrics:
    """The metrics of one run, with V operators, E streams, D devices and L links.

    Rates (tuples/s) and utilisations (shares of time) are means over the measured time; queue
    lengths are those at its end.

    Parameters
    ----------
    stands
        False if half the tick may still change the throughput; see
        `streamplace.sim.engine.metrics`.
    coarser
        The same run with twice the tick, if the tick was chosen by its comparison.
    """

    simulation: Simulation
    trace: RunTrace
    stands: bool = True
    coarser: "RunMetrics | None" = None

    @property
    def seconds(self) -> float:
        """The measured time in seconds."""
        return (self.trace.end.tick - self.trace.begin.tick) * self.trace.tick_s

    @cached_property
    def throughput(self) -> float:
        """Tuples/s at the sources; see `Simulation.throughput`."""
        return self.trace.due.source_rate * self.relative_throughput

    @cached_property
    def relative_throughput(self) -> float:
        """The throughput divided by the rate offered during the measured time."""
        return float(self.sink_rates.sum()) / self.trace.due.nominal_sink_tuples

    @cached_property
    def path_mean_throughput(self) -> float | None:
        """Source tuples/s at the sinks, as a mean over the paths to them, as in CEPSim.

        None with more than 16 sources, which are not tracked separately.
        """
        if not self.simulation.tables.tracks_sources:
            return None
        reached = self._gained("reached") * self.simulation.path_weight
        return float(reached.sum()) / self.seconds

    @cached_property
    def sink_rates(self) -> Floats:
        """(sinks,) tuples/s that arrive at each sink."""
        return self._by_sink(self._arrived.sum(axis=0)) / self.seconds

    @cached_property
    def sink_path_mean_throughputs(self) -> Floats | None:
        """(sinks,) source tuples/s, as a mean over the paths to each sink; see
        `path_mean_throughput`."""
        if self.path_mean_throughput is None:
            return None
        means: Floats = self._gained("reached").sum(axis=1) / self.seconds
        return means

    def latency_s(self, sink: int | None = None) -> dict[str, float] | None:
        """Return mean, p50 and p99 of the latency from sources to one sink or all, in seconds.

        Latency starts when a tuple is offered to its source, or with `Settings.source_wait` False,
        as in CEPSim, when the source takes it. Every tuple counts once; tuples that arrive by one
        input in one tick count with their mean. None if nothing arrived.

        Parameters
        ----------
        sink
            Number of the sink; None: all sinks.
        """
        columns = slice(None) if sink is None else self.trace.sink == sink
        weight = self._arrived[:, columns].ravel()
        latency = self.trace.latency[self.trace.begin.tick :, columns].ravel()
        if not weight.any():
            return None
        order = np.argsort(latency)
        below = np.cumsum(weight[order])
        at = np.searchsorted(below, np.array([0.5, 0.99]) * below[-1])
        p50, p99 = latency[order][np.minimum(at, len(latency) - 1)]
        mean = float((weight * latency).sum() / weight.sum())
        return {"mean": mean, "p50": float(p50), "p99": float(p99)}

    @cached_property
    def latency_digits(self) -> int:
        """Number of significant digits of each latency that hold, 1 to 4.

        Those on which `coarser`, the run with twice the tick, agrees in all latencies. Without it
        2, or 1 if the tick could not be halved often enough.
        """
        if self.coarser is None:
            return 2 if self.stands else 1
        finer, coarser = self.latency_s(), self.coarser.latency_s()
        if finer is None or coarser is None:
            return 1
        differences = {name: abs(finer[name] - coarser[name]) for name in finer}
        ratios = [
            finer[name] / difference for name, difference in differences.items() if difference > 0.0
        ]
        # Nothing differs between the last two ticks.
        if not ratios:
            return MAX_DIGITS
        return int(np.clip(np.log10(max(min(ratios), 1.0)), 1, MAX_DIGITS))

    @cached_property
    def queued(self) -> float:
        """Tuples waiting at the end at sources, on streams and in windows."""
        end = self.trace.end
        waiting = end.streams["waiting"].sum() + end.operators["gathered"].sum()
        return float(end.sources["backlog"].sum() + waiting)

    @cached_property
    def in_flight(self) -> float:
        """Tuples between devices at the end."""
        return float(self.trace.end.streams["in_flight"].sum())

    @cached_property
    def dropped(self) -> float:
        """Tuples that sources have dropped since the start of the run."""
        return float(self.trace.end.sources["dropped"].sum())

    @cached_property
    def device_utilisation(self) -> Floats:
        """(D,) share of time that each device was busy, or stopped with work waiting."""
        return self._gained("devices", "busy_s") / self.seconds

    @cached_property
    def device_stalled(self) -> Floats:
        """(D,) share of time that each device was idle because of full queues."""
        return self._gained("devices", "stalled_s") / self.seconds

    @cached_property
    def operator_rates(self) -> Floats:
        """(V,) tuples/s that each operator processed."""
        return self._gained("operators", "processed") / self.seconds

    @cached_property
    def operator_utilisation(self) -> Floats:
        """(V,) share of time that each operator kept its device busy."""
        return self._gained("operators", "busy_s") / self.seconds

    @cached_property
    def own_utilisation(self) -> Floats:
        """(V,) share of time that each operator's instructions kept the cores busy that it can use.

        It is 0 for operators that can use all cores of their device. The time that messages take
        (o) does not count.
        """
        flow, devices = self.simulation.flow, self.trace.devices
        usable, cores = flow.operator_cores, flow.cores[devices]
        busy = self.operator_rates * instructions_of(flow, devices) / flow.capacity[devices]
        return np.where(usable < cores, busy * cores / usable, 0.0)

    @cached_property
    def operator_blocked(self) -> Floats:
        """(V,) share of each operator's possible work that full queues prevented."""
        return self._gained("operators", "blocked_s") / self.seconds

    @cached_property
    def link_utilisation(self) -> Floats:
        """(L,) share of time that each link was busy."""
        return self._of_links("busy_s")

    @cached_property
    def link_full(self) -> Floats:
        """(L,) share of ticks at whose end tuples were waiting for the link."""
        return self._of_links("full_s")

    @cached_property
    def link_stalled(self) -> Floats:
        """(L,) share of time that each link was idle because full queues held its senders up."""
        return self._of_links("stalled_s")

    @cached_property
    def settled(self) -> bool:
        """Whether a longer or finer run would give the same: steady, and no queue grows or empties.

        On every stream, the number of tuples waiting and in flight may change by at most 1% of the
        expected tuples.
        With unbounded queues, or without backpressure over links, an overloaded run never settles.
        Tuples that wait at their sources do not count; see `source_queue_growth`.
        """
        changed = np.abs(self._growth) <= self._small_change
        return self.stands and self.steady and bool(changed.all())

    @cached_property
    def holds(self) -> bool:
        """Whether a longer run would have the same throughput.

        It is steady, and no queue changes. One without a limit may grow, which never changes what
        passes it.
        """
        settings, source = self.simulation.settings, self.simulation.flow.source
        is_local = self.trace.devices[source] == self.trace.devices[self.simulation.flow.target]
        limits_links = settings.queue > 0 and (settings.backpressure | is_local)
        waiting, in_flight = (
            self._gained("streams", "waiting"),
            self._gained("streams", "in_flight"),
        )
        if settings.queue == 0:
            waiting = np.minimum(waiting, 0.0)
        in_flight = np.where(limits_links, in_flight, np.minimum(in_flight, 0.0))
        changed = np.abs(waiting + in_flight) <= self._small_change
        return self.steady and bool(changed.all())

    @cached_property
    def steady_run(self) -> "RunMetrics | None":
        """The run that has the throughput of the steady state; None if nothing is offered then.

        It is this run if its throughput holds, or if it was free to go on. Otherwise it is one with
        the same settings that is, in a scene in which nothing changes any more, except for what
        repeats.
        """
        simulation = self.simulation
        if self.holds or (simulation.settings.duration_s is None and simulation.scene.lasts):
            return self
        try:
            return run(simulation.lasting(), self.trace.devices)
        except ValueError:
            return None

    @property
    def _small_change(self) -> Floats:
        """(E,) change of the tuples on each stream during the measured time that is not counted."""
        return STEADY * self.trace.due.stream_tuples * self.seconds

    @cached_property
    def steady(self) -> bool:
        """Whether both halves of the measured time agree to 1% of the expected tuples per sink.

        Each half is a whole number of periods of windows and profiles. False if nothing arrived.
        """
        period = self.trace.period
        half = len(self._arrived) // period // 2 * period
        if half == 0 or not self._arrived.any():
            return False
        halves = (self._arrived[-2 * half : -half], self._arrived[-half:])
        first, second = (self._by_sink(arrived.sum(axis=0)) for arrived in halves)
        due = self.trace.due.operator_tuples[self.trace.due.sinks] * half * self.trace.tick_s
        return bool(np.all(np.abs(second - first) <= STEADY * due))

    @cached_property
    def queue_growth(self) -> float:
        """Growth of the tuples waiting and in flight on all streams, in tuples/s."""
        return float(self._growth.sum()) / self.seconds

    @cached_property
    def source_queue_growth(self) -> float:
        """Growth of the tuples that wait at their sources, in tuples/s."""
        return float(self._gained("sources", "backlog").sum()) / self.seconds

    @property
    def _growth(self) -> Floats:
        """(E,) growth of the tuples waiting and in flight on each stream."""
        return self._gained("streams", "waiting") + self._gained("streams", "in_flight")

    @property
    def _arrived(self) -> Floats:
        """(measured ticks, columns) tuples that arrived."""
        return self.trace.arrived[self.trace.begin.tick :]

    def _by_sink(self, columns: Floats) -> Floats:
        """Return the sums of columns, (…, columns), by sink, (…, sinks)."""
        made = np.zeros((len(self.simulation.flow.sinks), *columns.shape[:-1]))
        np.add.at(made, self.trace.sink, columns.T)
        return made.T

    @cached_property
    def series(self) -> Series:
        """The time series of the run, if it was recorded."""
        snapshots = self.trace.series
        at_s = np.array([snapshot.tick for snapshot in snapshots]) * self.trace.tick_s
        spans = np.diff(at_s, prepend=0.0)[:, None]

        def stock(part: str, name: str) -> Floats:
            return np.array([getattr(snapshot, part)[name] for snapshot in snapshots])

        def flow(part: str, name: str) -> Floats:
            return np.diff(stock(part, name), axis=0, prepend=0.0) / spans

        starts = [0, *(snapshot.tick for snapshot in snapshots[:-1])]
        arrived = np.add.reduceat(self.trace.arrived, starts)
        seconds = np.add.reduceat(self.trace.arrived * self.trace.latency, starts)
        with np.errstate(invalid="ignore"):
            mean_latency_s = self._by_sink(seconds) / self._by_sink(arrived)
        reached = np.array([snapshot.reached.sum(axis=1) for snapshot in snapshots])

        return Series(
            at_s,
            offered=flow("sources", "offered"),
            dropped=flow("sources", "dropped"),
            backlog=stock("sources", "backlog"),
            processed=flow("operators", "processed"),
            gathered=stock("operators", "gathered"),
            busy=flow("operators", "busy_s"),
            blocked=flow("operators", "blocked_s"),
            sent=flow("streams", "sent"),
            waiting=stock("streams", "waiting"),
            in_flight=stock("streams", "in_flight"),
            device_utilisation=flow("devices", "busy_s"),
            device_stalled=flow("devices", "stalled_s"),
            link_utilisation=flow("links", "busy_s"),
            link_full=flow("links", "full_s"),
            link_stalled=flow("links", "stalled_s"),
            mean_latency_s=mean_latency_s,
            path_mean_throughput=np.diff(reached, axis=0, prepend=0.0) / spans,
        )

    def _of_links(self, name: str) -> Floats:
        made = np.zeros(len(self.simulation.flow.gap_s))
        made[self.trace.link[1:]] = self._gained("links", name)[1:] / self.seconds
        return made

    def _gained(self, part: str, name: str | None = None) -> NDArray[np.float64]:
        columns = (getattr(snapshot, part) for snapshot in (self.trace.begin, self.trace.end))
        first, last = columns if name is None else (column[name] for column in columns)
        return np.asarray(last - first)


def run(
    simulation: Simulation, placement: NDArray[np.integer], every_s: float | None = None
) -> RunMetrics:
    """Simulate one placement until its throughput holds, with shorter and shorter ticks.

    With `Settings.tick_s` None, the run is repeated with half the tick until neither of the last
    two halvings has changed the relative throughput by more than 0.002: one alone may change
    nothing while the size of a queue, and not the tick, limits a stream. The result is the last
    run. It has not settled if the limit of work was reached before.

    With `Settings.duration_s` None, a run whose throughput does not hold after 61 seconds goes on
    for up to ten times as long. If it does not hold then, it begins anew with the tuples of its
    steady state on its streams (see `streamplace.sim.engine.steady`), unless the scene changes
    without repetition.

    Parameters and errors are those of `Simulation.run`.
    """

    def exact(tick_s: float | None) -> RunMetrics:
        return RunMetrics(simulation, simulation.run(placement, every_s, tick_s))

    found = _with_halved_ticks(exact, simulation)
    if simulation.settings.duration_s is not None or found.holds:
        return found
    return _with_halved_ticks(_GoingOn(simulation, placement, every_s), simulation)


def throughput(simulation: Simulation, placements: NDArray[np.integer]) -> Floats:
    """Return the throughput of each placement, (K,) tuples/s at the sources, with one tick.

    With `Settings.duration_s` None, a run whose throughput does not hold after 61 seconds begins
    anew as that of `run`, but does not go on before: searches ask for many placements.

    Raises
    ------
    EngineError
        If a run could not be finished.
    """
    if simulation.settings.duration_s is not None:
        return simulation.throughput(placements)
    return np.array(
        [_steady(simulation, row).throughput for row in checked(simulation.flow, placements)]
    )


def _steady(simulation: Simulation, placement: NDArray[np.integer]) -> RunMetrics:
    """Return a run from no tuples, or from those of the steady state if its throughput changes."""
    found = RunMetrics(simulation, simulation.run(placement))
    if found.holds or not simulation.scene.lasts:
        return found
    start = contents_when_steady(simulation, placement, None)
    return found if start is None else _last_run(simulation, placement, start=start)


class _GoingOn:
    """Runs of one placement that go on until throughput holds.

    They begin without tuples, or else with those of the steady state. What the first tick shows of
    it is used with shorter ticks, too.
    """

    def __init__(
        self, simulation: Simulation, placement: NDArray[np.integer], every_s: float | None
    ) -> None:
        self.simulation, self.placement, self.every_s = simulation, placement, every_s
        self.start: Contents | None = None

    def __call__(self, tick_s: float | None) -> RunMetrics:
        """Return the last run with this tick; None: that of `Simulation.tick_for`."""
        found = _last_run(self.simulation, self.placement, self.every_s, tick_s, self.start)
        if found.holds or self.start is not None or not self.simulation.scene.lasts:
            return found
        self.start = contents_when_steady(self.simulation, self.placement, tick_s)
        if self.start is None:
            return found
        return _last_run(self.simulation, self.placement, self.every_s, tick_s, self.start)


def _last_run(
    simulation: Simulation,
    placement: NDArray[np.integer],
    every_s: float | None = None,
    tick_s: float | None = None,
    start: Contents | None = None,
) -> RunMetrics:
    """Return the first of longer and longer runs whose throughput holds, or else the longest."""
    tick_s = simulation.tick_for(placement) if tick_s is None else tick_s
    most_s = MAX_STEPS * tick_s / _size(simulation)
    first_s = simulation.settings.first_duration_s
    durations_s = [first_s, *(k * first_s for k in LONGER if k * first_s <= most_s)]
    traces = simulation.runs(placement, durations_s, every_s, tick_s, start)
    found = RunMetrics(simulation, next(traces))
    while not found.holds and (trace := next(traces, None)) is not None:
        found = RunMetrics(simulation, trace)
    return found


def _with_halved_ticks(
    run_with: Callable[[float | None], RunMetrics], simulation: Simulation
) -> RunMetrics:
    """Return a run with the tick of the settings, or the last with shorter and shorter ticks."""
    last = run_with(None)
    if simulation.settings.tick_s is not None:
        return last
    halvings = 0  # that changed nothing, in a row
    while True:
        if 2 * _size(simulation) * last.trace.end.tick > MAX_STEPS:
            return replace(last, stands=False)
        finer = run_with(0.5 * last.trace.tick_s)
        change = abs(finer.relative_throughput - last.relative_throughput)
        halvings = halvings + 1 if change <= STANDS else 0
        if halvings == ENOUGH:
            return replace(finer, coarser=last)
        last = finer


def _size(simulation: Simulation) -> int:
    """Return the number of operators and streams."""
    return simulation.flow.operators + len(simulation.flow.source)
