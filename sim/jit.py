"""Compilation of the package's kernels with numba.

Most of the time of the first use is spent here, so nothing is compiled twice. Functions for kernels
have no wrapper, the code with which Python calls them, which often takes longer to compile than the
function. They have one version for integers of every size. Both need parts of numba that its
documentation does not promise; with a numba without them, these functions have a wrapper and a
version for each size. Numba sees them once a kernel that calls them has to be compiled.
"""

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, NoReturn, TypeVar, cast

import numba

from streamplace.sim.kernels.cache import cached
from streamplace.sim.kernels.numba_private import (
    InlinedCompiler,
    TypedAsCompiled,
    has_hooks,
    hide,
    widen,
)

F = TypeVar("F", bound=Callable[..., object])

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
_BARE: dict[str, Any] = {"_nrt": False, "forceinline": True}
_ADDED: dict[str, Any] = {"boundscheck": None, "no_cpython_wrapper": True, "nopython": True}
_numba = cast("Any", numba)  # its settings and types of numbers have no annotations


def kernel(function: F) -> F:
    """Compile with numba, without the GIL and with C arithmetic (x / 0 is inf).

    What comes compiled with the package, or was compiled before, is loaded; see
    `streamplace.sim.kernels`.
    """
    return cast("F", _called(_compiled(function, {})))


def inner(function: F) -> F:
    """Compile a function that only kernels call; a call from Python raises TypeError."""
    return cast("F", _of_kernels(function, {}))


def bare(function: F) -> F:
    """Compile a function that creates no arrays and that only kernels call.

    It is inlined, and without reference counting: otherwise numba counts references whenever arrays
    are passed, which takes nine tenths of the time of kernels that pass many arrays to small
    functions. A call from Python raises TypeError.
    """
    return cast("F", _of_kernels(function, _BARE))


def part(function: F) -> F:
    """Compile a function that creates no arrays and that only kernels call, without inlining it.

    Products and sums may be contracted to one instruction, which rounds once. For large functions
    with many callers, which inlining would compile again for each. A call from Python raises
    TypeError.
    """
    return cast("F", _of_kernels(function, {"_nrt": False, "fastmath": {"contract"}}))


def bare_entry(function: F) -> F:
    """Compile a function that creates no arrays, as with `bare`, which Python calls, too."""
    compiled = _called(_compiled(function, _BARE))
    if has_hooks(compiled):
        widen(compiled)
    return cast("F", compiled)


class _OfKernels(TypedAsCompiled):
    """A function that only kernels call, in the form in which modules have it."""

    def __init__(self, function: Callable[..., object], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func: Any = function
        self._options = options
        self.targetoptions = _OPTIONS | options | _ADDED  # as numba states them: content of kernels

    def __call__(self, *_arguments: object, **_named: object) -> NoReturn:
        name = f"{self.py_func.__module__}.{self.py_func.__name__}"
        raise TypeError(f"{name}: only kernels can call this function; compile it with bare_entry")

    @cached_property
    def compiled(self) -> Any:
        """The form for kernels, without a wrapper: a call from Python ends the interpreter."""
        inlined = {"no_cpython_wrapper": True, "pipeline_class": InlinedCompiler}
        made = _compiled(self.py_func, self._options | inlined)
        if not has_hooks(made):
            return _compiled(self.py_func, self._options)
        hide(made)
        widen(made)
        return made


def _of_kernels(function: Callable[..., object], options: dict[str, Any]) -> Any:
    return function if _numba.config.DISABLE_JIT else _OfKernels(function, options)


def _compiled(function: Callable[..., object], options: dict[str, Any]) -> Any:
    return numba.njit(**_OPTIONS, **options)(function)


def _called(compiled: Any) -> Any:
    """Let a function that Python calls be looked up before it is compiled."""
    return cached(compiled) if has_hooks(compiled) else compiled
