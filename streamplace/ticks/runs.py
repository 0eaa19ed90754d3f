"""Engine runs: tick-by-tick simulation of placements."""

from dataclasses import dataclass, fields

from streamplace.display.text import number, share_of
from streamplace.display.view import Line
from streamplace.errors import Fault, ProblemError, SimulationError, UsageError
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import at_all_rates, compiled
from streamplace.scoring.loads import Bottleneck
from streamplace.scoring.score import ThroughputScore
from streamplace.scoring.throughput_evaluator import score_at, worst_of
from streamplace.sim.engine import (
    EngineError,
    RunMetrics,
    Scene,
    SceneError,
    Settings,
    Simulation,
    metrics,
)

SCENE = "scene"
"""The option of faults in a scene."""
GROWING = 0.01  # growth of the queues at sources, as a share of the rate offered, to be shown


@dataclass(frozen=True)
class SteadyState:
    """What a run comes to once throughput no longer changes.

    Parameters
    ----------
    throughput, relative_throughput
        In tuples/s, and relative to the tuples offered.
    bottleneck
        The device, link or operator with the largest utilisation.
    """

    throughput: float
    relative_throughput: float
    bottleneck: Bottleneck


@dataclass(frozen=True, repr=False)
class EngineScore(ThroughputScore):
    """The score of a placement in an engine run; utilisations are fractions of the time.

    Relative throughput is relative to the tuples offered during the measurement.

    Parameters
    ----------
    offered_rate
        Tuples/s offered to the sources during the measurement, which a scene may change: the base
        of the relative throughput.
    latency_s
        Mean, p50 and p99 latency from source to sink, in seconds; None if no tuple arrived. It
        starts when a tuple is offered to its source, or with `Settings.source_wait` False, as in
        CEPSim, when the source takes it.
    latency_digits
        Number of significant digits of the latencies that a run with twice the tick confirms, at
        most 4; 2 if the tick was chosen by the user.
    path_mean_throughput
        Source tuples/s at the sinks, averaged over the paths to them as in CEPSim; None with more
        than 16 sources.
    queued, in_flight, dropped
        Numbers of tuples: in queues at the end of the run, in transit between devices at the end,
        and dropped by sources during the run.
    queue_growth
        Growth of the queues between operators during the measurement, in tuples/s.
    source_queue_growth
        Growth of the tuples that wait at their sources, in tuples/s. If it is positive, latencies
        that include this wait grow with the length of the run.
    settled
        Whether throughput and the queues between operators had stopped changing; see `RunMetrics`.
    throughput_settled
        Whether a longer run has the same throughput: queues may grow only if they have no limit.
    tick_limited
        Whether half the tick may still change the result, since shorter ticks take too long.
    steady
        The steady state, if the run has not settled; None if nothing is offered then.
    starts_full
        Whether the run began with the queues of its steady state, which take long to fill.
    tick_s
        Length of a tick in seconds; at most the length that the settings ask for.
    duration_s
        Simulated seconds.
    """

    offered_rate: float
    latency_s: dict[str, float] | None
    latency_digits: int
    path_mean_throughput: float | None
    queued: float
    in_flight: float
    dropped: float
    queue_growth: float
    source_queue_growth: float
    settled: bool
    throughput_settled: bool
    steady: SteadyState | None
    starts_full: bool
    tick_limited: bool
    tick_s: float
    duration_s: float

    @property
    def headline(self) -> str:
        """The throughput as a phrase, with that of the steady state beside it if it is another."""
        if self.steady is None or self._is_steady:
            return super().headline
        share = share_of(self.steady.throughput, self.base_rate)
        steady = f"{number(self.steady.throughput)} ({share})"
        return f"{super().headline}, not settled; steady state {steady}"

    @property
    def _is_steady(self) -> bool:
        """Whether the steady state has the throughput and the bottleneck of this run."""
        if self.steady is None:
            return self.settled
        same = self.steady.bottleneck.name == self.bottleneck.name
        return same and self.steady.throughput == self.throughput

    @property
    def base_rate(self) -> float:
        """The tuples/s of which the relative throughput is a share."""
        return self.offered_rate

    def _run_lines(self) -> tuple[Line, ...]:
        return (*self._latency_lines(), *self._settling_lines())

    def _latency_lines(self) -> tuple[Line, ...]:
        """Return the latencies, and what the sources do with tuples that wait."""
        if self.latency_s is None:
            return (Line("no tuple arrived at a sink during the measurement"),)
        mean, p50, p99 = (
            f"{self.latency_s[name]:.{self.latency_digits}g} s" for name in ("mean", "p50", "p99")
        )
        text = f"latency: mean {mean}, median {p50}, 99% of tuples within {p99}"
        lines = [Line(f"{text}, without random arrivals")]
        if self.dropped:
            lines.append(Line(f"sources with full queues dropped {self.dropped:,.6g} tuples"))
        if self.source_queue_growth > GROWING * self.offered_rate:
            growth = f"{self.source_queue_growth:,.4g} tuples/s"
            lines.append(
                Line(f"the queues at the sources grow by {growth}, and their wait with them")
            )
        return tuple(lines)

    def _settling_lines(self) -> tuple[Line, ...]:
        """Return whether the run has settled, and otherwise the steady state."""
        if self.latency_s is None and self._is_steady:
            return ()
        lines = []
        if self.starts_full:
            lines.append(
                Line(
                    "began with the queues of its steady state, which take long to fill; "
                    "--duration shows how they fill"
                )
            )
        growth = f"queues changed by {self.queue_growth:+,.4g} tuples/s"
        if self.tick_limited:
            shorter = f"ticks shorter than {self.tick_s:g} s may give other results"
            lines.append(
                Line(f"had not settled: {shorter}, but take too long; try a shorter --duration")
            )
        elif self.settled:
            return tuple(lines)
        elif self.throughput_settled:
            lines.append(Line(f"had not settled: {growth}, which does not change the throughput"))
        elif self.steady is None:
            lines.append(Line(f"had not settled: {growth}, and no tuple is offered in the end"))
        elif self._is_steady:
            after = f"had not settled after {self.duration_s:g} s"
            lines.append(Line(f"{after}: {growth}; a longer run may give other results"))
        else:
            lines.append(Line(f"had not settled: {growth}"))
        if self.steady is not None and not self._is_steady:
            share = share_of(self.steady.throughput, self.base_rate)
            carried = f"{number(self.steady.throughput)} tuples/s, {share}"
            limit = self.steady.bottleneck.line()
            lines.append(Line(f"steady state: {carried}; {limit.text}", limit.names))
        return tuple(lines)


def simulation(
    problem: Problem, settings: Settings | None = None, scene: Scene | None = None
) -> Simulation:
    """Return the simulation of a problem; without a scene, it is cached per problem and settings.

    Parameters
    ----------
    settings
        None: those of the problem's objective, or else the engine's defaults.
    scene
        Changing rates and speeds; None: constant ones.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    ProblemError
        If the scene does not fit the problem.
    UsageError
        If the settings are those of single tuples.
    """
    settings = settings or problem.throughput_objective.engine or Settings(tick_s=None)
    if settings.arrivals is not None:
        raise UsageError("arrivals: single tuples have no ticks; use latency.tuples.run_tuples")
    kept = problem.once(_none_yet)
    if scene is None and settings in kept:
        return kept[settings]
    latency_s = problem.cluster.link_column("latency_s")
    try:
        made = Simulation(compiled(problem).flow, latency_s, settings, scene)
    except ValueError as error:
        raise ProblemError(Fault(str(error), option=SCENE)) from None
    if scene is None:
        kept[settings] = made
    return made


def _none_yet(_problem: Problem) -> dict[Settings, Simulation]:
    """Return what a problem keeps before its first simulation."""
    return {}


def run(
    placement: Placement,
    settings: Settings | None = None,
    scene: Scene | None = None,
    every_s: float | None = None,
) -> RunMetrics:
    """Run a placement in the engine at its problem's source rate (with several, the highest).

    Parameters
    ----------
    settings, scene
        See `simulation`.
    every_s
        Seconds between stored snapshots; see `RunMetrics`.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    ProblemError
        If the scene does not fit the problem, or offers no tuples during the measurement.
    SimulationError
        If the run could not be finished.
    """
    simulated = simulation(placement.problem, settings, scene)
    try:
        return metrics.run(simulated, placement.devices, every_s)
    except SceneError as error:
        raise ProblemError(Fault(str(error), option=SCENE)) from None
    except EngineError as error:
        raise SimulationError(f"engine: {error}") from None


def worst_run(
    placement: Placement,
    settings: Settings | None = None,
    scene: Scene | None = None,
    every_s: float | None = None,
) -> tuple[Placement, RunMetrics]:
    """Run a placement at each of its problem's source rates and return the worst run.

    Return the placement at that single rate, and the run. Parameters and errors are those of `run`.
    """
    cases = [Placement(one, placement.devices) for one in at_all_rates(placement.problem)]
    runs = [(case, run(case, settings, scene, every_s)) for case in cases]
    return runs[worst_of([ran.relative_throughput for _, ran in runs])]


def score_of_run(placement: Placement, run: RunMetrics) -> EngineScore:
    """Return the score of a placement from a run at its problem's source rate.

    The steady state of a run that has not settled is simulated.
    """
    closed = _loads(placement, run)
    shared = {field.name: getattr(closed, field.name) for field in fields(closed)}
    return EngineScore(
        **shared | {"relative_throughput": run.relative_throughput},
        offered_rate=run.trace.due.source_rate,
        latency_s=run.latency_s(),
        latency_digits=run.latency_digits,
        path_mean_throughput=run.path_mean_throughput,
        queued=run.queued,
        in_flight=run.in_flight,
        dropped=run.dropped,
        queue_growth=run.queue_growth,
        source_queue_growth=run.source_queue_growth,
        settled=run.settled,
        throughput_settled=run.holds,
        steady=None if run.settled else steady_state(placement, run),
        starts_full=run.trace.starts_full,
        tick_limited=not run.stands,
        tick_s=run.trace.tick_s,
        duration_s=run.trace.end.tick * run.trace.tick_s,
    )


def steady_state(placement: Placement, run: RunMetrics) -> SteadyState | None:
    """Return the steady state of a run of a placement; None if nothing is offered then.

    Raises
    ------
    SimulationError
        If a run to the steady state could not be finished.
    """
    try:
        steady = run.steady_run
    except EngineError as error:
        raise SimulationError(f"engine: {error}") from None
    if steady is None:
        return None
    bottleneck = _loads(placement, steady).bottleneck
    return SteadyState(steady.throughput, steady.relative_throughput, bottleneck)


def _loads(placement: Placement, run: RunMetrics) -> ThroughputScore:
    """Return the throughput and the loads in a run."""
    loads = (run.device_utilisation, run.link_utilisation, run.own_utilisation)
    return score_at(placement.problem, placement.devices, run.throughput, *loads)
