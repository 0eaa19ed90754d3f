"""The pictures in the folder that `compare` writes."""

from collections.abc import Sequence
from pathlib import Path

from streamplace.pictures.budgets import budgets_picture
from streamplace.pictures.comparison import (
    devices_picture,
    effects_picture,
    ratios_picture,
    throughput_picture,
)
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.comparison_folder import BARS, BUDGETS, Budgets, pictures_of

DRAWS = {
    "differences": effects_picture,
    "ratios": effects_picture,
    "throughput": throughput_picture,
    "devices": devices_picture,
    "makespan": ratios_picture,
    "costs": ratios_picture,
}
"""What draws a picture of a measure, by its name."""


def draw(
    folder: Path,
    result: Comparison,
    kind: str,
    by_placer: Budgets | None,
    evaluations: Sequence[int],
) -> None:
    """Draw the pictures of a comparison into a folder; see `save_report`.

    Parameters
    ----------
    kind
        The suffix of their names.
    by_placer, evaluations
        The arguments ``budgets`` and ``evaluations`` of `save_report`.
    """
    kept, largest = result, result.placers
    if by_placer is not None and not result.measure.is_ratio:  # a line or bars for each placer
        largest = tuple(each[-1] for each in by_placer.values())
        kept = result.of_placers(largest)
    for name in pictures_of(result.measure, len(largest)):
        shown = result.of_placers(largest[:BARS]) if name == "devices" else kept
        DRAWS[name](folder / f"{name}.{kind}", shown)
    if by_placer is not None:
        budgets_picture(folder / f"{BUDGETS}.{kind}", result, by_placer, evaluations)
