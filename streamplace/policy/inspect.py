"""Summaries of weights and checkpoints."""

from pathlib import Path
from typing import Any

from streamplace.errors import CheckpointError
from streamplace.policy.signed_tensors import parsed, read, unpacked

HISTORY = ("optimiser.", "memory.")  # what a checkpoint holds beside parameters


def summary(path: str | Path) -> dict[str, Any]:
    """Return facts about a file of weights or a checkpoint, after checking it.

    Raises
    ------
    CheckpointError
        If it is none, or damaged.
    """
    tensors, words = unpacked(read(path), str(path))
    numbers = sum(x.numel() for name, x in tensors.items() if not name.startswith(HISTORY))
    try:
        facts: dict[str, Any] = {
            "kind": words["format"].removeprefix("streamplace-"),
            "weights": numbers,
        }
        if "card" in words:
            sizes = parsed(words["sizes"])
            facts |= {"network": words["kind"], "sizes": sizes} | parsed(words["card"])
        else:
            run = parsed(words["run"])
            facts |= parsed(words["position"]) | {"problems": run["problems"]} | run["config"]
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: not one of ours: {error}") from None
    return facts
