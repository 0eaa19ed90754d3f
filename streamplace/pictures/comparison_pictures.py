"""The pictures in the folder that `compare` writes."""

from collections.abc import Sequence
from pathlib import Path

from streamplace.pictures.budgets import budgets_picture
from streamplace.pictures.comparison import devices_picture, makespan_picture, throughput_picture
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.comparison_folder import (
    BUDGETS,
    CURVES,
    PICTURES,
    Budgets,
    picture_of,
)
from streamplace.workflows.makespan_comparison import MakespanComparison


def draw(
    folder: Path,
    result: Comparison | MakespanComparison,
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
    if isinstance(result, MakespanComparison):
        makespan_picture(folder / f"{picture_of(result.objective)}.{kind}", result)
    else:
        largest = result.placers if by_placer is None else [each[-1] for each in by_placer.values()]
        shown = result.of_placers(largest[:CURVES])
        draws = (throughput_picture, devices_picture)
        for name, draw_one in zip(PICTURES, draws, strict=True):
            draw_one(folder / f"{name}.{kind}", shown)
    if by_placer is not None:
        first = dict(list(by_placer.items())[:CURVES])
        budgets_picture(folder / f"{BUDGETS}.{kind}", result, first, evaluations)
