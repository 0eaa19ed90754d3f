"""Runs whose tick is halved until the throughput no longer changes."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sim.engine.metrics import RunMetrics
from sim.engine.simulation import Simulation

STANDS = 0.002  # largest change of relative throughput by a halving
ENOUGH = 2  # halvings in a row that change nothing
MAX_STEPS = 100_000_000  # (operators + streams) x ticks of the last run: about ten seconds


def run(
    simulation: Simulation, placement: NDArray[np.integer], every_s: float | None = None
) -> RunMetrics:
    """Simulate one placement, with the tick of the settings or with shorter and shorter ones.

    With `Settings.tick_s` None, the run is repeated with half the tick until neither of the last
    two halvings has changed the relative throughput by more than 0.002: one alone may change
    nothing while the size of a queue, and not the tick, limits a stream. The result is the last
    run. It has not settled if the limit of work was reached before.

    Parameters and errors are those of `Simulation.run`.
    """
    last = RunMetrics(simulation, simulation.run(placement, every_s))
    if simulation.settings.tick_s is not None:
        return last
    size = simulation.flow.operators + len(simulation.flow.source)
    halvings = 0  # that changed nothing, in a row
    while True:
        tick_s = 0.5 * last.trace.tick_s
        if size * simulation.settings.duration_s / tick_s > MAX_STEPS:
            return replace(last, stands=False)
        finer = RunMetrics(simulation, simulation.run(placement, every_s, tick_s))
        change = abs(finer.relative_throughput - last.relative_throughput)
        halvings = halvings + 1 if change <= STANDS else 0
        if halvings == ENOUGH:
            return replace(finer, coarser=last)
        last = finer
