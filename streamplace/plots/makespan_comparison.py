"""The picture of a comparison of makespans."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

from streamplace.display.view import labels
from streamplace.plots.style import COLOURS, GREY, NAME, picture, visible
from streamplace.util.arrays import Floats
from streamplace.workflows.makespan_comparison import MakespanComparison

ROW, MARGIN = 0.34, 1.3  # height of a placer and of title and axis, in inches
WIDTH = 6.4  # inches
MAX_POINTS = 300  # points drawn per placer; with more graphs, the box shows their distribution
LOG_FROM = 4.0  # the axis is logarithmic if the largest ratio is this many times the smallest


def makespan_picture(path: str | Path, comparison: MakespanComparison) -> None:
    """Draw the distribution of makespans over those of HEFT's mappings, a row per placer.

    Without `heft` among the placers, the schedule length ratio (SLR) is drawn; see
    `MakespanComparison.relative`. A box reaches from
    the first to the third quartile, its line is the median, and its whiskers reach to the last case
    within 1.5 box lengths; the diamond is the mean, and points are cases, at most 300 of them.

    Raises
    ------
    UsageError
        If the file's suffix is not a known picture format.
    FormatError
        If the file cannot be written.
    """
    over = comparison.over_heft
    reference = comparison.reference
    ratios, what = comparison.relative
    rows = [j for j, name in enumerate(comparison.placers) if over is None or name != reference]
    if not rows:
        ratios, what = comparison.slr, "schedule length ratio (makespan / longest path)"
        rows = list(range(len(comparison.placers)))
    names = labels([comparison.placers[j] for j in rows], NAME)
    with picture(path, (WIDTH, MARGIN + ROW * len(rows))) as figure:
        axes = figure.subplots()
        for i, j in enumerate(rows):
            _draw_row(axes, i, ratios[j][np.isfinite(ratios[j])])
        if over is not None and ratios is over:
            axes.axvline(1.0, color=GREY, linewidth=1.0, linestyle="--", zorder=1)
        axes.set_yticks(range(len(rows)), [visible(name) for name in names])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        finite = ratios[rows][np.isfinite(ratios[rows])]
        if finite.size and finite.max() > LOG_FROM * finite.min() > 0.0:
            _use_log_axis(axes)
        axes.set(xlabel=what, title=comparison.headline)


def _draw_row(axes: Axes, row: int, values: Floats) -> None:
    """Draw the box, the mean and the points of a placer."""
    if not values.size:
        return
    colour = COLOURS[row % len(COLOURS)]
    spread = np.random.default_rng(row)  # the same points in every run
    points = values
    if len(values) > MAX_POINTS:
        points = spread.choice(values, MAX_POINTS, replace=False)
    heights = row + spread.uniform(-0.26, 0.26, len(points))
    axes.scatter(points, heights, s=7, color=colour, alpha=0.4, linewidths=0, zorder=2)
    axes.boxplot(
        values,
        orientation="horizontal",
        positions=[row],
        widths=0.56,
        showfliers=False,
        showmeans=True,
        manage_ticks=False,
        boxprops={"color": colour},
        whiskerprops={"color": colour},
        capprops={"color": colour},
        medianprops={"color": "black", "linewidth": 1.8},
        meanprops={
            "marker": "D",
            "markerfacecolor": "white",
            "markeredgecolor": "black",
            "markersize": 4.5,
        },
        zorder=3,
    )


def _use_log_axis(axes: Axes) -> None:
    """Make the axis of ratios logarithmic, with ticks as plain numbers."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
