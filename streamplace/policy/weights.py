"""Policies from and to weights files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from streamplace.errors import CheckpointError, TrainingError, UsageError
from streamplace.policy.base import AnyPolicy
from streamplace.policy.hashed_tensors import hash_of_tensors, packed
from streamplace.policy.registry import PolicySection, make_policy
from streamplace.policy.tensor_files import StoredTensor
from streamplace.policy.weights_file import FORMAT, VERSION, WeightsFile, read_weights
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
    return packed(weights, metadata)


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
        raise CheckpointError(f"{path}: {' '.join(str(error).split())}") from None
    policy.eval()
    return policy


def _tensor(stored: StoredTensor) -> torch.Tensor:
    """Return a tensor in 32-bit floating point."""
    kind = getattr(torch, stored.type)
    flat = torch.frombuffer(bytearray(stored.data), dtype=kind) if stored.data else torch.empty(0)
    return flat.reshape(stored.shape).to(torch.float32)


def parameter_hash(policy: nn.Module) -> str:
    """Return the SHA-256 of all named parameters, in hexadecimal."""
    return hash_of_tensors({name: x.detach().cpu() for name, x in policy.state_dict().items()}, {})
