"""Compilation of the package's kernels with numba."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile with numba, without the GIL and with C arithmetic (x / 0 is inf).

    The compiled code is cached on disk if a folder for it is writable.
    """
    return _compiled(function, {})


def bare(function: F) -> F:
    """Compile a function that creates no arrays, without reference counting and inlined.

    Otherwise numba counts references whenever arrays are passed, which takes nine tenths of the
    time of kernels that pass many arrays to small functions.
    """
    return _compiled(function, {"_nrt": False, "forceinline": True})


def part(function: F) -> F:
    """Compile a function that creates no arrays as `bare` does, but without inlining it.

    Products and sums may be contracted to one instruction, which rounds once. For large functions
    with many callers, which inlining would compile again for each.
    """
    return _compiled(function, {"_nrt": False, "fastmath": {"contract"}})


def _compiled(function: F, options: dict[str, Any]) -> F:
    try:
        compiled = numba.njit(nogil=True, error_model="numpy", cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the home folder is writable
        compiled = numba.njit(nogil=True, error_model="numpy", **options)(function)
    return cast("F", compiled)
