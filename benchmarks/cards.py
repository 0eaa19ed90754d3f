"""Write what shipped weights reach on their card, beside where they are from.

    python -m benchmarks.cards WEIGHTS --commit HASH NAME=VALUE …

The card says: data, config, seed (in the config), commit, hash of the parameters as they are in the
file, and the results told, those of `benchmarks.paper_table`. The weights stay as they are.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from streamplace.files.atomic import atomic
from streamplace.policy.registry import policy_section
from streamplace.policy.signed_tensors import read, unpacked
from streamplace.policy.weights import pack_policy, parameter_hash, read_policy

FIELDS = ("dataset", "graphs", "problems", "processes", "config", "epoch", "step", "seconds")


def main() -> None:
    """Rewrite one file, whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", type=Path)
    parser.add_argument("--commit", required=True)
    parser.add_argument("results", nargs="+", type=result, metavar="NAME=VALUE")
    arguments = parser.parse_args()
    policy, card = read_policy(arguments.weights)
    tensors, words = unpacked(read(arguments.weights), str(arguments.weights))
    half = all(x.dtype == torch.float16 for x in tensors.values())
    section = policy_section({"kind": words["kind"], "sizes": json.loads(words["sizes"])})
    told: dict[str, Any] = {field: card[field] for field in FIELDS if field in card}
    told["parameter_hash"] = parameter_hash(policy)
    told["commit"], told["results"] = arguments.commit, dict(arguments.results)
    with atomic(arguments.weights) as file:
        file.write(pack_policy(policy, section, told, half=half))


def result(text: str) -> tuple[str, float]:
    """Read NAME=VALUE."""
    name, _, value = text.partition("=")
    return name, float(value)


if __name__ == "__main__":
    main()
