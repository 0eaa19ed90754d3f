"""The picture of the study: makespans against simulated episodes."""

from collections.abc import Sequence
from math import ceil
from pathlib import Path

from matplotlib.artist import Artist

from streamplace.plots.style import GREY, legend_below, line, picture
from streamplace.studies.doppler.plain import CLIMB, SEARCH
from streamplace.studies.doppler.registered import (
    DOPPLER,
    OF_SEARCH,
    RELEASED_CODE,
    WITHOUT_IMITATION,
)
from streamplace.studies.doppler.results import Results
from streamplace.studies.doppler.workloads import Workload

PANEL = (3.9, 3.2)  # width and height in inches
COLUMNS = 4
CURVES = (DOPPLER, RELEASED_CODE, WITHOUT_IMITATION, OF_SEARCH)
LEVELS = {CLIMB: "--", SEARCH: ":"}


def curves_picture(path: Path, results: Results, workloads: Sequence[Workload]) -> None:
    """Draw the best makespan over the best known one, a panel per workload.

    Climb and search with as many evaluations as a training are horizontal lines.
    """
    columns = min(COLUMNS, len(workloads))
    count = ceil(len(workloads) / columns)
    with picture(path, (PANEL[0] * columns, PANEL[1] * count + 0.5)) as figure:
        panels = figure.subplots(count, columns, squeeze=False).flatten()
        drawn: dict[str, Artist] = {}
        for axes, workload in zip(panels, workloads, strict=False):
            for system, dashes in LEVELS.items():
                level = results.over(workload, system)
                assert level is not None, "climb and search find placements without limits"
                drawn[system] = axes.axhline(level.mean, color=GREY, linestyle=dashes)
            for i, system in enumerate(CURVES):
                episodes, means = _curve(results, workload, system)
                drawn[system] = axes.plot(episodes, means, **line(i))[0]
            axes.set_title(workload.name)
            axes.set_xlabel("simulated episodes")
            axes.set_ylabel("makespan / best known one")
        for axes in panels[len(workloads) :]:
            axes.set_visible(False)
        legend_below(figure, list(drawn.values()), list(drawn))


def _curve(results: Results, workload: Workload, system: str) -> tuple[list[int], list[float]]:
    """Return episodes, and the mean over the seeds of the best makespan after them."""
    points: list[tuple[int, float]] = []
    number = 0
    while True:
        rows = results.after(workload, system, number)
        over = results.over_best(workload, rows)
        if over is not None:
            points.append((rows[0]["episodes"], over.mean))
        elif number:
            break
        number += 1
    return [episodes for episodes, _ in points], [mean for _, mean in points]
