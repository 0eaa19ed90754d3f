"""The moments from which the cores of devices are free.

They are kept sorted for each device, so the moment from which several cores are free is read in one
step.
"""

import numpy as np

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import bare


def first_cores(device_cores: Ints, operator_cores: Ints) -> Ints:
    """Return the index of each device's first core, (D + 1,).

    Cores beyond those that all operators use together stay free, so they are left out.
    """
    used = np.minimum(device_cores, operator_cores.sum(dtype=np.int64))
    return np.append(0, np.cumsum(used)).astype(np.int32)


@bare
def free_from(free: Floats, first_core: Ints, d: int, cores: int) -> float:
    """Return the moment from which an operator finds its cores, or all of a smaller device."""
    needed = min(cores, first_core[d + 1] - first_core[d])
    return float(free[first_core[d] + needed - 1])


@bare
def keep_cores(free: Floats, first_core: Ints, d: int, cores: int, released: float) -> None:
    """Let an operator keep the cores that are free first until they are released."""
    i, end = first_core[d], first_core[d + 1]
    needed = min(cores, end - i)
    while i + needed < end and free[i + needed] < released:
        free[i] = free[i + needed]
        i += 1
    for j in range(i, i + needed):
        free[j] = released
