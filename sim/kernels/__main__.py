"""Compilation of all kernels: ``python -m streamplace.sim.kernels [FOLDER]``.

It runs itself again with the settings of numba for the processor, which numba reads on import.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from streamplace.sim.kernels import bundle
from streamplace.sim.kernels.cache import key_of, read_saved
from streamplace.sim.kernels.numba_private import for_bundle
from streamplace.sim.kernels.signatures import kernel_named, read_signatures

SETTINGS = {
    "NUMBA_CPU_NAME": bundle.processor(),
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_DISABLE_INTEL_SVML": "1",  # a library that other machines lack
}
Version = tuple[str, tuple[Any, ...]]
"""The qualified name of a kernel, and the types of its arguments."""


def build(folder: Path) -> tuple[int, int]:
    """Write the file of all kernels to a folder.

    Kernels whose content is that of a file which is there are taken from it. Other processes see
    the former file or the whole new one. Returns how many versions of kernels were compiled, and
    how many there are.
    """
    path = folder / bundle.PATH.name
    versions = {
        key_of(kernel_named(name), kinds): (name, kinds)
        for name, each in read_signatures().items()
        for kinds in each
    }
    entries = bundle.entries(path, versions)
    parts: dict[str, list[Version]] = {}
    for key, (name, kinds) in versions.items():
        if key not in entries:
            parts.setdefault(_package_of(name), []).append((name, kinds))
    missing = sum(len(each) for each in parts.values())
    if missing:
        text = (
            f"streamplace: compiling {missing} of {len(versions)} kernels, which can take minutes"
        )
        print(text, flush=True)  # noqa: T201
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NUMBA_CACHE_DIR"] = cache
        with ProcessPoolExecutor(_cores(), get_context("fork")) as pool:
            list(pool.map(_compile, sorted(parts.values(), key=len, reverse=True)))
        for own in Path(cache).glob("*/*"):
            data = read_saved(own) if own.name in versions else None  # others are parts of kernels
            if data is not None:
                entries[own.name] = for_bundle(data)
    bundle.write_bundle(path, entries)
    return missing, len(versions)


def _package_of(name: str) -> str:
    """Return the package of a kernel, whose kernels have common functions."""
    return ".".join(name.split(".")[:3])


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _compile(versions: Sequence[Version]) -> None:
    for name, kinds in versions:
        kernel_named(name).compile(kinds)


if __name__ == "__main__":
    others = {name: text for name, text in os.environ.items() if not name.startswith("NUMBA_")}
    if os.environ != others | SETTINGS:
        command = [sys.executable, "-m", "streamplace.sim.kernels", *sys.argv[1:]]
        sys.exit(subprocess.run(command, env=others | SETTINGS, check=False).returncode)
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else bundle.PATH.parent
    compiled, total = build(chosen)
    print(f"{chosen}: {total} kernels, of which {compiled} were compiled now")  # noqa: T201
