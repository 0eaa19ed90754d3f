"""Dropping root's permission to open files regardless of their mode.

The user id does not change, so that the process can still read its own libraries.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

OVERRIDES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3, see capget(2)


@contextmanager
def override_dropped() -> Iterator[None]:
    """Drop the permission for the block."""
    if os.geteuid():
        yield
        return
    before = _effective()
    _set_effective(before & ~_mask())
    try:
        yield
    finally:
        _set_effective(before)


def _mask() -> int:
    return sum(1 << one for one in OVERRIDES)


def _read() -> tuple[ctypes.Array[ctypes.c_uint32], ctypes.Array[ctypes.c_uint32]]:
    """Return the header and the effective, permitted and inheritable sets of capget(2)."""
    header, sets = (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * 6)()
    _check(ctypes.CDLL(None, use_errno=True).capget(header, sets))
    return header, sets


def _effective() -> int:
    return _read()[1][0]


def _set_effective(first: int) -> None:
    header, sets = _read()
    sets[0] = first
    _check(ctypes.CDLL(None, use_errno=True).capset(header, sets))


def _check(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
