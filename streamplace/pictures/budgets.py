"""Picture of what placers reach with several budgets: best so far over evaluations or CPU time."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogFormatter, NullLocator

from streamplace.display.view import labels
from streamplace.pictures.comparison import panels, size_of
from streamplace.pictures.style import NAME, legend_of_few, line_of_few, picture, visible
from streamplace.problem.makespan import MAKESPAN
from streamplace.workflows.comparison import Comparison

SIZE = (6.4, 3.8)  # width and height in inches, of a picture of makespans
SHORTEST_MS = 1e-3  # the axis of times is logarithmic
Points = Mapping[str, tuple[float, float]]
"""Name in the table -> mean CPU time in milliseconds and mean result."""


def budgets_picture(
    path: str | Path,
    comparison: Comparison,
    budgets: Mapping[str, Sequence[str]],
    evaluations: Sequence[int] = (),
) -> None:
    """Draw mean results over evaluations or CPU time, a line per placer, a point per budget.

    Every point is a run of its own with that budget. A placer without a budget is a point over
    CPU time, which other programs do not change, and a level line over evaluations. Results are
    relative throughput, with a panel per source rate; or makespans over those of HEFT's mappings,
    without `heft` over the longest path (SLR).

    Parameters
    ----------
    budgets
        Name of a placer -> its names in the table, one for each budget, ascending.
    evaluations
        The budgets as evaluations per graph, ascending; empty: draw over CPU time.

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    """
    names = labels(list(budgets), NAME)
    is_ratio = comparison.measure.is_ratio
    size = SIZE if is_ratio else size_of(comparison, names)
    with picture(path, size) as figure:
        if is_ratio:
            grid, points, what = [figure.subplots()], [_ratios(comparison)], _ratio(comparison)
            grid[0].set_title(comparison.headline)
        else:
            grid, points = panels(figure, comparison), _throughputs(comparison)
            what = "mean relative throughput"
        for axes, of_placers in zip(grid, points, strict=True):
            handles = _draw(axes, of_placers, budgets, evaluations)
            by = "evaluations per graph" if evaluations else "mean CPU time per graph, ms"
            axes.set(xlabel=by, ylabel=what)
        legend_of_few(figure, handles, names)


def _draw(
    axes: Axes,
    points: Points,
    budgets: Mapping[str, Sequence[str]],
    evaluations: Sequence[int],
) -> list[Artist]:
    """Draw the points of every placer, and return a line per placer."""
    drawn: list[Artist] = []
    for i, names in enumerate(budgets.values()):
        of_budgets = [points[name] for name in names]
        if evaluations:  # those without a budget have one result, whatever the number
            reached = [result for _, result in of_budgets]
            reached *= len(evaluations) // len(reached)
            drawn += axes.plot(evaluations, reached, **line_of_few(i))
        else:
            milliseconds, results = zip(*sorted(of_budgets), strict=True)
            drawn += axes.plot(np.maximum(milliseconds, SHORTEST_MS), results, **line_of_few(i))
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.6g}"))
    axes.xaxis.set_minor_formatter(LogFormatter())  # shown where the axis is short
    if evaluations:
        axes.set_xticks(evaluations)
        axes.xaxis.set_minor_locator(NullLocator())
    return drawn


def _throughputs(comparison: Comparison) -> list[Points]:
    """Return the points at every source rate."""
    rows, count = comparison.rows, len(comparison.placers)
    return [
        {
            row.placer: (row.cpu_seconds_per_graph * 1e3, row.mean)
            for row in rows[begin : begin + count]
        }
        for begin in range(0, len(rows), count)
    ]


def _ratios(comparison: Comparison) -> Points:
    """Return the points of a comparison by ratios; unknown numbers are NaN."""
    found = {}
    for row in comparison.rows:
        ratio = row.mean_slr if comparison.measure.name == MAKESPAN else row.over_first
        if comparison.reference is not None:
            ratio = row.mean_over_heft
        seconds = row.cpu_seconds_per_graph
        found[row.placer] = (
            np.nan if seconds is None else seconds * 1e3,
            np.nan if ratio is None else ratio,
        )
    return found


def _ratio(comparison: Comparison) -> str:
    """Return what the results of a comparison by ratios are."""
    if comparison.reference is not None:
        return "mean of makespan / HEFT's makespan"
    if comparison.measure.name == MAKESPAN:
        return "mean schedule length ratio"
    quantity, first = comparison.measure.name, visible(comparison.placers[0])
    return f"mean of {quantity}\n/ that of {first}"  # one line may be longer than the axis
