"""The one way kernels of this package are compiled."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile with numba: cached on disk, without the GIL, with C's arithmetic (x / 0 is inf)."""
    return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy")(function))
