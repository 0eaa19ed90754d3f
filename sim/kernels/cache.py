"""Compiled kernels for calls from Python, from the file of the package or a folder."""

import hashlib
import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from streamplace.sim.kernels import before_compiling, bundle
from streamplace.sim.kernels.content import content_of, fields_of
from streamplace.sim.kernels.numba_private import (
    COMPILER,
    look_up,
    rebuilt,
    state_of,
    user_cache_dir,
)
from streamplace.sim.kernels.signatures import write_signatures

RECORDED = "STREAMPLACE_RECORD_KERNELS"
"""The variable that names a folder to which signatures are written when Python uses them first."""


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
        found = rebuilt(context, data)
        if found is None:
            for each in before_compiling:
                each()
        return found

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save a compiled kernel if a folder is writable; a full disk loses nothing but time."""
        folder = _folder(compiled.codegen)
        if folder is None:
            return
        data = state_of(compiled)
        with suppress(OSError), bundle.replacing(folder / key_of(self._kernel, signature)) as file:
            file.write(hashlib.sha256(data).digest() + data)


def cached(kernel: Any) -> Any:
    """Let a kernel be looked up when Python calls it, and return it."""

    def find_stored(kinds: tuple[Any, ...]) -> bytes | None:
        key = key_of(kernel, kinds)
        if RECORDED in os.environ:
            name = f"{kernel.__module__}.{kernel.__name__}"
            write_signatures({name: [kinds]}, Path(os.environ[RECORDED]) / f"{key}.json")
        return bundle.stored(key)

    look_up(kernel, KernelCache(kernel), find_stored)
    return kernel


def key_of(kernel: Any, signature: Any) -> str:
    """Return the key of a kernel compiled for some types of arguments."""
    text = f"{COMPILER} {content_of(kernel)} {signature} {fields_of(signature)}"
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def read_saved(path: Path) -> bytes | None:
    """Return what a folder has of a kernel; None if there is nothing, or it is damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None


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
