"""Compilation of the kernels of this package."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile with numba, without the GIL and with C's arithmetic (x / 0 is inf).

    What is compiled is kept on disk, unless there is no folder to keep it in.
    """
    return _compiled(function, {})


def bare(function: F) -> F:
    """Compile what makes no arrays: without counting references to them, and as part of callers.

    Numba counts references wherever arrays are handed on, which costs kernels that hand many to
    small functions nine tenths of their time.
    """
    return _compiled(function, {"_nrt": False, "forceinline": True})


def _compiled(function: F, options: dict[str, Any]) -> F:
    try:
        compiled = numba.njit(nogil=True, error_model="numpy", cache=True, **options)(function)
    except RuntimeError:  # numba's word for: neither here nor in the home folder
        compiled = numba.njit(nogil=True, error_model="numpy", **options)(function)
    return cast("F", compiled)
