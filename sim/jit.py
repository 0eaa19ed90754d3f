"""The one way kernels of this package are compiled."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile with numba, without the GIL and with C's arithmetic (x / 0 is inf).

    What is compiled is kept on disk, unless there is no folder to keep it in.
    """
    try:
        compiled = numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # numba's word for: neither here nor in the home folder
        compiled = numba.njit(nogil=True, error_model="numpy")(function)
    return cast("F", compiled)
