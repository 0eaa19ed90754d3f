"""Runs of the engine: problems as simulations."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sim.engine import EngineError, Measures, Scene, SceneError, Settings, Simulation
from streamplace.arrays import Floats
from streamplace.errors import ProblemError, SimulationError
from streamplace.flows import flow
from streamplace.placement import Placement
from streamplace.problem import Problem

ALIKE = 1e-9  # of relative throughputs: what rounding may make the lower one
_SIMULATIONS: WeakKeyDictionary[Problem, dict[Settings, Simulation]] = WeakKeyDictionary()


def simulation(
    problem: Problem, settings: Settings | None = None, scene: Scene | None = None
) -> Simulation:
    """Return the simulation of a problem; without a scene it is made once a problem and settings.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    ProblemError
        If the scene does not fit the problem.
    """
    settings = settings or Settings()
    known = _SIMULATIONS.setdefault(problem, {})
    if scene is None and settings in known:
        return known[settings]
    latency_s = problem.cluster.link_column("latency_s")
    try:
        made = Simulation(flow(problem), latency_s, settings, scene)
    except ValueError as error:
        raise ProblemError(f"scene: {error}") from None
    if scene is None:
        known[settings] = made
    return made


def run(
    placement: Placement,
    settings: Settings | None = None,
    scene: Scene | None = None,
    every_s: float | None = None,
) -> Measures:
    """Run a placement through the engine at its problem's source rate, the highest of several.

    Parameters
    ----------
    every_s
        Keep what happens every so often; see `Measures`.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    ProblemError
        If the scene does not fit the problem, or offers nothing while measured.
    SimulationError
        If the run could not be finished.
    """
    made = simulation(placement.problem, settings, scene)
    try:
        return Measures(made, made.run(placement.devices, every_s))
    except SceneError as error:
        raise ProblemError(f"scene: {error}") from None
    except EngineError as error:
        raise SimulationError(f"engine: {error}") from None


def worst_run(
    placement: Placement,
    settings: Settings | None = None,
    scene: Scene | None = None,
    every_s: float | None = None,
) -> tuple[Placement, Measures]:
    """Run a placement at each of its problem's source rates; return the run at the worst.

    With the placement at that rate alone. Arguments and errors are those of `run`.
    """
    cases = [Placement(one, placement.devices) for one in placement.problem.worst_cases]
    found = [(case, run(case, settings, scene, every_s)) for case in cases]
    return found[worst_of([ran.relative_throughput for _, ran in found])]


def worst_of(relative: Sequence[float]) -> int:
    """Return the first of several relative throughputs that is the lowest, to rounding."""
    most = min(relative) * (1 + ALIKE)
    return next(i for i, reached in enumerate(relative) if reached <= most)


def throughput(
    problem: Problem, placements: NDArray[np.integer], settings: Settings | None = None
) -> Floats:
    """Return the throughput of K placements, (K,) tuples/s, by the engine.

    At the problem's source rate, the highest of several.

    Raises
    ------
    SimulationError
        If a run could not be finished.
    """
    try:
        return simulation(problem, settings).throughput(placements)
    except EngineError as error:
        raise SimulationError(f"engine: {error}") from None
