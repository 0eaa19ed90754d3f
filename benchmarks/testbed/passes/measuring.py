"""Measured makespans of placements of one problem."""

from collections.abc import Sequence

import numpy as np

from benchmarks.testbed.passes.executors import Executors
from benchmarks.testbed.passes.scaling import ScaledPass, scale_pass
from streamplace import Problem
from streamplace.util.arrays import Floats, Ints


def measure(problem: Problem, placements: Sequence[Ints], repeats: int = 3) -> Floats:
    """Return the measured makespan of each of K placements, in seconds of the problem, (K,).

    The devices of the testbed are made anew for every call, which takes a second. Use it inside
    `swept`. A training run that measures again and again keeps `Executors` open and calls
    `medians`.

    Parameters
    ----------
    placements
        (K, V) int32 device of each operator.
    repeats
        Passes of a placement, of whose makespans the median counts.

    Raises
    ------
    TestbedError
        If the machine or the testbed cannot run the problem.
    """
    scaled = scale_pass(problem)
    with Executors(problem.cluster.network.kind, scaled.shares, scaled.mbps) as executors:
        return np.median(makespans(executors, scaled, placements, repeats), axis=1) / scaled.factor


def makespans(
    executors: Executors, scaled: ScaledPass, placements: Sequence[Ints], repeats: int
) -> Floats:
    """Return the makespan of each pass, in seconds of the testbed, (K, repeats).

    The placements take turns, so that a disturbance of the machine affects all of them alike.
    """
    jobs = [scaled.job(np.asarray(devices, dtype=np.int32)) for devices in placements]
    rows = [[executors.run(job).makespan_s for job in jobs] for _ in range(repeats)]
    return np.array(rows).reshape(repeats, len(jobs)).T
