"""Arrays from .npz archives; a header is checked before memory is allocated for its array."""

import io
import math
import re
import zipfile
import zlib

import numpy as np
from numpy.typing import NDArray

from streamplace.files.reading import refuse_bomb

SUFFIX = ".npy"
MAGIC = b"\x93NUMPY\x01\x00"  # format 1.0, which numpy uses for arrays of numbers
HEADER = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|=]?[biufc]\d{1,2})', 'fortran_order': (?P<by_column>True|False), "
    rb"'shape': \((?P<shape>(\d{1,19}(, \d{1,19})*,?)?)\), \}\s*"
)
"""The form of a header. Unlike in numpy, headers are never evaluated as Python."""
BROKEN = (  # the errors that zipfile, zlib and numpy raise for a broken archive
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
MAX_MESSAGE = 80  # characters


def read_arrays(data: bytes) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of an .npz by name. Nothing in it is executed.

    Raises
    ------
    ValueError
        If it is not an .npz of numbers, or is a bomb: its headers promise more bytes than it has,
        or its members unzip to far more than their size; see `bounded.refuse_bomb`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            refuse_bomb(sum(member.file_size for member in members), len(data))
            names = [member.filename.removesuffix(SUFFIX) for member in members]
            if len(set(names)) < len(names):
                raise ValueError("two arrays have the same name")
            return {
                name: _array(archive.read(member))
                for name, member in zip(names, members, strict=True)
            }
    except BROKEN as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = " ".join(reason.split()) or type(error).__name__
        raise ValueError(message[:MAX_MESSAGE]) from None


def _array(data: bytes) -> NDArray[np.generic]:
    header_start = len(MAGIC) + 2
    data_start = header_start + int.from_bytes(data[len(MAGIC) : header_start], "little")
    header = HEADER.fullmatch(data, header_start, data_start) if data.startswith(MAGIC) else None
    if header is None:
        raise ValueError("an array's header is not one that numpy writes for numbers")
    dtype = np.dtype(header["dtype"].decode())
    shape = tuple(int(length) for length in header["shape"].split(b",") if length)
    if math.prod(shape) * dtype.itemsize != len(data) - data_start:
        raise ValueError(f"an array of shape {shape} cannot have {len(data) - data_start:,} bytes")
    array = np.frombuffer(data, dtype, offset=data_start)
    return array.reshape(shape, order="F" if header["by_column"] == b"True" else "C")
