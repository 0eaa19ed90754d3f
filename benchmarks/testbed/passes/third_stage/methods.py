"""The methods that are compared: DOPPLER's stages, a climb on measurements, and a search."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from benchmarks.testbed.passes.third_stage.budget import Budget
from streamplace import Makespan, Problem, place
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training import fit, read_config
from streamplace.learning.training.measuring.measure import NamedMeasure
from streamplace.learning.training.measuring.measurements import Measurements
from streamplace.learning.training.stages import OptimiserSection, Stage, measured_stages
from streamplace.util.arrays import Floats, Ints
from streamplace.util.threads import one_thread

OnePass: TypeAlias = Callable[[Ints], Floats]
"""Returns the makespan of one pass of each placement, (K,), from device indices, (K, V)."""
SAMPLES, RATE = 4, 1e-3  # of the third stage, which has few updates
DRAWS = 200  # of measured placements in a row, after which the climb moves one operator more
SEARCH = "search:evaluations=20000"


class Turns:
    """A measure: the median makespan of several passes, in which placements take turns."""

    def __init__(self, meter: OnePass, repeats: int) -> None:
        self._meter, self._repeats = meter, repeats
        self.rows: list[Ints] = []

    def __call__(self, problem: Problem, placements: Ints) -> Floats:
        """Return the makespans of placements, (K,), in seconds."""
        self.rows += list(placements)
        medians: Floats = np.median([self._meter(placements) for _ in range(self._repeats)], axis=0)
        return medians


def stages(budget: Budget) -> list[Stage]:
    """Return the two stages of the config `doppler`, shortened, and the third one.

    The third stage repeats the second one with measured times, fewer samples and a higher rate.
    """
    first, second = read_config("doppler").stage
    own = {
        "measurements": budget.placements,
        "epochs": max(1, 2 * budget.placements // SAMPLES),
        "samples": SAMPLES,
        "optimiser": OptimiserSection(rate=RATE, final_rate=RATE / 100, schedule="linear"),
    }
    short = {"epochs": budget.epochs}
    return [
        first.model_copy(update=short),
        second.model_copy(update=short),
        second.model_copy(update=own),
    ]


def doppler(problem: Problem, meter: OnePass, budget: Budget, seed: int) -> tuple[Ints, Ints]:
    """Return the best placement of the second stage and that of the third, (V,) each.

    The third stage first measures the best placement of the second one.
    """
    policy = new_policy(read_config("doppler").policy, seed)
    measure, three = Turns(meter, budget.repeats), stages(budget)
    assert measured_stages(three) == [2]
    with one_thread():
        rng = np.random.default_rng(seed)
        (best,) = fit(policy, [problem], three, rng, measure=measure).best
    assert best is not None, "the memory accepts every placement"
    return measure.rows[0], best.devices


def climbed(problem: Problem, meter: OnePass, start: Ints, budget: Budget, seed: int) -> Ints:
    """Return the best placement, (V,), of a first-improvement climb on measured makespans.

    A random operator is moved to another random device; the move is kept if the makespan is not
    longer. Placements that were measured before are not measured again; where too many draws in a
    row are of such placements, more operators are moved at a time.
    """
    rng = np.random.default_rng(seed)
    named = NamedMeasure("testbed", Turns(meter, budget.repeats))
    measurements = Measurements(named, [problem])
    devices, best = len(problem.cluster.devices), start
    lowest = measurements(0, best[None])[0]
    left, repeated = budget.placements - 1, 0
    while left and repeated < len(best) * DRAWS:
        tried = best.copy()
        moved = rng.choice(len(best), 1 + repeated // DRAWS, replace=False)
        tried[moved] = (best[moved] + rng.integers(1, devices, len(moved))) % devices
        if not measurements.unknown(0, tried[None]):
            repeated += 1
            continue
        left, repeated = left - 1, 0
        seconds = measurements(0, tried[None])[0]
        if seconds <= lowest:
            best, lowest = tried, seconds
    return best


def searched(problem: Problem, seed: int) -> Ints:
    """Return the best placement of a search in simulation, (V,)."""
    found = place(problem.graph, problem.cluster, objective=Makespan(), placer=SEARCH, seed=seed)
    return found.placement.devices


def interleaved(meter: OnePass, rows: Ints, repeats: int, seed: int) -> Floats:
    """Return the makespan of every pass, (K, repeats), of placements, (K, V), that take turns.

    The order of a turn is random. Equal placements share their passes, so that methods which found
    the same one do not differ by noise.
    """
    rng = np.random.default_rng(seed)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    seconds = np.empty((len(distinct), repeats))
    for turn in range(repeats):
        order = rng.permutation(len(distinct))
        seconds[order, turn] = meter(distinct[order])
    shared: Floats = seconds[which.reshape(-1)]
    return shared
