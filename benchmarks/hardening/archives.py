"""Faults of .npz and .safetensors files that are whole as archives: what they hold is wrong."""

import io
import json
import random
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.hardening import values
from benchmarks.hardening.spoiling import BYTES, Fault
from streamplace.files.archives import read_arrays

Arrays = dict[str, Any]
NUMBERS = (-1.0, np.nan, np.inf, -np.inf, 1e308, 5e-324, 1e300, -0.0, 2.0**31, 2.0**63)
SHAPES = ("(10,)", "(1000000000000,)", "(-1,)", "(3, 1000000000)", "(9223372036854775807, 9)", "()")
TYPES = ("<f8", "|O", "<f2", ">f8", "<i8", "|V0", "|S1000000000", "<U9", "<M8[s]", "[('a', '<f8')]")


class Touches:
    """What would leave a file behind if somebody unpickled it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return open, ("executed", "w")


def _npz(change: Callable[[Arrays, random.Random], None], *, packed: bool = False) -> Fault:
    """Return a fault of the arrays in an archive."""

    def fault(data: bytes, chance: random.Random) -> bytes:
        try:
            # not by numpy, which asks for the memory that an earlier fault claims
            arrays: Arrays = {name: array.copy() for name, array in read_arrays(data).items()}
            change(arrays, chance)
            made = io.BytesIO()
            (np.savez_compressed if packed else np.savez)(made, **arrays)
        except Exception:
            return data
        return made.getvalue()

    return fault


def _numbers(arrays: Arrays, chance: random.Random) -> None:
    column = arrays[chance.choice(sorted(arrays))]
    if column.size:
        with np.errstate(all="ignore"):
            where = chance.randrange(column.size)
            if column.dtype.kind == "f":
                column.flat[where] = chance.choice(NUMBERS)
            else:
                told = np.iinfo(column.dtype)
                column.flat[where] = chance.choice((0, 1, 2, 3, told.min, told.max))


def _every_number(arrays: Arrays, chance: random.Random) -> None:
    column = arrays[chance.choice([name for name in sorted(arrays) if name != "header"])]
    column.fill(chance.choice(NUMBERS if column.dtype.kind == "f" else (0, 1, 2, 127)))


def _shape(arrays: Arrays, chance: random.Random) -> None:
    name = chance.choice(sorted(arrays))
    column = arrays[name]
    turns = (
        lambda: column[:-1],
        lambda: column[None],
        lambda: np.concatenate([column, column]),
        lambda: column.T,
        lambda: column[:0],
        lambda: column.astype(chance.choice(("f4", "i8", "U5", "?", "M8[s]", "c16", ">f8", "u1"))),
        lambda: np.asfortranarray(column),
        lambda: np.array([Touches()], dtype=object),
    )
    arrays[name] = chance.choice(turns)()


def _names(arrays: Arrays, chance: random.Random) -> None:
    one, other = chance.choice(sorted(arrays)), chance.choice(sorted(arrays))
    chance.choice(
        (
            lambda: arrays.pop(one),
            lambda: arrays.update({"more": arrays[one]}),
            lambda: arrays.update({one: arrays[other], other: arrays[one]}),
            lambda: arrays.update({"../../escaped": arrays[one]}),
        )
    )()


def _header(arrays: Arrays, chance: random.Random) -> None:
    value = json.loads(arrays["header"].tobytes().decode())
    value.update({"requires": {"0": ["gpu"]}, "instance_of": {"1": "a"}})
    text = values.text_of(values.spoil(value, chance))
    arrays["header"] = np.frombuffer(text.encode(), np.uint8)


def _claim(data: bytes, chance: random.Random) -> bytes:
    """Let a header of numpy's claim another shape or type than there is."""
    text = f"{{'descr': {_quoted(chance.choice(TYPES))}, 'fortran_order': False, 'shape': "
    text += f"{chance.choice(SHAPES)}, }}"
    text = chance.choice((text, text, text, "(" * 9000, "{" * 9000, "[1if 1else 2]", "{'a': 1}"))
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        spoilt = chance.choice(old.namelist())
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name), head if name == spoilt else old.read(name))
    return made.getvalue()


def _quoted(descr: str) -> str:
    return descr if descr.startswith("[") else repr(descr)


def _bomb(data: bytes, chance: random.Random) -> bytes:
    """Add a member that bursts, or the same one twice."""
    made = io.BytesIO(data)
    kind = chance.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(made, "a") as archive:
        member = zipfile.ZipInfo("names.npy")  # of no time: the same bytes every time
        archive.writestr(member, bytes(chance.choice((0, 100, 2**24))), kind)
    return made.getvalue()


def _whole(fault: Fault) -> Fault:
    """Return a fault that leaves alone what an earlier one has broken."""

    def made(data: bytes, chance: random.Random) -> bytes:
        try:
            return fault(data, chance)
        except Exception:
            return data

    return made


NPZ: tuple[Fault, ...] = (
    *BYTES,
    *(_npz(_numbers), _npz(_numbers), _npz(_numbers, packed=True), _npz(_every_number)),
    *(_npz(_shape), _npz(_names), _npz(_header), _npz(_header), _whole(_claim), _whole(_bomb)),
)
"""Faults of .npz files."""


def _signed(change: Callable[[Arrays, dict[str, str], random.Random], None]) -> Fault:
    """Return a fault of what a file of weights holds; its hash is that of what it then holds."""

    def fault(data: bytes, chance: random.Random) -> bytes:
        from streamplace.policy.weights import packed, unpacked  # noqa: PLC0415 - torch is heavy

        try:
            tensors, words = unpacked(data, "file")
            change(tensors, words, chance)
            return packed(tensors, words)
        except Exception:
            return data

    return fault


def _words(tensors: Arrays, words: dict[str, str], chance: random.Random) -> None:
    key = chance.choice(sorted(words))
    try:
        words[key] = values.text_of(values.spoil(json.loads(words[key]), chance))
    except (ValueError, RecursionError):
        words[key] = chance.choice(("", "1", "2", "x", "null", "encoder-decoder"))
    if chance.random() < 0.1:
        del words[key]


def _tensors(tensors: Arrays, words: dict[str, str], chance: random.Random) -> None:
    name = chance.choice(sorted(tensors))
    one = tensors[name]
    import torch  # noqa: PLC0415 - heavy

    turns = (
        lambda: one[None],
        lambda: one[:0],
        lambda: one.to(chance.choice((torch.int8, torch.float16, torch.float64, torch.bool))),
        lambda: torch.full_like(one, chance.choice((0, 1, 2, -1))),
        lambda: torch.full(one.shape, chance.choice(NUMBERS)),
        lambda: torch.cat([one, one]),
    )
    tensors[name] = chance.choice(turns)()


def _tensor_names(tensors: Arrays, words: dict[str, str], chance: random.Random) -> None:
    one, other = chance.choice(sorted(tensors)), chance.choice(sorted(tensors))
    chance.choice(
        (
            lambda: tensors.pop(one),
            lambda: tensors.update({one + "x": tensors[one]}),
            lambda: tensors.update({"optimiser.exp_avg.nobody": tensors[one]}),
            lambda: tensors.update({one: tensors[other], other: tensors[one]}),
        )
    )()


def _length(data: bytes, chance: random.Random) -> bytes:
    """Let the header of safetensors claim another length."""
    lengths = (0, 1, 7, len(data), 2**31, 2**63, 2**64 - 1, 100_000_001, len(data) - 8)
    return struct.pack("<Q", chance.choice(lengths)) + data[8:]


def _own_header(data: bytes, chance: random.Random) -> bytes:
    """Change the header of safetensors as JSON."""
    length = int.from_bytes(data[:8], "little")
    try:
        value = json.loads(data[8 : 8 + length])
        header = values.text_of(values.spoil(value, chance)).encode()
    except (ValueError, RecursionError):  # an earlier fault's
        return data
    return struct.pack("<Q", len(header)) + header + data[8 + length :]


TENSORS: tuple[Fault, ...] = (
    *BYTES,
    *(_signed(_words), _signed(_words), _signed(_words), _signed(_tensors), _signed(_tensors)),
    *(_signed(_tensor_names), _length, _own_header, _own_header),
)
"""Faults of .safetensors files."""
