"""Files of weights: parameters, the policy's kind and sizes, and a card of their origin."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from streamplace.errors import CheckpointError, TrainingError, UsageError
from streamplace.policy.base import AnyPolicy
from streamplace.policy.registry import PolicySection, make_policy, policy_section
from streamplace.policy.signed_tensors import hash_of, packed, parsed, read, unpacked
from streamplace.util.out_of_memory import is_out_of_memory

FORMAT = "streamplace-policy"
VERSION = "1"


def pack_policy(
    policy: nn.Module, section: PolicySection, card: Mapping[str, Any], *, half: bool = False
) -> bytes:
    """Return a policy as the bytes of a file.

    Parameters
    ----------
    half
        Whether to round weights to 16 bits.

    Raises
    ------
    TrainingError
        If a weight is not finite, or would not be in 16 bits.
    """
    words = {
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
    return packed(weights, words)


def read_policy(path: str | Path) -> tuple[AnyPolicy, dict[str, Any]]:
    """Read a policy and its card.

    A file names the kind of its policy: one of ours, or one that an installed package registers.

    Raises
    ------
    CheckpointError
        If the file is none, damaged, or of another version.
    """
    tensors, words = unpacked(read(path), str(path))
    if words.get("format") != FORMAT or words.get("version") != VERSION:
        raise CheckpointError(f"{path}: holds no policy of version {VERSION}")
    try:
        section = policy_section({"kind": words["kind"], "sizes": parsed(words["sizes"])})
        with torch.device("meta"):  # sizes that the file does not hold ask for no memory
            sketch = make_policy(section)
        weights = {name: x.to(torch.float32) for name, x in tensors.items()}
        sketch.load_state_dict(weights, assign=True)
        policy = make_policy(section)
        policy.load_state_dict(weights)
        card: dict[str, Any] = parsed(words["card"])
        if not isinstance(card, dict):
            raise TypeError("card: must be an object")
    except (UsageError, ValueError, KeyError, TypeError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        raise CheckpointError(f"{path}: {' '.join(str(error).split())}") from None
    policy.eval()
    return policy, card


def parameter_hash(policy: nn.Module) -> str:
    """Return the SHA-256 of all parameters, by name."""
    return hash_of({name: x.detach().cpu() for name, x in policy.state_dict().items()}, {})
