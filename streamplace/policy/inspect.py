"""Summaries of weights and checkpoints."""

from pathlib import Path
from typing import Any

from streamplace.errors import CheckpointError
from streamplace.policy.hashed_tensors import parsed, read, unpacked

TRAINING_STATE = ("optimiser.", "memory.")  # prefixes of checkpoint tensors, not parameters


def summary(path: str | Path) -> dict[str, Any]:
    """Check a weights file or a checkpoint, and return facts about it.

    Raises
    ------
    CheckpointError
        If the file is neither of these, or is damaged.
    """
    tensors, metadata = unpacked(read(path), str(path))
    weights = sum(x.numel() for name, x in tensors.items() if not name.startswith(TRAINING_STATE))
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
