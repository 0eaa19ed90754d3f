"""Parts of numba that its documentation does not promise, all in this module.

A new version of numba may need changes here, and nowhere else.

Functions that only kernels call become part of these: they are optimised and emitted there, and
only there. Numba optimises and emits each function by itself, too, which takes a fifth of the time
of all compiling. A function without a wrapper for Python needs neither.
"""

# ruff: noqa: SLF001 - private parts are what this module is about

import os
import pickle
from collections.abc import Callable
from itertools import count
from typing import Any, cast

from llvmlite import binding
from numba import types as _types
from numba.core import cgutils, serialize
from numba.core.bytecode import FunctionIdentity
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import FunctionPass, LoweringPass, register_pass
from numba.core.runtime.nrt import rtsys
from numba.core.typed_passes import NativeLowering, NopythonTypeInference
from numba.misc.appdirs import user_cache_dir
from numba.np.numpy_support import as_dtype

from streamplace.sim import work_clock

COMPILER = "0f702c6609627789276121b43d93e46547954beaf7d10dae7e161d319a49f9aa"
"""Part of the keys of compiled kernels: another text compiles all of them anew, as is needed after
a change of the passes below."""
HOOKS = ("_cache", "get_call_template", "_compile_for_args", "add_overload", "overloads")
__all__ = [
    "COMPILER",
    "InlinedCompiler",
    "TypedAsCompiled",
    "as_dtype",
    "cgutils",
    "for_bundle",
    "has_hooks",
    "hide",
    "look_up",
    "rebuilt",
    "state_of",
    "user_cache_dir",
    "widen",
]
_DAMAGED = (AttributeError, EOFError, ImportError, IndexError, OSError, pickle.UnpicklingError)
types = cast("Any", _types)  # its attributes have no annotations


def _number_functions_apart() -> None:
    """Number the functions that this process compiles from a random number on.

    Their numbers are parts of their names in compiled code. Numba begins at 1 in every process, so
    that functions compiled by two processes can have the same name, as its own functions for `sort`
    and `argsort` do. A process that loads both would call the one that it has loaded first.
    """
    FunctionIdentity._unique_ids = count(int.from_bytes(os.urandom(7)))


_number_functions_apart()
os.register_at_fork(after_in_child=_number_functions_apart)


def has_hooks(compiled: Any) -> bool:
    """Return whether a compiled function has the parts of numba that this module changes.

    It has none of them if compilation is switched off: it is then the Python function.
    """
    return all(hasattr(compiled, name) for name in HOOKS)


def widen(compiled: Any) -> None:
    """Let kernels call the version for integers of 64 bits, whatever integers they have."""
    original = compiled.get_call_template

    def template(args: Any, kws: Any) -> Any:
        return original([_widened(a) for a in args], {k: _widened(a) for k, a in kws.items()})

    compiled.get_call_template = template  # by which numba types a call in a kernel


def _widened(kind: Any) -> Any:
    """Return the type of an argument, with 64 bits if it is a signed integer."""
    kind = types.unliteral(kind)
    is_signed = isinstance(kind, types.Integer) and kind.signed
    return types.int64 if is_signed else kind


def hide(compiled: Any) -> None:
    """Let Python find no version of a function, though numba makes one for a kernel."""

    def keep(result: Any) -> None:
        compiled.overloads[tuple(result.signature.args)] = result

    compiled.add_overload = keep


class TypedAsCompiled:
    """A function that numba types, where a kernel calls it, as what `compiled` is."""

    compiled: Any

    @property
    def _numba_type_(self) -> Any:
        return self.compiled._numba_type_


def look_up(kernel: Any, cache: Any, found: Callable[[tuple[Any, ...]], bytes | None]) -> None:
    """Let a kernel be looked up where Python calls it with arguments of new types.

    The clock that times placers stands still while kernels are loaded and compiled.

    Parameters
    ----------
    cache
        What takes the place of numba's cache, where `found` has nothing.
    found
        Returns what was saved of the version for some types; None: nothing.
    """
    kernel._cache = cache
    kept: list[Any] = []
    compile_it = kernel._compile_for_args  # what a call with new types reaches

    def find(*arguments: Any, **named: Any) -> Any:
        with work_clock.loading(), global_compiler_lock:  # threads may call it at once
            kinds = tuple(kernel.typeof_pyval(each) for each in arguments)
            result = rebuilt(kernel.targetctx, found(kinds))
            if result is None:
                return compile_it(*arguments, **named)
            kernel.add_overload(result)
            # It cannot become part of kernels that are compiled later; numba keeps no reference.
            kept.append(kernel.overloads.pop(kinds))
            return result.entry_point

    kernel._compile_for_args = find


def state_of(compiled: Any) -> bytes:
    """Return what numba saves of a compiled kernel, without environments that hold nothing.

    Each environment names a module to import, and loading all of numba's takes 0.2 s.
    """
    *state, environments = compiled._reduce()
    kept = tuple(each for each in environments if each.consts)
    data: bytes = serialize.dumps((*state, kept))
    return data


def for_bundle(data: bytes) -> bytes:
    """Return saved code that Python can call, but that cannot become part of other kernels."""
    (name, kind, (code, _)), description, *state, _, init, environments = pickle.loads(data)
    symbol = description.llvm_cpython_wrapper_name
    module = binding.parse_assembly(f'define void @"{symbol}"() {{\n ret void\n}}')
    library = name, kind, (code, module.as_bitcode())  # by which numba knows the symbol
    short: bytes = serialize.dumps((library, description, *state, "", init, environments))
    return short


def rebuilt(context: Any, data: bytes | None) -> Any | None:
    """Return the compiled kernel from what was saved of it; None if it is damaged."""
    if data is None:
        return None
    rtsys.initialize(context)  # compiled kernels call what this defines
    try:
        return CompileResult._rebuild(context, *pickle.loads(data))
    except _DAMAGED:
        return None


class InlinedCompiler(Compiler):
    """Numba's compiler for functions that only kernels call."""

    def define_pipelines(self) -> Any:
        """Return numba's passes, with one before and one after the generation of code."""
        pipelines = super().define_pipelines()
        for each in pipelines:
            each._finalized = False  # a pass is added to a known list
            each.add_pass_after(_WithLibrary, NopythonTypeInference)
            each.add_pass_after(_Registered, NativeLowering)
            each.finalize()
        return pipelines


class _Library(JITCodeLibrary):
    """Code that other libraries link, with functions optimised one by one."""

    def finalize(self) -> None:
        """Link the functions that this one calls."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            code = library._get_module_for_linking()
            self._final_module.link_in(code, preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=True)
class _WithLibrary(FunctionPass):
    """Chooses the library of a function's code."""

    _name = "with_library_of_inlined_code"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Set the library, and that nothing is emitted."""
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags = state.flags.copy()
        state.flags.no_compile = True
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _Registered(LoweringPass):
    """Makes a function known to those that call it, as numba does of what it has emitted."""

    _name = "registered_inlined_code"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Register the function under an object that stands for its code."""
        code = object()
        state.targetctx.insert_user_function(code, state.cr.fndesc, [state.library])
        state["cr"] = state.cr._replace(cfunc=code)
        return False
