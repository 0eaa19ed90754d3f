"""The moments from which the cores of devices are free."""

from itertools import chain

import numpy as np

from streamplace.sim.cores import first_cores, free_from, keep_cores
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.jit import kernel


@kernel
def kept(free: Floats, first_core: Ints, device: Ints, cores: Ints, seconds: Floats) -> Floats:
    """Run operators one after the other; return their starts."""
    starts = np.empty(len(device))
    for i in range(len(device)):
        starts[i] = free_from(free, first_core, device[i], cores[i])
        keep_cores(free, first_core, device[i], cores[i], starts[i] + seconds[i])
    return starts


def test_operators_take_the_cores_that_are_free_first() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        of_device = rng.integers(1, 6, 3).astype(np.int32)
        cores = rng.integers(1, 8, 30).astype(np.int32)
        device, seconds = (
            rng.integers(0, 3, 30, np.int32),
            rng.integers(0, 5, 30).astype(np.float64),
        )
        first = first_cores(of_device, cores)
        free = np.zeros(int(first[-1]))
        starts = kept(free, first, device, cores, seconds)
        moments = [[0.0] * count for count in of_device]
        for d, needed, length, start in zip(device, cores, seconds, starts, strict=True):
            own = sorted(moments[d])
            count = min(needed, len(own))
            assert start == own[count - 1]
            moments[d] = [start + length] * count + own[count:]
        assert free.tolist() == list(chain.from_iterable(map(sorted, moments)))


def test_cores_that_no_operator_can_use_are_left_out() -> None:
    first = first_cores(np.array([2, 10**6, 10**9]), np.array([3, 4], np.int32))
    assert first.tolist() == [0, 2, 9, 16]
    enormous = np.full(1000, 2**31 - 1, np.int32)
    assert first_cores(np.array([1, 5]), enormous).tolist() == [0, 1, 6]
