"""Weights files: parameters, the policy's kind and sizes, and a card that records their origin."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from streamplace.errors import CheckpointError, TrainingError, UsageError
from streamplace.policy.base import AnyPolicy
from streamplace.policy.hashed_tensors import hash_of, packed, parsed, read, unpacked
from streamplace.policy.registry import PolicySection, make_policy, policy_section
from streamplace.util.out_of_memory import is_out_of_memory

FORMAT = "streamplace-policy"
VERSION = "1"


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
    tensors, metadata = unpacked(read(path), str(path))
    if metadata.get("format") != FORMAT or metadata.get("version") != VERSION:
        is_checkpoint = metadata.get("format") == "streamplace-checkpoint"
        hint = "; it is a checkpoint, use policy.safetensors of the same run" * is_checkpoint
        raise CheckpointError(f"{path}: not a policy file of version {VERSION}{hint}")
    try:
        sizes = parsed(metadata["sizes"])
        section = policy_section({"kind": metadata["kind"], "sizes": sizes})
        with torch.device("meta"):  # wrong sizes must not allocate memory
            sketch = make_policy(section)
        weights = {name: x.to(torch.float32) for name, x in tensors.items()}
        sketch.load_state_dict(weights, assign=True)
        policy = make_policy(section)
        policy.load_state_dict(weights)
        card: dict[str, Any] = parsed(metadata["card"])
        if not isinstance(card, dict):
            raise TypeError("card: must be an object")
    except KeyError as error:
        raise CheckpointError(f"{path}: missing field {error}") from None
    except (UsageError, ValueError, TypeError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        raise CheckpointError(f"{path}: {' '.join(str(error).split())}") from None
    policy.eval()
    return policy, card


def parameter_hash(policy: nn.Module) -> str:
    """Return the SHA-256 of all named parameters, in hexadecimal."""
    return hash_of({name: x.detach().cpu() for name, x in policy.state_dict().items()}, {})
