"""Policies with new parameters, and policies from and to weights files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor, nn

from streamplace.errors import CheckpointError, Fault, TrainingError, UsageError
from streamplace.learning.policy.base import AnyPolicy
from streamplace.learning.policy.registry import PolicySection, make_policy
from streamplace.learning.policy.tensor_files import (
    FORMAT,
    METADATA_KEY,
    VERSION,
    StoredTensor,
    WeightsFile,
    hash_of,
    read_weights,
    stored_tensors,
)
from streamplace.util.out_of_memory import is_out_of_memory


def pack_policy(
    policy: nn.Module, section: PolicySection, card: Mapping[str, Any], *, half: bool = False
) -> bytes:
    """Return a policy as the bytes of a weights file.

    Parameters
    ----------
    half
        Whether to round weights to 16-bit floating point.

    Raises
    ------
    TrainingError
        If a weight is not finite, or would not be finite in 16 bits.
    """
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "kind": section.kind,
        "sizes": section.sizes.model_dump_json(),
        "card": json.dumps(card),
    }
    weights = policy.state_dict()
    if half:
        weights = {name: x.half() for name, x in weights.items()}
    for name, x in weights.items():
        if not torch.isfinite(x).all():
            bits = " in 16 bits" if half else ""
            raise TrainingError(f"parameter {name} is not finite{bits}; nothing is written")
    return pack_tensors(weights, metadata)


def read_policy(path: str | Path) -> tuple[AnyPolicy, dict[str, Any]]:
    """Read a policy and its card.

    The file names the kind of its policy, which is built in or registered by an installed package.

    Raises
    ------
    CheckpointError
        If the file is not a weights file, is damaged, or has another version.
    """
    file = read_weights(path)
    return policy_of(file, path), dict(file.card)


def policy_of(file: WeightsFile, path: str | Path) -> AnyPolicy:
    """Return the policy in a weights file.

    Raises
    ------
    CheckpointError
        If the parameters are not those of a policy of this kind and these sizes.
    """
    try:
        with torch.device("meta"):  # wrong sizes must not allocate memory
            sketch = make_policy(file.section)
        weights = {name: _tensor(stored) for name, stored in file.tensors.items()}
        sketch.load_state_dict(weights, assign=True)
        policy = make_policy(file.section)
        policy.load_state_dict(weights)
    except (UsageError, ValueError, TypeError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        raise CheckpointError(Fault(" ".join(str(error).split()), str(path))) from None
    policy.eval()
    return policy


def take_parameters(policy: AnyPolicy, section: PolicySection, path: str | Path) -> None:
    """Give a policy of a section the parameters of a weights file.

    Raises
    ------
    CheckpointError
        If the file is not a weights file, or if the kind of its policy or the shape of a parameter
        differs.
    """
    file = read_weights(path)
    if file.section.kind != section.kind:
        kinds = f"{file.section.kind!r}; the config trains {section.kind!r}"
        raise CheckpointError(Fault(f"has weights of the kind {kinds}", str(path)))
    stored = {name: _tensor(tensor) for name, tensor in file.tensors.items()}
    shapes, wanted = (
        {name: tuple(x.shape) for name, x in tensors.items()}
        for tensors in (stored, policy.state_dict())
    )
    for name in sorted(shapes.keys() | wanted.keys()):
        here, expected = shapes.get(name, "absent"), wanted.get(name, "absent")
        if here != expected:
            fault = f"the shape of {name} is {here} and that of the config's {expected}"
            remedy = "set policy.sizes to those that `streamplace info` prints for the file"
            raise CheckpointError(Fault(fault, str(path), remedy=remedy))
    policy.load_state_dict(stored)


def _tensor(stored: StoredTensor) -> torch.Tensor:
    """Return a tensor in 32-bit floating point."""
    kind = getattr(torch, stored.type)
    flat = torch.frombuffer(bytearray(stored.data), dtype=kind) if stored.data else torch.empty(0)
    return flat.reshape(stored.shape).to(torch.float32)


def parameter_hash(policy: nn.Module) -> str:
    """Return the SHA-256 of all named parameters, in hexadecimal."""
    return hash_of_tensors({name: x.detach().cpu() for name, x in policy.state_dict().items()}, {})


def pack_tensors(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> bytes:
    """Return tensors and metadata as a safetensors file that carries their hash.

    The same tensors and metadata give the same bytes.
    """
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with_hash = {**metadata, "sha256": hash_of_tensors(plain, metadata)}
    return _sort_metadata(safetensors.torch.save(plain, with_hash))


def _sort_metadata(data: bytes) -> bytes:
    """Sort the metadata of a safetensors file; the library writes it in random order."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header[METADATA_KEY] = dict(sorted(header[METADATA_KEY].items()))
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors must be aligned
    return len(text).to_bytes(8, "little") + text + data[end:]


def unpack_tensors(data: bytes, where: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors and metadata of a file written by `pack_tensors`.

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


def new_policy(section: PolicySection, seed: int) -> AnyPolicy:
    """Return a policy with random parameters from a seed, without changing torch's generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make_policy(section)
