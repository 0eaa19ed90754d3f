"""Writing of the card in a file of trained weights, which states their origin and their results.

    python -m benchmarks.cards WEIGHTS --commit HASH NAME=VALUE …

The new card has the training data, the config with its seed, the commit, the hash of the
parameters in the file, and the results NAME=VALUE, which `streamplace study dream` measures. The
weights do not change.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from streamplace.files.writing import atomic
from streamplace.learning.policy.registry import policy_section
from streamplace.learning.policy.tensor_files import read
from streamplace.learning.policy.weights import (
    pack_policy,
    parameter_hash,
    read_policy,
    unpack_tensors,
)

FIELDS = ("dataset", "graphs", "problems", "processes", "config", "epoch", "step", "seconds")


def main() -> None:
    """Rewrite one file atomically."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", type=Path, help="weights file to change")
    parser.add_argument("--commit", required=True, help="commit that trained the weights")
    parser.add_argument("results", nargs="+", type=result, metavar="NAME=VALUE", help="results")
    arguments = parser.parse_args()
    policy, card = read_policy(arguments.weights)
    tensors, texts = unpack_tensors(read(arguments.weights), str(arguments.weights))
    half = all(x.dtype == torch.float16 for x in tensors.values())
    section = policy_section({"kind": texts["kind"], "sizes": json.loads(texts["sizes"])})
    metadata: dict[str, Any] = {field: card[field] for field in FIELDS if field in card}
    metadata["parameter_hash"] = parameter_hash(policy)
    metadata["commit"], metadata["results"] = arguments.commit, dict(arguments.results)
    with atomic(arguments.weights) as file:
        file.write(pack_policy(policy, section, metadata, half=half))


def result(text: str) -> tuple[str, float]:
    """Parse NAME=VALUE."""
    name, _, value = text.partition("=")
    return name, float(value)


if __name__ == "__main__":
    main()
