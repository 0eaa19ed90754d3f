"""Tensors of torch in safetensors files that carry a hash of their content; see `tensor_files`."""

import json
from collections.abc import Mapping

import safetensors.torch
import torch
from torch import Tensor

from streamplace.policy.tensor_files import METADATA_KEY, StoredTensor, hash_of, stored_tensors


def packed(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> bytes:
    """Return tensors and metadata as a safetensors file that carries their hash.

    The same tensors and metadata give the same bytes.
    """
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with_hash = {**metadata, "sha256": hash_of_tensors(plain, metadata)}
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
    _, metadata = stored_tensors(data, where)
    return safetensors.torch.load(data), metadata


def hash_of_tensors(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    """Return the SHA-256 of named tensors and metadata, in hexadecimal."""
    return hash_of({name: _stored(tensor) for name, tensor in tensors.items()}, metadata)


def _stored(tensor: Tensor) -> StoredTensor:
    data = b""
    if tensor.numel():  # an empty tensor has no bytes to view
        data = tensor.reshape(-1).view(torch.uint8).numpy().tobytes()  # numpy lacks some dtypes
    return StoredTensor(str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), data)
