"""The picture of the study: makespans by order, with and without learning."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist

from streamplace.plots.style import COLOURS, GREY, MARKERS, legend_below, picture
from streamplace.studies.orders.registered import ALL_ORDERS
from streamplace.studies.orders.results import BY_ORDER, Results
from streamplace.util.effect import Effect

PANEL = (3.9, 3.0)  # width and height in inches
SHIFT = 0.16  # of the points of the second method


def orders_picture(path: Path, results: Sequence[Results], checkpoint: int) -> None:
    """Draw makespans over those of the best order, with 95% intervals, a panel per family and size.

    Parameters
    ----------
    checkpoint
        The number of the checkpoint.
    """
    families = list(dict.fromkeys(one.family for one in results))
    sizes = list(dict.fromkeys(one.devices for one in results))
    size = PANEL[0] * len(families), PANEL[1] * len(sizes) + 0.5
    with picture(path, size) as figure:
        panels = figure.subplots(len(sizes), len(families), squeeze=False, sharex=True)
        drawn: list[Artist] = []
        for one in results:
            axes = panels[sizes.index(one.devices), families.index(one.family)]
            axes.axhline(1.0, color=GREY, linewidth=0.9)
            drawn = []
            for m, method in enumerate(BY_ORDER):
                over = one.over_best[method][..., checkpoint]
                effects = [Effect.of(over[:, o]) for o in range(len(ALL_ORDERS))]
                mean = np.array([each.mean for each in effects])
                ends = np.array([(e.mean - e.low, e.high - e.mean) for e in effects]).T
                at = np.arange(len(ALL_ORDERS)) + (2 * m - 1) * SHIFT
                style = {"color": COLOURS[m], "marker": MARKERS[m], "capsize": 2.5}
                bars = axes.errorbar(at, mean, np.maximum(ends, 0.0), fmt=" ", **style)
                drawn.append(bars.lines[0])
            axes.set_title(one.name)
            axes.set_xticks(range(len(ALL_ORDERS)), ALL_ORDERS, rotation=40, ha="right")
        for row in panels:
            row[0].set_ylabel("makespan / best order's")
        titles = [f"{method}, after {results[0].sweeps(checkpoint)}" for method in BY_ORDER]
        legend_below(figure, drawn, titles)
