"""The systems that the study compares, and the published figures of Ni et al. (AAAI 2020)."""

from collections.abc import Mapping
from dataclasses import dataclass
from os.path import isfile  # False for names that are no path, unlike `Path.is_file`
from pathlib import Path

from streamplace.errors import FormatError

REFERENCE = "METIS"
PLAIN = {
    REFERENCE: "metis",
    "METIS, weights by utilisation": "metis:weights=utilisation",
    "METIS recursive": "metis-recursive",
    "METIS recursive, by utilisation": "metis-recursive:weights=utilisation",
    "METIS oracle": "metis-oracle",
    "METIS oracle, by utilisation": "metis-oracle:weights=utilisation",
    "METIS recursive oracle": "metis-recursive-oracle",
    "METIS recursive oracle, by utilisation": "metis-recursive-oracle:weights=utilisation",
    "fuser": "fuser",
    "fuser oracle": "fuser-oracle",
}
OURS = {
    "policy, network alone": "policy:refine=0",
    "policy, one pass": "policy",
    "policy, best of 16": "policy:samples=16",
    "annealing": "search",
}
SYSTEMS = {**PLAIN, **OURS}
"""Placers by the name of their row."""
WEIGHTS = {"B": "b.safetensors", "B+F1": "b-f1.safetensors", "B+F1&F2": "b-f1-f2.safetensors"}
"""The paper's allocators, and the files of their weights."""
DRAWN = (
    REFERENCE,
    "METIS recursive oracle",
    "fuser",
    *WEIGHTS,
    "policy, one pass",
    "annealing",
)
"""The systems in the figures, as far as they were run."""


@dataclass(frozen=True)
class Published:
    """A row of Table 1 and what section 5 adds; pairs are at 1e4 and at 2e4 tuples/s.

    The minimum and the share above .97 were measured on the paper's 630 test graphs at 1e4
    tuples/s, and published as throughputs, from which they follow.
    """

    mean: tuple[float | None, ...] = (None,)
    q1: tuple[float | None, ...] = (None,)
    median: tuple[float | None, ...] = (None,)
    better: tuple[float | None, ...] = (None,)
    min: float | None = None
    above: str | None = None


PUBLISHED = {
    "METIS, k = 5": Published((0.81, 0.48), (0.70, 0.37), (0.88, 0.46), min=0.222, above="0.30"),
    "B": Published((0.82, 0.45), (0.73, 0.37), (0.87, 0.44), (0.51, 0.39), 0.214, "0.27"),
    "B+F1": Published((0.87, 0.48), (0.80, 0.40), (0.91, 0.47), (0.59, 0.47)),
    "B+F1&F2": Published((0.91, 0.53), (0.87, 0.43), (0.97, 0.50), (0.76, 0.65), 0.447, "> 0.50"),
    "IBM fuser": Published(min=0.036, above="0.16"),
}


def placers(weights: Path | None) -> Mapping[str, str]:
    """Return the placers by the names of their rows.

    Parameters
    ----------
    weights
        A folder with the files of `WEIGHTS`; None: without the paper's allocators.

    Raises
    ------
    FormatError
        If a file is missing.
    """
    if weights is None:
        return SYSTEMS
    for name, file in WEIGHTS.items():
        if not isfile(weights / file):
            raise FormatError(
                f"{weights}: has no {file}, the weights of {name}; "
                f"train them with the config {file.removesuffix('.safetensors')}"
            )
    own = {name: f"policy:file={weights / file}" for name, file in WEIGHTS.items()}
    return {**PLAIN, **own, **OURS}
