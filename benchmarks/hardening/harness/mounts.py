"""Small disks that only this process sees; they vanish with it or at the end of the block."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NEW_NAMESPACE = 0x20000  # CLONE_NEWNS, see unshare(2)
READ_ONLY, REMOUNT, RECURSIVE, PRIVATE = 1, 32, 16384, 1 << 18  # see mount(2)
DETACH = 2  # see umount(2)


@contextmanager
def own_mounts() -> Iterator[bool]:
    """Enter a private mount namespace for the block; yield whether it worked (root on Linux)."""
    if not sys.platform.startswith("linux"):
        yield False
        return
    here, before = Path.cwd(), os.open("/proc/self/ns/mnt", os.O_RDONLY)
    own = _unshare_mounts()
    try:
        if own:
            _call("mount", b"none", b"/", None, RECURSIVE | PRIVATE, None)
        yield own
    finally:
        if own:
            _call("setns", before, NEW_NAMESPACE)
            os.chdir(here)
        os.close(before)


def mount(folder: Path, size_bytes: int) -> None:
    """Mount an empty disk of `size_bytes`."""
    _call("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", 0, f"size={size_bytes}".encode())


def make_read_only(folder: Path) -> None:
    """Make a disk read-only, even for root."""
    _call("mount", b"tmpfs", os.fsencode(folder), None, REMOUNT | READ_ONLY, None)


def unmount(folder: Path) -> None:
    """Unmount a disk, which deletes its files."""
    _call("umount2", os.fsencode(folder), DETACH)


def _unshare_mounts() -> bool:
    """Enter a new mount namespace; return whether this process may."""
    try:
        _call("unshare", NEW_NAMESPACE)
    except PermissionError:
        return False
    return True


def _call(name: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
