"""Figures 5 and 6 of the paper: the distribution of throughput, and how many devices are used."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from streamplace.arrays import Floats

mpl.use("Agg")
SIZE = (7.0, 4.2)  # inches
DOTS = 150  # per inch
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#222222")
STYLES = ("-", "--", "-.", ":")  # told apart without colours, too


def distribution(path: Path, reached: Mapping[str, Floats], title: str) -> None:
    """Draw the share of graphs below each relative throughput, a line a placer (Figure 5)."""
    figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
    for i, (name, values) in enumerate(reached.items()):
        share = np.arange(1, len(values) + 1) / len(values)
        axes.step(
            np.sort(values),
            share,
            where="post",
            label=name,
            linewidth=1.8,
            color=COLOURS[i % len(COLOURS)],
            linestyle=STYLES[i % len(STYLES)],
        )
    axes.set(xlabel="relative throughput", ylabel="share of graphs", title=title)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.0)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", frameon=False)
    figure.savefig(path, dpi=DOTS)
    plt.close(figure)


def devices_used(path: Path, used: Mapping[str, Floats], title: str) -> None:
    """Draw the share of graphs by number of devices used, a bar a placer (Figure 6)."""
    most = int(max(values.max() for values in used.values()))
    numbers = np.arange(1, most + 1)
    width = 0.8 / len(used)
    figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
    for i, (name, values) in enumerate(used.items()):
        share = [(values == number).mean() for number in numbers]
        where = numbers + (i - (len(used) - 1) / 2) * width
        axes.bar(where, share, width, label=name, color=COLOURS[i % len(COLOURS)])
    axes.set(xlabel="devices used", ylabel="share of graphs", title=title, xticks=numbers)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=DOTS)
    plt.close(figure)
