"""Signed containers of tensors: safetensors files that carry a hash of their content."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from streamplace.errors import CheckpointError
from streamplace.files.bounded import read_failure, read_raw
from streamplace.util.out_of_memory import is_out_of_memory

WORDS = "__metadata__"
"""The key of the metadata in a safetensors header."""


def packed(tensors: Mapping[str, Tensor], words: Mapping[str, str]) -> bytes:
    """Return tensors and metadata as a safetensors file that carries their hash.

    The same tensors and metadata give the same bytes.
    """
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    signed = {**words, "sha256": hash_of(plain, words)}
    return _sorted(safetensors.torch.save(plain, signed))


def _sorted(data: bytes) -> bytes:
    """Return a safetensors file with its metadata in order; safetensors writes it in any."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header[WORDS] = dict(sorted(header[WORDS].items()))
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors are to be aligned
    return len(text).to_bytes(8, "little") + text + data[end:]


def unpacked(data: bytes, where: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors and metadata of a file written by `packed`.

    Raises
    ------
    CheckpointError
        If it is no such file, or not as it was written. Nothing in it is ever executed.
    """
    try:
        tensors = safetensors.torch.load(data)
        length = int.from_bytes(data[:8], "little")
        words = dict(json.loads(data[8 : 8 + length])[WORDS])
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise MemoryError from None  # the file may well be sound
        raise CheckpointError(f"{where}: no safetensors file of streamplace: {error}") from None
    signed = words.pop("sha256", None)
    if signed != hash_of(tensors, words):
        raise CheckpointError(f"{where}: damaged: it is not what was written")
    return tensors, words


def parsed(word: str) -> Any:
    """Return the value of a metadata entry that holds JSON.

    Raises
    ------
    ValueError
        If it is no JSON, holds numbers that are not finite, or is nested too deeply.
    """
    try:
        value = json.loads(word)
        json.dumps(value, allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def read(path: str | Path) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    CheckpointError
        If it cannot be read.
    """
    try:
        return read_raw(path)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: {read_failure(error)}") from None


def is_there(path: Path) -> bool:
    """Return whether a file exists.

    Raises
    ------
    CheckpointError
        If that cannot be found out.
    """
    try:
        return path.exists()
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: {read_failure(error)}") from None


def hash_of(tensors: Mapping[str, Tensor], words: Mapping[str, str]) -> str:
    """Return the SHA-256 of tensors, by name, and metadata."""
    found = hashlib.sha256(json.dumps(sorted(words.items())).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        found.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        if tensor.numel():  # else there is nothing to view
            numbers = tensor.reshape(-1).view(torch.uint8)  # numpy does not have every dtype
            found.update(numbers.numpy().tobytes())
    return found.hexdigest()
