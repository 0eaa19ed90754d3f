"""Plots of comparisons, two of them as Figures 5 and 6 of Ni et al. (2020), and of datasets."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

from streamplace.display.view import labels
from streamplace.pictures.style import (
    COLOURS,
    GREY,
    MARKERS,
    NAME,
    bar,
    legend_below,
    legend_of_few,
    line,
    line_of_few,
    picture,
    visible,
)
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow
from streamplace.util.arrays import Floats
from streamplace.util.text import shortened
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.comparison_tables import INTERVAL
from streamplace.workflows.ratios import OF_LONGEST_PATH, RatioMeasure

PANEL = (4.4, 3.1)  # width and height in inches
PER_ROW = 2  # panels per row
LEGEND_LINE = 0.22  # height in inches
MARKS = 12  # maximum number of markers on a line
MAX_BARS = 90  # maximum number of bars in a panel; with more, lines are drawn
ROW, MARGIN = 0.34, 1.3  # height of the row of a placer, and of title and axis, in inches
WIDTH, LETTER = 4.8, 0.075  # of a picture with such rows, without names, and of their letters
TITLE = 54  # letters of a line of the title of a panel
WHOLE_NAME = 80  # letters of a name beside a row, where there is more room than in a legend
SPREAD = 0.3  # of the points of several source rates in a row, as a share of it, to either side
MAX_POINTS = 300  # points drawn per placer; with more graphs, the box shows their distribution
LOG_FROM = 4.0  # the axis is logarithmic if the largest ratio is this many times the smallest


def effects_picture(path: str | Path, comparison: Comparison) -> None:
    """Draw how much better or worse placers are than one of them: means with 95% intervals.

    A row per placer has a point per source rate. They are the mean differences to the first placer
    or, under objectives without source rates, the mean ratios to HEFT, if it is among the placers,
    or else to the first one; see the rows of `Comparison`. One graph or two have no interval.

    Parameters
    ----------
    comparison
        Of at least two placers.

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    """
    measure, placers = comparison.measure, comparison.placers
    baseline = (measure.is_ratio and comparison.reference) or placers[0]
    others = [j for j, name in enumerate(placers) if name != baseline]
    first, *names = labels([baseline, *(placers[j] for j in others)], WHOLE_NAME)
    rates = len(comparison.source_rates)
    height = MARGIN + ROW * len(others) * (1.0 + SPREAD * (rates - 1))
    height += LEGEND_LINE * (rates > 1)
    with picture(path, (WIDTH + LETTER * max(map(len, (first, *names))), height)) as figure:
        axes = figure.subplots()
        handles = [draw_effects(axes, comparison, i, others) for i in range(rates)]
        axes.axvline(float(measure.is_ratio), color=GREY, linewidth=1.0, linestyle="--", zorder=1)
        _label_rows(axes, names)
        words = "ratio to that of" if measure.is_ratio else "difference to"
        what = f"{measure.name}: {words} {first}\nmean over the graphs, 95% interval"
        figure.suptitle(comparison.headline, size="medium")
        if measure.is_ratio:
            _use_log_axis_for(axes, axes.dataLim.intervalx)
        if rates > 1:  # a label of the figure would be drawn over the legend
            legend_below(figure, handles, [_at(rate) for rate in comparison.source_rates], what)
        else:
            figure.supxlabel(what, size="medium")  # may be wider than the axes


def draw_effects(axes: Axes, comparison: Comparison, i: int, placers: Sequence[int]) -> Artist:
    """Draw the points of placers at a source rate, and return a handle for a legend."""
    measure, count = comparison.measure, len(comparison.placers)
    columns = measure.columns(reference=comparison.reference)
    mean, interval = columns[measure.effect], columns[INTERVAL]
    look: dict[str, Any] = {
        "color": COLOURS[i % len(COLOURS)],
        "marker": MARKERS[i % len(MARKERS)],
        "linestyle": "",
    }
    for row, j in enumerate(placers):
        y = row + 2 * SPREAD * ((i + 0.5) / len(comparison.source_rates) - 0.5)
        of_placer = comparison.rows[i * count + j]
        low_high = interval.values(of_placer)
        if None not in low_high:
            axes.plot(low_high, [y, y], color=look["color"], marker="|", linewidth=1.8)
        if (middle := mean.value(of_placer)) is not None:
            axes.plot(middle, y, markersize=6.0, zorder=3, **look)
    return Line2D([], [], **look)


def _label_rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows of placers, from the top."""
    axes.set_yticks(range(len(names)), [visible(name, WHOLE_NAME) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def throughput_picture(path: str | Path, comparison: Comparison) -> None:
    """Draw the cumulative distribution of relative throughput, a line per placer (Figure 5).

    Lines after the sixth are grey; the legend says how many they are.

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    """
    _draw(path, comparison, draw_throughput, comparison.values, legend_of_few)


def devices_picture(path: str | Path, comparison: Comparison) -> None:
    """Draw the share of graphs by number of devices used, bars per placer (Figure 6).

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    """
    used = comparison.figures.devices_used
    _draw(path, comparison, draw_devices, used, legend_below)


def draw_throughput(axes: Axes, reached: Floats) -> list[Artist]:
    """Draw relative throughput, (P placers, G graphs), and return a line per placer."""
    drawn: list[Artist] = []
    for j, values in enumerate(reached):
        x, share = cumulative(values)
        drawn += axes.plot(
            [0.0, *x, max(1.0, x[-1])],
            [0.0, *share, 1.0],
            drawstyle="steps-post",
            markevery=_points_with_markers(j, len(x), MARKS),
            zorder=-j,  # others are behind
            **line_of_few(j),
        )
    axes.set(xlabel="relative throughput", ylabel="share of graphs at or below")
    axes.set_xlim(0.0, 1.02 * max(1.0, float(reached.max())))
    axes.set_ylim(0.0, 1.02)
    return drawn


def _points_with_markers(line: int, points: int, marks: int) -> list[int]:
    """Return which points of a cumulative line have markers; its first point is not of the data."""
    return sorted({1 + int((k + line % 4 / 4) * points / marks) for k in range(marks)})


def draw_devices(axes: Axes, used: Floats) -> list[Artist]:
    """Draw the devices used, (P, G), as bars or lines; return a legend handle per placer."""
    shares = shares_of_devices(used)
    placers, max_devices = shares.shape
    numbers = np.arange(1, max_devices + 1)
    drawn: list[Artist] = []
    if shares.size > MAX_BARS:
        for j, row in enumerate(shares):
            drawn += axes.plot(numbers, row, **line(j))
    else:
        width = 0.84 / placers
        for j, row in enumerate(shares):
            where = numbers + (j - (placers - 1) / 2) * width
            drawn.append(axes.bar(where, row, width, **bar(j))[0])
    if max_devices <= 16:  # noqa: PLR2004 - more tick labels would overlap
        axes.set_xticks(numbers)
    axes.grid(visible=False, axis="x")
    axes.set(xlabel="devices used", ylabel="share of graphs", xlim=(0.4, max_devices + 0.6))
    axes.set_ylim(0.0, 1.02 if shares.max() > 0.9 else None)  # noqa: PLR2004
    return drawn


def _draw(
    path: str | Path,
    comparison: Comparison,
    draw: Callable[[Axes, Floats], list[Artist]],
    numbers: Floats,
    add_legend: Callable[[Figure, Sequence[Artist], Sequence[str]], None],
) -> None:
    """Draw numbers, (rates, P, G), for P placers and G graphs: a panel per rate, one legend."""
    names = labels(comparison.placers, NAME)
    with picture(path, size_of(comparison, names)) as figure:
        for axes, of_placers in zip(panels(figure, comparison), numbers, strict=True):
            handles = draw(axes, of_placers)
        add_legend(figure, handles, names)


def panels(figure: Figure, comparison: Comparison) -> list[Axes]:
    """Return titled axes for every source rate."""
    count = len(comparison.source_rates)
    rows, columns = ceil(count / PER_ROW), min(count, PER_ROW)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[count:]:
        axes.remove()
    for axes, rate in zip(grid, comparison.source_rates, strict=False):
        axes.set_title(_title(f"{comparison.cases} at {_at(rate)}", comparison.measure.scored_by))
    return list(grid[:count])


def _title(what: str, scored_by: str) -> str:
    """Return the title of a panel, in two lines where one would be cut."""
    space = " " if len(what) + len(scored_by) < TITLE else "\n"
    return f"{what}{space}({shortened(scored_by, TITLE)})"


def _at(rate: float | None) -> str:
    return "their own source rates" if rate is None else f"{rate:,.6g} tuples/s"


def size_of(comparison: Comparison, names: Sequence[str]) -> tuple[float, float]:
    count = len(comparison.source_rates)
    width = PANEL[0] * min(count, PER_ROW) + (1.0 if count == 1 else 0.0)
    per_line = max(1, int(width / (0.5 + 0.075 * max(map(len, names)))))
    return width, PANEL[1] * ceil(count / PER_ROW) + LEGEND_LINE * ceil(len(names) / per_line)


def cumulative(values: Floats) -> tuple[Floats, Floats]:
    """Return the cumulative distribution of values, (N,), as the corners of its steps.

    Returns
    -------
    (M,) the distinct values, ascending, and (M,) for each the share of values up to it.
    """
    distinct, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    return distinct, np.cumsum(counts) / counts.sum()


def shares_of_devices(used: Floats) -> Floats:
    """Return the share of graphs by number of devices used.

    Parameters
    ----------
    used
        (P, G), placers by graphs: whole numbers from 1.

    Returns
    -------
    (P, D): column d is for d + 1 devices; D is the largest number used.
    """
    max_devices = int(used.max())
    counts = [np.bincount(row.astype(np.int64), minlength=max_devices + 1)[1:] for row in used]
    shares: Floats = np.stack(counts) / used.shape[1]
    return shares


def ratios_picture(path: str | Path, comparison: Comparison) -> None:
    """Draw the distribution of makespans over those of HEFT's mappings, a row per placer.

    Without `heft` among the placers, the schedule length ratio (SLR) is drawn; see
    `RatioMeasure.relative`. A box reaches from the first to the third quartile, its line is the
    median, and its whiskers reach to the last case within 1.5 box lengths; the diamond is the mean,
    and points are cases, at most 300 of them.

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    """
    reference, measure = comparison.reference, cast("RatioMeasure", comparison.measure)
    ratios, what = measure.relative(comparison)
    rows = [j for j, name in enumerate(comparison.placers) if name != reference]
    over = reference is not None and bool(rows)
    if not rows:
        ratios, what = measure.slr(comparison), OF_LONGEST_PATH
        rows = list(range(len(comparison.placers)))
    names = labels([comparison.placers[j] for j in rows], WHOLE_NAME)
    with picture(path, (WIDTH + LETTER * max(map(len, names)), MARGIN + ROW * len(rows))) as figure:
        axes = figure.subplots()
        for i, j in enumerate(rows):
            _draw_row(axes, i, ratios[j][np.isfinite(ratios[j])])
        if over:
            axes.axvline(1.0, color=GREY, linewidth=1.0, linestyle="--", zorder=1)
        _label_rows(axes, names)
        _use_log_axis_for(axes, ratios[rows][np.isfinite(ratios[rows])])
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


def _use_log_axis_for(axes: Axes, ratios: Floats) -> None:
    """Make the axis of ratios that differ much logarithmic, with ticks as plain numbers."""
    if not ratios.size or not ratios.max() > LOG_FROM * ratios.min() > 0.0:
        return
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())


LABELS = ("operators of a graph", "utilisation of 2,500 MIPS", "payload, bytes")
MARKS_OF_DISTRIBUTION = 8  # markers on a line


def distributions_picture(path: str | Path, datasets: Mapping[str, Sequence[StreamGraph]]) -> None:
    """Draw cumulative distributions of datasets: operators, utilisations, payloads.

    Utilisations are those of a device of 2,500 MIPS by an operator, at the source rate of its
    graph. Payloads are those of operators with receivers.

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    GraphError
        If tuple rates of a graph overflow, or a quantity of it is unknown.
    """
    values = [distributions(graphs) for graphs in datasets.values()]
    with picture(path, (9.6, 3.4)) as figure:
        lines: list[Artist] = []
        for number, (axes, label) in enumerate(zip(figure.subplots(1, 3), LABELS, strict=True)):
            for i, of_dataset in enumerate(values):
                x, share = cumulative(of_dataset[number])
                steps = axes.plot(
                    [x[0], *x],
                    [0.0, *share],
                    drawstyle="steps-post",
                    markevery=_points_with_markers(i, len(x), MARKS_OF_DISTRIBUTION),
                    **line(i),
                )
                lines += steps if number == 0 else []
            axes.set_xlabel(label)
            axes.set_ylim(0.0, 1.02)
            axes.set_xlim(left=0.0)
        figure.axes[0].set_ylabel("share at or below")
        legend_below(figure, lines, list(datasets))


def distributions(graphs: Sequence[StreamGraph]) -> tuple[Floats, Floats, Floats]:
    """Return the operators of each graph, and the utilisations and payloads of all operators.

    Payloads are those of operators with receivers; without any, there is one of 0 bytes.
    """
    cluster = Cluster.equal(1)
    of_operators, payloads = [], [np.zeros(0)]
    for graph in graphs:
        arrays = flow(Problem(graph, cluster))
        of_operators.append(arrays.work / arrays.capacity[0])
        payloads.append(graph.payload_bytes[np.unique(arrays.source)])
    sizes = np.array([len(each) for each in of_operators], dtype=float)
    joined = np.concatenate(payloads)
    return sizes, np.concatenate(of_operators), joined if len(joined) else np.zeros(1)
