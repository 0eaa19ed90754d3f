"""Arrays out of .npz archives: what a header claims is checked before there is memory for it."""

import io
import math
import tokenize
import warnings
import zipfile
import zlib
from typing import IO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from streamplace.raw import refuse_bomb

SUFFIX = ".npy"
BROKEN = (  # what numpy, zipfile and zlib make of a broken archive
    ValueError,
    OSError,
    EOFError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    NotImplementedError,
    RuntimeError,  # RecursionError is one
    MemoryError,  # of Python's parser, of brackets in brackets
    SyntaxError,
    tokenize.TokenError,
    Warning,
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
        with warnings.catch_warnings(), zipfile.ZipFile(io.BytesIO(data)) as archive:
            warnings.simplefilter("error")  # Python's parser warns of odd headers
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
        said = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(said[:LONGEST_SAID]) from None


def _array(data: bytes) -> NDArray[np.generic]:
    file = io.BytesIO(data)
    version = npy.read_magic(file)
    shape, by_column, dtype = _header(file, version)
    if dtype.hasobject:
        raise ValueError("holds objects, which are not read")
    begin = file.tell()
    if (
        any(length < 0 for length in shape)
        or math.prod(shape) * dtype.itemsize != len(data) - begin
    ):
        raise ValueError(f"an array of shape {shape} is not of {len(data) - begin:,} bytes")
    array = np.frombuffer(data, dtype, offset=begin)
    return array.reshape(shape, order="F" if by_column else "C")


def _header(
    file: IO[bytes], version: tuple[int, int]
) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    if version == (1, 0):
        return npy.read_array_header_1_0(file)
    if version == (2, 0):
        return npy.read_array_header_2_0(file)
    raise ValueError(f"version {version} of numpy's format")
