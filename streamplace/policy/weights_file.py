"""Weights files as data: parameters, the policy's kind and sizes, and a card of their origin.

They are read and summarised without torch; `weights` makes policies of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamplace.errors import CheckpointError, UsageError
from streamplace.policy.registry import PolicySection, policy_section
from streamplace.policy.tensor_files import StoredTensor, parsed, read, stored_tensors

FORMAT = "streamplace-policy"
VERSION = "1"
TRAINING_STATE = ("optimiser.", "memory.")  # prefixes of checkpoint tensors, not parameters


@dataclass(frozen=True, eq=False)
class WeightsFile:
    """The content of a weights file.

    Attributes
    ----------
    tensors
        The parameters by name.
    card
        Facts about their origin.
    """

    section: PolicySection
    tensors: Mapping[str, StoredTensor]
    card: Mapping[str, Any]


def read_weights(path: str | Path) -> WeightsFile:
    """Read a weights file.

    The file names the kind of its policy, which is built in or registered by an installed package.

    Raises
    ------
    CheckpointError
        If the file is not a weights file, is damaged, or has another version.
    """
    tensors, metadata = stored_tensors(read(path), str(path))
    if metadata.get("format") != FORMAT or metadata.get("version") != VERSION:
        is_checkpoint = metadata.get("format") == "streamplace-checkpoint"
        hint = "; it is a checkpoint, use policy.safetensors of the same run" * is_checkpoint
        raise CheckpointError(f"{path}: not a policy file of version {VERSION}{hint}")
    try:
        sizes = parsed(metadata["sizes"])
        section = policy_section({"kind": metadata["kind"], "sizes": sizes})
        card = parsed(metadata["card"])
        if not isinstance(card, dict):
            raise TypeError("card: must be an object")
    except KeyError as error:
        raise CheckpointError(f"{path}: missing field {error}") from None
    except (UsageError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path}: {' '.join(str(error).split())}") from None
    return WeightsFile(section, tensors, card)


def summary(path: str | Path) -> dict[str, Any]:
    """Check a weights file or a checkpoint, and return facts about it.

    Raises
    ------
    CheckpointError
        If the file is neither of these, or is damaged.
    """
    tensors, metadata = stored_tensors(read(path), str(path))
    weights = sum(x.numbers for name, x in tensors.items() if not name.startswith(TRAINING_STATE))
    try:
        facts: dict[str, Any] = {
            "kind": metadata["format"].removeprefix("streamplace-"),
            "weights": weights,
        }
        if "card" in metadata:
            sizes = parsed(metadata["sizes"])
            facts |= {"network": metadata["kind"], "sizes": sizes} | parsed(metadata["card"])
        else:
            run = parsed(metadata["run"])
            facts |= parsed(metadata["position"]) | {"problems": run["problems"]} | run["config"]
    except KeyError as error:
        raise CheckpointError(f"{path}: missing field {error}") from None
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: not a streamplace policy or checkpoint: {error}") from None
    return facts
