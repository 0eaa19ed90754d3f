"""Engine runs: tick-by-tick simulation of placements."""

from dataclasses import dataclass, fields

from streamplace.display.view import Line
from streamplace.errors import ProblemError, SimulationError, UsageError
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import at_all_rates, compiled
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

GROWING = 0.01  # growth of the queues at sources, as a share of the rate offered, to be shown


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
    tick_limited
        Whether half the tick may still change the result, since shorter ticks take too long.
    tick_s
        Length of a tick in seconds; at most the length that the settings ask for.
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
    tick_limited: bool
    tick_s: float

    @property
    def base_rate(self) -> float:
        """The tuples/s of which the relative throughput is a share."""
        return self.offered_rate

    def _run_lines(self) -> tuple[Line, ...]:
        if self.latency_s is None:
            return (Line("no tuple arrived at a sink during the measurement"),)
        mean, p50, p99 = (
            f"{self.latency_s[name]:.{self.latency_digits}g} s" for name in ("mean", "p50", "p99")
        )
        lines = [f"latency: mean {mean}, median {p50}, 99% of tuples within {p99}"]
        if self.dropped:
            lines.append(f"sources with full queues dropped {self.dropped:,.6g} tuples")
        if self.source_queue_growth > GROWING * self.offered_rate:
            growth = f"{self.source_queue_growth:,.4g} tuples/s"
            lines.append(f"the queues at the sources grow by {growth}, and their wait with them")
        if self.tick_limited:
            shorter = f"ticks shorter than {self.tick_s:g} s may give other results"
            lines.append(f"had not settled: {shorter}, but take too long; try a shorter --duration")
        elif not self.settled:
            growth = f"queues changed by {self.queue_growth:+,.4g} tuples/s"
            lines.append(f"had not settled: {growth}; a longer run may give other results")
        return tuple(map(Line, lines))


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
        raise UsageError("arrivals: single tuples have no ticks; use scoring.tuples.run_tuples")
    kept = problem.compiled(_none_yet)
    if scene is None and settings in kept:
        return kept[settings]
    latency_s = problem.cluster.link_column("latency_s")
    try:
        made = Simulation(compiled(problem).flow, latency_s, settings, scene)
    except ValueError as error:
        raise ProblemError(f"scene: {error}") from None
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
        raise ProblemError(f"scene: {error}") from None
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
    """Return the score of a placement from a run at its problem's source rate."""
    loads = (run.device_utilisation, run.link_utilisation, run.own_utilisation)
    closed = score_at(placement.problem, placement.devices, run.throughput, *loads)
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
        tick_limited=not run.stands,
        settled=run.settled,
        tick_s=run.trace.tick_s,
    )
