"""Safetensors files that carry a hash of their content."""

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

METADATA_KEY = "__metadata__"
"""The key of the metadata in a safetensors header."""


def packed(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> bytes:
    """Return tensors and metadata as a safetensors file that carries their hash.

    The same tensors and metadata give the same bytes.
    """
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with_hash = {**metadata, "sha256": hash_of(plain, metadata)}
    return _sorted(safetensors.torch.save(plain, with_hash))


def _sorted(data: bytes) -> bytes:
    """Sort the metadata of a safetensors file; the library writes it in random order."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header[METADATA_KEY] = dict(sorted(header[METADATA_KEY].items()))
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors must be aligned
    return len(text).to_bytes(8, "little") + text + data[end:]


def unpacked(data: bytes, where: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors and metadata of a file written by `packed`.

    Raises
    ------
    CheckpointError
        If the data is not such a file, or was modified. No content of the file is executed.
    """
    try:
        tensors = safetensors.torch.load(data)
        length = int.from_bytes(data[:8], "little")
        metadata = dict(json.loads(data[8 : 8 + length])[METADATA_KEY])
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise MemoryError from None  # the file may be valid
        message = "not a safetensors file of streamplace, or a damaged one"
        raise CheckpointError(f"{where}: {message} ({error})") from None
    stored_hash = metadata.pop("sha256", None)
    if stored_hash != hash_of(tensors, metadata):
        raise CheckpointError(f"{where}: damaged: the content does not match its SHA-256")
    return tensors, metadata


def parsed(text: str) -> Any:
    """Return the value of a metadata entry that contains JSON.

    Raises
    ------
    ValueError
        If the text is not JSON, contains non-finite numbers, or is nested too deeply.
    """
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    return value


def read(path: str | Path) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    CheckpointError
        If the file cannot be read.
    """
    try:
        return read_raw(path)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: {read_failure(error)}") from None


def exists(path: Path) -> bool:
    """Return whether a file exists.

    Raises
    ------
    CheckpointError
        If the path cannot be examined.
    """
    try:
        return path.exists()
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: {read_failure(error)}") from None


def hash_of(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    """Return the SHA-256 of named tensors and metadata, in hexadecimal."""
    hasher = hashlib.sha256(json.dumps(sorted(metadata.items())).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        hasher.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        if tensor.numel():  # an empty tensor has no bytes to view
            numbers = tensor.reshape(-1).view(torch.uint8)  # numpy lacks some dtypes
            hasher.update(numbers.numpy().tobytes())
    return hasher.hexdigest()
