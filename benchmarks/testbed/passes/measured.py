"""The testbed as the measure of a training's third stage.

streamplace train … --measure benchmarks.testbed.passes.measured:Measured:repeats=3
"""

from contextlib import ExitStack

from benchmarks.testbed.emulator import swept
from benchmarks.testbed.passes.measuring import Meter, check_settings
from benchmarks.testbed.passes.scaling import MEAN_S
from streamplace import Problem
from streamplace.util.arrays import Floats, Ints


class Measured:
    """Measures makespans on devices that exist until `close`; signals remove them, too.

    The devices are made anew when another problem is measured, which takes about a second.

    Parameters
    ----------
    repeats
        Passes of a placement, of whose makespans the median counts.
    mean_s
        Mean time of an operator on the testbed, in seconds.

    Raises
    ------
    TestbedError
        If the machine cannot run the testbed.
    UsageError
        If `repeats` is below 1 or `mean_s` is not above 0, before anything is trained or measured.
    """

    def __init__(self, repeats: int = 3, mean_s: float = MEAN_S) -> None:
        check_settings(repeats, mean_s)
        self._repeats, self._mean_s = repeats, mean_s
        self._problem: Problem | None = None
        self._meter: Meter | None = None
        self._all, self._devices = ExitStack(), ExitStack()
        self._all.enter_context(swept())
        self._all.push(self._devices)

    def __call__(self, problem: Problem, placements: Ints) -> Floats:
        """Return the makespans of placements, (K,), in seconds of the problem.

        Raises
        ------
        TestbedError
            If the testbed cannot run the problem, or a device fails.
        """
        if self._meter is None or problem is not self._problem:
            self._devices.close()
            self._meter = None  # in case the devices for this problem cannot be made
            self._meter = self._devices.enter_context(
                Meter(problem, self._repeats, mean_s=self._mean_s)
            )
            self._problem = problem
        return self._meter(placements)

    def close(self) -> None:
        """Remove the devices."""
        self._all.close()
