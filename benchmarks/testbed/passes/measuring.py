"""Measured makespans of placements of one problem."""

from collections.abc import Sequence
from math import inf
from typing import Self

import numpy as np

from benchmarks.testbed.facilities import TestbedError
from benchmarks.testbed.passes.executors import Executors
from benchmarks.testbed.passes.scaling import MEAN_S, ScaledPass, scale_pass
from streamplace import Problem
from streamplace.errors import UsageError
from streamplace.util.arrays import Floats, Ints


class Meter:
    """Measures placements of one problem on devices that exist within a ``with`` block.

    A call takes K placements, (K, V), and returns their makespans in seconds of the problem, (K,).
    Use it inside `swept`.

    Parameters
    ----------
    repeats
        Passes of a placement, of whose makespans the median counts.
    limit
        Largest number of passes in all, such as the budget of a training run; None: no limit.
    mean_s
        Mean time of an operator on the testbed, in seconds; see `scale_pass`.

    Attributes
    ----------
    passes
        Passes so far.

    Raises
    ------
    TestbedError
        If the machine or the testbed cannot run the problem.
    UsageError
        If `repeats` is below 1 or `mean_s` is not above 0.
    """

    def __init__(
        self,
        problem: Problem,
        repeats: int = 3,
        limit: int | None = None,
        mean_s: float = MEAN_S,
    ) -> None:
        check_settings(repeats, mean_s)
        self._scaled = scale_pass(problem, mean_s)
        self._repeats = repeats
        self._limit = limit
        self._executors = Executors(
            problem.cluster.network.kind, self._scaled.shares, self._scaled.mbps
        )
        self.passes = 0

    def __enter__(self) -> Self:
        self._executors.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._executors.__exit__(*error)

    def __call__(self, placements: Sequence[Ints] | Ints) -> Floats:
        """Return the measured makespans of placements, (K,).

        Raises
        ------
        TestbedError
            If they need more passes than the limit leaves, before the first of them runs, or if a
            device fails.
        """
        needed = len(placements) * self._repeats
        if self._limit is not None and self.passes + needed > self._limit:
            left = self._limit - self.passes
            raise TestbedError(f"{needed} passes are needed, but only {left} of the limit are left")
        self.passes += needed
        measured = makespans(self._executors, self._scaled, placements, self._repeats)
        return np.median(measured, axis=1) / self._scaled.factor


def check_settings(repeats: int, mean_s: float) -> None:
    """Refuse settings with which nothing can be measured; see `Meter`.

    Raises
    ------
    UsageError
        If `repeats` is below 1, or `mean_s` is not above 0 or not finite.
    """
    if repeats < 1:
        raise UsageError(f"repeats must be at least 1 (got {repeats})")
    if not 0.0 < mean_s < inf:
        raise UsageError(f"mean_s must be a finite number above 0 (got {mean_s:g})")


def measure(problem: Problem, placements: Sequence[Ints] | Ints, repeats: int = 3) -> Floats:
    """Return the measured makespans of placements, (K,), in seconds of the problem; see `Meter`.

    The devices are made anew for every call, which takes about a second.
    """
    with Meter(problem, repeats) as meter:
        return meter(placements)


def makespans(
    executors: Executors, scaled: ScaledPass, placements: Sequence[Ints] | Ints, repeats: int
) -> Floats:
    """Return the makespan of each pass, in seconds of the testbed, (K, repeats).

    The placements take turns, so that a disturbance of the machine affects all of them alike.
    """
    jobs = [scaled.job(np.asarray(devices, dtype=np.int32)) for devices in placements]
    rows = [[executors.run(job).makespan_s for job in jobs] for _ in range(repeats)]
    return np.array(rows).reshape(repeats, len(jobs)).T
