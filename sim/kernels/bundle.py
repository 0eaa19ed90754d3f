"""The file of compiled kernels that comes with the package: a zip archive for one processor."""

import os
import platform
import sys
import tempfile
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile

import numba
from llvmlite.binding import get_host_cpu_features

_PROCESSORS = {"x86_64": "x86-64-v3", "aarch64": "generic", "arm64": "apple-m1"}  # LLVM's names
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")  # x86-64-v3, by LLVM's names
_SETTINGS = (  # of numba, that change the code
    *("BOUNDSCHECK", "CPU_FEATURES", "CPU_NAME", "DEBUGINFO", "DISABLE_INTEL_SVML", "ENABLE_AVX"),
    *("ENABLE_PROFILING", "EXTEND_VARIABLE_LIFETIMES", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE"),
)
_DAMAGED = (BadZipFile, EOFError, KeyError, NotImplementedError, OSError, RuntimeError, ValueError)


def processor() -> str:
    """Return the processor for which kernels of this kind of machine are compiled, as LLVM does."""
    return _PROCESSORS.get(platform.machine(), platform.machine())


NAME = f"{sys.implementation.cache_tag}-numba-{numba.__version__}-{sys.platform}-{processor()}"
"""The Python, the numba and the kind of machine for which kernels are compiled."""

PATH = Path(__file__).with_name("compiled") / f"{NAME}.zip"
"""Where the file for this process is, or would be."""


def settings() -> dict[str, str]:
    """Return the variables of the environment that change the code that numba compiles."""
    names = [f"NUMBA_{name}" for name in _SETTINGS]
    return {name: os.environ[name] for name in names if name in os.environ}


def reason_for_none() -> str:
    """Return why the file does not serve this process; empty if it does."""
    if changed := [*settings()]:
        return f"{changed[0]} is set"
    if not PATH.exists():
        return f"none came with the package for {NAME}"
    if processor() == "x86-64-v3":
        features = get_host_cpu_features()
        lacking = [name for name in _V3 if not features.get(name)]
        if lacking:
            return f"those of the package are for x86-64-v3, and this processor has no {lacking[0]}"
    try:
        _opened(os.getpid())
    except _DAMAGED as error:
        return f"{PATH}: {error}"
    return ""


def stored(key: str) -> bytes | None:
    """Return what the file has under a key; None if there is nothing, or it is damaged."""
    process = os.getpid()  # forked processes would share the position in an open file
    try:
        return _opened(process).read(key) if _serves(process) else None
    except _DAMAGED:
        return None


def entries(path: Path, keys: Container[str]) -> dict[str, bytes]:
    """Return what a file has under some keys, whether or not it serves this process."""
    try:
        with ZipFile(path) as archive:
            return {key: archive.read(key) for key in archive.namelist() if key in keys}
    except _DAMAGED:
        return {}


def write_bundle(path: Path, found: Mapping[str, bytes]) -> None:
    """Write a file; other processes see the former one or the whole new one."""
    path.parent.mkdir(exist_ok=True)
    with replacing(path) as file, ZipFile(file, "w") as archive:
        for key, data in sorted(found.items()):
            archive.writestr(key, data)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of another one once all of it is written."""
    number, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            yield file
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@cache
def _serves(_process: int) -> bool:
    return not reason_for_none()


@cache
def _opened(_process: int) -> ZipFile:
    return ZipFile(PATH)
