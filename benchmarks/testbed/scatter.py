"""The picture: simulated against measured relative throughput."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

from benchmarks.figures import COLOURS, DOTS

mpl.use("Agg")
SIZE = (9.0, 4.8)  # inches
TITLES = {"closed": "closed form (bottleneck)", "engine": "engine"}
MARKS = ("o", "s", "^", "D", "*", "v", "P", "X")


def draw(path: Path, found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Draw a panel a model, a mark a placer."""
    figure, both = plt.subplots(1, 2, figsize=SIZE, sharey=True, layout="constrained")
    names = next(iter(found.values())).keys()
    for axes, (model, title) in zip(both, TITLES.items(), strict=True):
        axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, zorder=0)
        for i, name in enumerate(names):
            rows = [placers[name] for placers in found.values()]
            axes.scatter(
                [one[model] for one in rows],
                [one["measured"] for one in rows],
                label=name,
                s=26,
                marker=MARKS[i % len(MARKS)],
                color=COLOURS[i % len(COLOURS)],
                alpha=0.8,
                linewidths=0,
            )
        axes.set(xlabel=f"simulated: {title}", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axes.grid(alpha=0.3)
    both[0].set_ylabel("measured on the testbed")
    both[1].legend(loc="upper left", frameon=False, fontsize="small")
    figure.suptitle(f"Relative throughput, {len(found)} random graphs, NICs")
    figure.savefig(path, dpi=DOTS)
    plt.close(figure)
