"""Arrays from .npz archives; what a header claims is checked before memory is taken for it."""

import io
import math
import re
import zipfile
import zlib

import numpy as np
from numpy.typing import NDArray

from streamplace.files.bounded import refuse_bomb

SUFFIX = ".npy"
MAGIC = b"\x93NUMPY\x01\x00"  # of format 1.0, in which numpy writes numbers
HEADER = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|=]?[biufc]\d{1,2})', 'fortran_order': (?P<by_column>True|False), "
    rb"'shape': \((?P<shape>(\d{1,19}(, \d{1,19})*,?)?)\), \}\s*"
)
"""Matched, not evaluated: what Python makes of a header can be anything."""
BROKEN = (  # what numpy, zipfile and zlib make of a broken archive
    ValueError,
    OSError,
    EOFError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)
LONGEST_SAID = 80


def read_arrays(data: bytes) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of an .npz by name. Nothing in it is executed.

    Raises
    ------
    ValueError
        If it is none, or a bomb: arrays of more bytes than are there, or members that unzip to much
        more than they are; see `raw.refuse_bomb`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            refuse_bomb(sum(member.file_size for member in members), len(data))
            names = [member.filename.removesuffix(SUFFIX) for member in members]
            if len(set(names)) < len(names):
                raise ValueError("two arrays have one name")
            return {
                name: _array(archive.read(member))
                for name, member in zip(names, members, strict=True)
            }
    except BROKEN as error:
        message = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(message[:LONGEST_SAID]) from None


def _array(data: bytes) -> NDArray[np.generic]:
    start = len(MAGIC) + 2
    begin = start + int.from_bytes(data[len(MAGIC) : start], "little")
    header = HEADER.fullmatch(data, start, begin) if data.startswith(MAGIC) else None
    if header is None:
        raise ValueError("an array's header is not what numpy writes for numbers")
    dtype = np.dtype(header["dtype"].decode())
    shape = tuple(int(length) for length in header["shape"].split(b",") if length)
    if math.prod(shape) * dtype.itemsize != len(data) - begin:
        raise ValueError(f"an array of shape {shape} is not of {len(data) - begin:,} bytes")
    array = np.frombuffer(data, dtype, offset=begin)
    return array.reshape(shape, order="F" if header["by_column"] == b"True" else "C")
