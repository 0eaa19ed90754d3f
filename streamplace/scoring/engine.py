"""Engine runs: tick-by-tick simulation of placements."""

from collections.abc import Sequence

from sim.engine import (
    EngineError,
    RunMetrics,
    Scene,
    SceneError,
    Settings,
    Simulation,
    refinement,
)
from streamplace.errors import ProblemError, SimulationError, UsageError
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import at_all_rates, compiled

ROUNDING = 1e-9  # relative difference of throughputs that counts as equal


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
    parts = compiled(problem)
    try:
        if scene is None:
            return parts.simulation(settings)
        latency_s = problem.cluster.link_column("latency_s")
        return Simulation(parts.flow, latency_s, settings, scene)
    except ValueError as error:
        raise ProblemError(f"scene: {error}") from None


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
        return refinement.run(simulated, placement.devices, every_s)
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


def worst_of(relative: Sequence[float]) -> int:
    """Return the index of the first relative throughput that equals the lowest up to rounding."""
    limit = min(relative) * (1 + ROUNDING)
    return next(i for i, reached in enumerate(relative) if reached <= limit)
