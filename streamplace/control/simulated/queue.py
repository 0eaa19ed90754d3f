"""The queue at the sources, as a fluid: what is not served waits, and is served later."""

import numpy as np

from streamplace.util.arrays import Floats


def work_off(waiting: float, offered: Floats, capacity: Floats) -> tuple[Floats, Floats]:
    """Return what waits after each of N steps, and what is served in it, (N,) tuples each.

    It is Lindley's recursion, waiting' = max(0, waiting + offered - capacity), as sums.

    Parameters
    ----------
    waiting
        Tuples that wait before the first step.
    offered, capacity
        (N,) tuples that come in each step, and tuples that can be served in it.
    """
    net = np.cumsum(offered - capacity)
    lowest = np.minimum(np.minimum.accumulate(net), -waiting)
    after = np.maximum(net - lowest, 0.0)
    served = offered - np.diff(after, prepend=waiting)
    return after, np.asarray(np.clip(served, 0.0, capacity))
