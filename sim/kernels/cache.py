"""Compiled kernels for calls from Python, from the file of the package or a folder."""

import hashlib
import os
import pickle
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite import binding
from numba.core import serialize
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime.nrt import rtsys
from numba.misc.appdirs import user_cache_dir

from streamplace.sim import work_clock
from streamplace.sim.kernels import before_compiling, bundle, inlined
from streamplace.sim.kernels.content import content_of, fields_of
from streamplace.sim.kernels.signatures import write_signatures

RECORDED = "STREAMPLACE_RECORD_KERNELS"
"""The variable that names a folder to which signatures are written when Python uses them first."""

_COMPILER = hashlib.sha256(Path(inlined.__file__).read_bytes()).hexdigest()
_DAMAGED = (AttributeError, EOFError, ImportError, IndexError, OSError, pickle.UnpicklingError)


class KernelCache:
    """The folder in which one kernel is looked up and saved, in place of numba's cache.

    Numba finds compiled code by the name of a function and the content of its file, so it does not
    see that a function of another file has changed. Here kernels are found by their content.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    @property
    def cache_path(self) -> str | None:
        """The folder of this processor; None if no folder is writable."""
        folder = _folder(self._kernel.targetctx.codegen())
        return None if folder is None else str(folder)

    def load_overload(self, signature: Any, context: Any) -> Any | None:
        """Return the compiled kernel for a signature, or None."""
        folder = _folder(context.codegen())
        data = read_saved(folder / key_of(self._kernel, signature)) if folder else None
        found = _rebuilt(context, data)
        if found is None:
            for each in before_compiling:
                each()
        return found

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save a compiled kernel if a folder is writable; a full disk loses nothing but time."""
        folder = _folder(compiled.codegen)
        if folder is None:
            return
        data = serialize.dumps(_state_of(compiled))
        with suppress(OSError), bundle.replacing(folder / key_of(self._kernel, signature)) as file:
            file.write(hashlib.sha256(data).digest() + data)


def cached(kernel: Any) -> Any:
    """Let a kernel be looked up when Python calls it, and return it.

    The clock that times placers stands still while kernels are loaded and compiled.
    """
    kernel._cache = KernelCache(kernel)  # noqa: SLF001 - numba offers its own cache only
    kept: list[Any] = []
    compile_it = kernel._compile_for_args  # noqa: SLF001 - what a call with new types reaches

    def find(*arguments: Any, **named: Any) -> Any:
        with work_clock.loading(), global_compiler_lock:  # threads may call it at once
            kinds = tuple(kernel.typeof_pyval(each) for each in arguments)
            key = key_of(kernel, kinds)
            if RECORDED in os.environ:
                name = f"{kernel.__module__}.{kernel.__name__}"
                write_signatures({name: [kinds]}, Path(os.environ[RECORDED]) / f"{key}.json")
            found = _rebuilt(kernel.targetctx, bundle.stored(key))
            if found is None:
                return compile_it(*arguments, **named)
            kernel.add_overload(found)
            # It cannot become part of kernels that are compiled later; numba keeps no reference.
            kept.append(kernel.overloads.pop(kinds))
            return found.entry_point

    kernel._compile_for_args = find  # noqa: SLF001
    return kernel


def key_of(kernel: Any, signature: Any) -> str:
    """Return the key of a kernel compiled for some types of arguments."""
    text = f"{_COMPILER} {content_of(kernel)} {signature} {fields_of(signature)}"
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def read_saved(path: Path) -> bytes | None:
    """Return what a folder has of a kernel; None if there is nothing, or it is damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None


def for_bundle(data: bytes) -> bytes:
    """Return saved code that Python can call, but that cannot become part of other kernels."""
    (name, kind, (code, _)), description, *state, _, init, environments = pickle.loads(data)
    symbol = description.llvm_cpython_wrapper_name
    module = binding.parse_assembly(f'define void @"{symbol}"() {{\n ret void\n}}')
    library = name, kind, (code, module.as_bitcode())  # by which numba knows the symbol
    short: bytes = serialize.dumps((library, description, *state, "", init, environments))
    return short


def _rebuilt(context: Any, data: bytes | None) -> Any | None:
    """Return the compiled kernel from what was saved of it; None if it is damaged."""
    if data is None:
        return None
    rtsys.initialize(context)  # compiled kernels call what this defines
    try:
        return CompileResult._rebuild(context, *pickle.loads(data))  # noqa: SLF001
    except _DAMAGED:
        return None


def _state_of(compiled: Any) -> tuple[Any, ...]:
    """Return what numba saves of a compiled kernel, without environments that hold nothing.

    Each environment names a module to import, and loading all of numba's takes 0.2 s.
    """
    *state, environments = compiled._reduce()  # noqa: SLF001 - numba has no public form
    return *state, tuple(each for each in environments if each.consts)


@cache
def _folder(codegen: Any) -> Path | None:
    """Return the first writable folder for kernels of this processor, or None."""
    made_for = f"{codegen.magic_tuple()!r} {bundle.settings()}"
    kind = hashlib.sha256(made_for.encode()).hexdigest()[:12]
    name = f"{bundle.NAME}-{kind}"
    named = os.environ.get("NUMBA_CACHE_DIR")
    places = [named] if named else [bundle.PATH.parent, user_cache_dir("streamplace")]
    for place in places:
        folder = Path(place) / name
        if not named and not folder.is_absolute():  # "~", where the user has no home
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    return None
