"""Pictures of a comparison, as Figures 5 and 6 of Ni et al. (AAAI 2020)."""

from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from streamplace.display.labels import labels
from streamplace.plots.distributions import cumulative, shares_of_devices
from streamplace.plots.style import NAME, bar, legend_below, line, picture
from streamplace.util.arrays import Floats
from streamplace.workflows.comparison import Comparison

PANEL = (4.4, 3.1)  # inches
PER_ROW = 2  # panels
LEGEND_LINE = 0.22  # inches
MARKS = 12  # on a line, at most
MOST_BARS = 90  # in a panel; more are drawn as lines


def throughput_picture(path: str | Path, found: Comparison) -> None:
    """Draw the share of graphs up to each relative throughput, a line a placer (Figure 5).

    Raises
    ------
    UsageError
        If the file's name stands for no kind of picture.
    FormatError
        If it cannot be written.
    """
    _draw(path, found, draw_throughput, found.relative_throughput)


def devices_picture(path: str | Path, found: Comparison) -> None:
    """Draw the share of graphs by number of devices used, a bar a placer (Figure 6).

    Raises
    ------
    UsageError
        If the file's name stands for no kind of picture.
    FormatError
        If it cannot be written.
    """
    _draw(path, found, draw_devices, found.devices_used)


def draw_throughput(axes: Axes, reached: Floats) -> list[Artist]:
    """Draw the distribution of relative throughput, (P, G), of each placer; return the lines."""
    drawn: list[Artist] = []
    for j, values in enumerate(reached):
        x, share = cumulative(values)
        every = (j % 4 / MARKS / 4, 1 / MARKS)  # of the axes' diagonal: markers apart
        drawn += axes.plot(
            [0.0, *x, max(1.0, x[-1])],
            [0.0, *share, 1.0],
            drawstyle="steps-post",
            markevery=every,
            **line(j),
        )
    axes.set(xlabel="relative throughput", ylabel="share of graphs, at most that")
    axes.set_xlim(0.0, 1.02 * max(1.0, float(reached.max())))
    axes.set_ylim(0.0, 1.02)
    return drawn


def draw_devices(axes: Axes, used: Floats) -> list[Artist]:
    """Draw how many devices each placer uses, (P, G); return a bar or line of each."""
    shares = shares_of_devices(used)
    placers, most = shares.shape
    numbers = np.arange(1, most + 1)
    drawn: list[Artist] = []
    if shares.size > MOST_BARS:
        for j, row in enumerate(shares):
            drawn += axes.plot(numbers, row, **line(j))
    else:
        width = 0.84 / placers
        for j, row in enumerate(shares):
            where = numbers + (j - (placers - 1) / 2) * width
            drawn.append(axes.bar(where, row, width, **bar(j))[0])
    if most <= 16:  # noqa: PLR2004 - more numbers would touch
        axes.set_xticks(numbers)
    axes.grid(visible=False, axis="x")
    axes.set(xlabel="devices used", ylabel="share of graphs", xlim=(0.4, most + 0.6))
    axes.set_ylim(0.0, 1.02 if shares.max() > 0.9 else None)  # noqa: PLR2004
    return drawn


def _draw(
    path: str | Path,
    found: Comparison,
    draw: Callable[[Axes, Floats], list[Artist]],
    numbers: Floats,
) -> None:
    """Draw a panel of numbers, (rates, P, G), for every source rate, and one legend."""
    names = labels(found.placers, NAME)
    with picture(path, _size(found, names)) as figure:
        for axes, of_placers in zip(_panels(figure, found), numbers, strict=True):
            handles = draw(axes, of_placers)
        legend_below(figure, handles, names)


def _panels(figure: Figure, found: Comparison) -> list[Axes]:
    """Return axes for every source rate, with their titles."""
    count = len(found.source_rates)
    rows, columns = ceil(count / PER_ROW), min(count, PER_ROW)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[count:]:
        axes.remove()
    graphs = "1 graph" if len(found.graphs) == 1 else f"{len(found.graphs):,} graphs"
    for axes, rate in zip(grid, found.source_rates, strict=False):
        at = "own source rates" if rate is None else f"{rate:,.6g} tuples/s"
        axes.set_title(f"{graphs} at {at} ({found.scored_by})")
    return list(grid[:count])


def _size(found: Comparison, names: Sequence[str]) -> tuple[float, float]:
    count = len(found.source_rates)
    width = PANEL[0] * min(count, PER_ROW) + (1.0 if count == 1 else 0.0)
    per_line = max(1, int(width / (0.5 + 0.075 * max(map(len, names)))))
    return width, PANEL[1] * ceil(count / PER_ROW) + LEGEND_LINE * ceil(len(names) / per_line)
