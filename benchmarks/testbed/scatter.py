"""Scatter plot of simulated and measured relative throughput."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamplace.pictures.style import COLOURS, MARKERS, picture

SIZE = (9.0, 4.8)  # inches
TITLES = {"closed": "closed form (bottleneck)", "engine": "engine"}


def draw(path: Path, results: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Draw the plot, with a panel per model and a marker per placer."""
    names = next(iter(results.values())).keys()
    with picture(path, SIZE) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (model, title) in zip(panels, TITLES.items(), strict=True):
            axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, zorder=0)
            for i, name in enumerate(names):
                rows = [placers[name] for placers in results.values()]
                axes.scatter(
                    [one[model] for one in rows],
                    [one["measured"] for one in rows],
                    label=name,
                    s=26,
                    marker=MARKERS[i % len(MARKERS)],
                    color=COLOURS[i % len(COLOURS)],
                    alpha=0.8,
                    linewidths=0,
                )
            axes.set(xlabel=f"simulated: {title}", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        panels[0].set_ylabel("measured on the testbed")
        panels[1].legend(loc="upper left")
        figure.suptitle(f"Relative throughput, {len(results)} random graphs, NICs")
