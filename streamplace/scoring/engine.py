"""Runs of the engine: placements simulated tick by tick."""

from collections.abc import Sequence

from sim.engine import EngineError, RunMetrics, Scene, SceneError, Settings, Simulation
from streamplace.errors import ProblemError, SimulationError
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import at_all_rates, compiled

ALIKE = 1e-9  # of relative throughputs: what rounding may make the lower one


def simulation(
    problem: Problem, settings: Settings | None = None, scene: Scene | None = None
) -> Simulation:
    """Return the simulation of a problem; without a scene it is made once a problem and settings.

    Parameters
    ----------
    settings
        None: those of the problem's objective, or the engine's own.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    ProblemError
        If the scene does not fit the problem.
    """
    settings = settings or problem.objective.engine or Settings()
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
    """Run a placement through the engine at its problem's source rate, the highest of several.

    Parameters
    ----------
    settings
        None: those of the problem's objective, or the engine's own.
    every_s
        Seconds between the snapshots that are kept; see `RunMetrics`.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    ProblemError
        If the scene does not fit the problem, or offers nothing while measured.
    SimulationError
        If the run could not be finished.
    """
    simulated = simulation(placement.problem, settings, scene)
    try:
        return RunMetrics(simulated, simulated.run(placement.devices, every_s))
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
    """Run a placement at each of its problem's source rates; return the run at the worst.

    With the placement at that rate alone. Arguments and errors are those of `run`.
    """
    cases = [Placement(one, placement.devices) for one in at_all_rates(placement.problem)]
    found = [(case, run(case, settings, scene, every_s)) for case in cases]
    return found[worst_of([ran.relative_throughput for _, ran in found])]


def worst_of(relative: Sequence[float]) -> int:
    """Return the first of several relative throughputs that is the lowest, to rounding."""
    most = min(relative) * (1 + ALIKE)
    return next(i for i, reached in enumerate(relative) if reached <= most)
