"""Placements as checked arrays."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sim.columns import Ints


class Sized(Protocol):
    """The size of a problem."""

    @property
    def operators(self) -> int: ...
    @property
    def devices(self) -> int: ...


def as_rows(flow: Sized, placements: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return placements, (V,) or (K, V) of any integer type, as C-ordered (K, V).

    Raises
    ------
    ValueError
        If the shape or type is wrong.
    """
    rows = np.atleast_2d(np.asarray(placements))
    if rows.shape[1:] != (flow.operators,) or rows.dtype.kind not in "iu":
        raise ValueError(f"placements must be integers of shape (K, {flow.operators})")
    native = np.ascontiguousarray(rows, dtype=rows.dtype.newbyteorder("=")).view()
    native.flags.writeable = (
        False  # like the columns of graphs, so that kernels are compiled only once
    )
    return native


def checked(flow: Sized, placements: NDArray[np.integer]) -> Ints:
    """Return placements as `as_rows` does, as int32, checking that every entry is a device.

    Raises
    ------
    ValueError
        If the shape or type is wrong, or an entry is not a device of the flow.
    """
    rows = as_rows(flow, placements)
    if rows.size and not 0 <= rows.min() <= rows.max() < flow.devices:
        raise ValueError(f"a placement names a device outside 0..{flow.devices - 1}")
    devices = rows.astype(np.int32, copy=False)
    devices.flags.writeable = False
    return devices
