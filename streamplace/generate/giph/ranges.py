"""Ranges of the numbers that GiPH draws."""

from dataclasses import dataclass

import numpy as np

from streamplace.util.arrays import Floats

MEAN_COMPUTE, MEAN_BYTES = 100.0, 100.0  # of tasks and edges, in GiPH's units
SPREAD_OF_TASKS, SPREAD_OF_DEVICES = 0.4, 0.8
MEAN_SPEED, MEAN_BANDWIDTH, MEAN_DELAY = 5.0, 100.0, 10.0
TYPES, TYPE_PROBABILITY = 5, 0.2


@dataclass(frozen=True)
class Ranges:
    """How the paper and the released code differ.

    Parameters
    ----------
    half
        Whether numbers are within half the spread around their mean instead of the whole spread.
    reciprocal
        Whether the reciprocal of the bandwidth is uniform instead of the bandwidth.
    spread_of_tasks, spread_of_devices
        Spread of the numbers of tasks and edges, and of devices and links, as a share of the mean.
    type_probability
        Probability that a device supports a hardware type.
    """

    half: bool
    reciprocal: bool
    spread_of_tasks: float = SPREAD_OF_TASKS
    spread_of_devices: float = SPREAD_OF_DEVICES
    type_probability: float = TYPE_PROBABILITY

    def around(self, mean: float, spread: float) -> tuple[float, float]:
        """Return the ends of the range around a mean."""
        part = spread / 2 if self.half else spread
        return mean * (1 - part), mean * (1 + part)

    def bandwidths(self, stream: np.random.RandomState, devices: int) -> Floats:
        """Draw the bandwidth of each ordered pair of devices, (D, D)."""
        if self.reciprocal:
            ends = self.around(1 / MEAN_BANDWIDTH, self.spread_of_devices)
            return 1.0 / stream.uniform(*ends, (devices, devices))
        ends = self.around(MEAN_BANDWIDTH, self.spread_of_devices)
        return stream.uniform(*ends, (devices, devices))

    def speeds(self, stream: np.random.RandomState, devices: int) -> Floats:
        """Draw the speed of each device, (D,)."""
        return stream.uniform(*self.around(MEAN_SPEED, self.spread_of_devices), devices)
