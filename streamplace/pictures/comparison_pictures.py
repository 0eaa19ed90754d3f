"""The pictures in the folder that `compare` writes."""

from collections.abc import Sequence
from pathlib import Path

from streamplace.pictures.budgets import budgets_picture
from streamplace.pictures.comparison import devices_picture, ratios_picture, throughput_picture
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.comparison_folder import BUDGETS, CURVES, Budgets

DRAWS = {
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
    shown = result
    if not result.measure.is_ratio:  # pictures with a curve for each placer
        largest = result.placers if by_placer is None else [each[-1] for each in by_placer.values()]
        shown = result.of_placers(largest[:CURVES])
    for name in result.measure.pictures:
        DRAWS[name](folder / f"{name}.{kind}", shown)
    if by_placer is not None:
        first = dict(list(by_placer.items())[:CURVES])
        budgets_picture(folder / f"{BUDGETS}.{kind}", result, first, evaluations)
