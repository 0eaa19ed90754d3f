"""Mutations of .npz files, most of which are valid archives with wrong content."""

import io
import json
import random
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.hardening.mutation import json_values
from benchmarks.hardening.mutation.text_files import BYTE_FAULTS, Fault
from streamplace.files.npz import read_arrays

Arrays = dict[str, Any]
NUMBERS = (-1.0, np.nan, np.inf, -np.inf, 1e308, 5e-324, 1e300, -0.0, 2.0**31, 2.0**63)
SHAPES = ("(10,)", "(1000000000000,)", "(-1,)", "(3, 1000000000)", "(9223372036854775807, 9)", "()")
TYPES = ("<f8", "|O", "<f2", ">f8", "<i8", "|V0", "|S1000000000", "<U9", "<M8[s]", "[('a', '<f8')]")


class UnpickledFile:
    """An object that writes a file if it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return open, ("executed", "w")


def _npz(change: Callable[[Arrays, random.Random], None], *, packed: bool = False) -> Fault:
    """Return a mutation that changes the arrays of an archive."""

    def fault(data: bytes, rng: random.Random) -> bytes:
        try:
            # numpy would allocate the size that an earlier mutation claims; `read_arrays` does not
            arrays: Arrays = {name: array.copy() for name, array in read_arrays(data).items()}
            change(arrays, rng)
            file = io.BytesIO()
            (np.savez_compressed if packed else np.savez)(file, **arrays)
        except Exception:
            return data
        return file.getvalue()

    return fault


def _numbers(arrays: Arrays, rng: random.Random) -> None:
    """Replace one number of an array."""
    column = arrays[rng.choice(sorted(arrays))]
    if column.size:
        with np.errstate(all="ignore"):
            where = rng.randrange(column.size)
            if column.dtype.kind == "f":
                column.flat[where] = rng.choice(NUMBERS)
            else:
                limits = np.iinfo(column.dtype)
                column.flat[where] = rng.choice((0, 1, 2, 3, limits.min, limits.max))


def _every_number(arrays: Arrays, rng: random.Random) -> None:
    """Replace all numbers of an array by one number."""
    column = arrays[rng.choice([name for name in sorted(arrays) if name != "header"])]
    column.fill(rng.choice(NUMBERS if column.dtype.kind == "f" else (0, 1, 2, 127)))


def _shape(arrays: Arrays, rng: random.Random) -> None:
    """Change the shape or the type of an array."""
    name = rng.choice(sorted(arrays))
    column = arrays[name]
    changes = (
        lambda: column[:-1],
        lambda: column[None],
        lambda: np.concatenate([column, column]),
        lambda: column.T,
        lambda: column[:0],
        lambda: column.astype(rng.choice(("f4", "i8", "U5", "?", "M8[s]", "c16", ">f8", "u1"))),
        lambda: np.asfortranarray(column),
        lambda: np.array([UnpickledFile()], dtype=object),
    )
    arrays[name] = rng.choice(changes)()


def _names(arrays: Arrays, rng: random.Random) -> None:
    """Remove, add, swap or rename arrays."""
    one, other = rng.choice(sorted(arrays)), rng.choice(sorted(arrays))
    rng.choice(
        (
            lambda: arrays.pop(one),
            lambda: arrays.update({"more": arrays[one]}),
            lambda: arrays.update({one: arrays[other], other: arrays[one]}),
            lambda: arrays.update({"../../escaped": arrays[one]}),
        )
    )()


def _header(arrays: Arrays, rng: random.Random) -> None:
    """Change the array that contains a header in JSON."""
    value = json.loads(arrays["header"].tobytes().decode())
    value.update({"requires": {"0": ["gpu"]}, "instance_of": {"1": "a"}})
    text = json_values.json_text(json_values.mutated(value, rng))
    arrays["header"] = np.frombuffer(text.encode(), np.uint8)


def _false_header(data: bytes, rng: random.Random) -> bytes:
    """Replace an array by a numpy header that has a false shape or type, or contains code."""
    text = f"{{'descr': {_quoted(rng.choice(TYPES))}, 'fortran_order': False, 'shape': "
    text += f"{rng.choice(SHAPES)}, }}"
    text = rng.choice((text, text, text, "(" * 9000, "{" * 9000, "[1if 1else 2]", "{'a': 1}"))
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        replaced = rng.choice(old.namelist())
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name), head if name == replaced else old.read(name))
    return file.getvalue()


def _quoted(descr: str) -> str:
    return descr if descr.startswith("[") else repr(descr)


def _bomb(data: bytes, rng: random.Random) -> bytes:
    """Add a member that decompresses to a large size, or that repeats a name."""
    file = io.BytesIO(data)
    kind = rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(file, "a") as archive:
        member = zipfile.ZipInfo("names.npy")  # has a fixed date, so that the bytes never vary
        archive.writestr(member, bytes(rng.choice((0, 100, 2**24))), kind)
    return file.getvalue()


def _if_readable(fault: Fault) -> Fault:
    """Return a mutation that does nothing if an earlier one broke the archive."""

    def checked(data: bytes, rng: random.Random) -> bytes:
        try:
            return fault(data, rng)
        except Exception:
            return data

    return checked


NPZ_FAULTS: tuple[Fault, ...] = (
    *BYTE_FAULTS,
    *(_npz(_numbers), _npz(_numbers), _npz(_numbers, packed=True), _npz(_every_number)),
    *(
        _npz(_shape),
        _npz(_names),
        _npz(_header),
        _npz(_header),
        _if_readable(_false_header),
        _if_readable(_bomb),
    ),
)
"""Mutations of .npz files."""
