"""Functions that become part of kernels: they are optimised and emitted there, and only there.

Numba optimises and emits each function by itself, too, which takes a fifth of the time of all
compiling. A function without a wrapper for Python needs neither.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import FunctionPass, LoweringPass, register_pass
from numba.core.typed_passes import NativeLowering, NopythonTypeInference


class InlinedCompiler(Compiler):
    """Numba's compiler for functions that only kernels call."""

    def define_pipelines(self) -> Any:
        """Return numba's passes, with one before and one after the generation of code."""
        pipelines = super().define_pipelines()
        for each in pipelines:
            each._finalized = False  # noqa: SLF001 - a pass is added to a known list
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
            self._reload_init.update(library._reload_init)  # noqa: SLF001 - as numba does
            code = library._get_module_for_linking()  # noqa: SLF001
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
