"""Training runs: a panel for each quantity of their logs."""

from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from streamplace.display.view import labels
from streamplace.files.training_logs import Log
from streamplace.pictures.style import DASHES, GREY, NAME, legend_of_few, line_of_few, picture
from streamplace.util.arrays import Floats

PANEL = (4.4, 2.6)  # width and height in inches
CURVES = {
    "reward": "reward, mean of the samples",
    "validation": "reward of greedy placements on held-out graphs",
    "loss": "loss",
    "entropy": "entropy per decision or step, in nats",
}
"""The quantities of a log that are drawn, with their titles."""
BESIDE = {
    "reward": {"best": "best known"},
    "validation": {f"validation_{name}": name for name in ("metis", "heft", "search")},
}
"""Quantities that are drawn as dashed lines in the panel of another one, with their names."""
WINDOW = 50  # a smoothed value is the mean over at most about 1/WINDOW of a run


def curve(log: Log, name: str) -> tuple[Floats, Floats]:
    """Return the steps that contain a quantity, (N,), and its values, (N,)."""
    points = [(step["step"], step[name]) for step in log if name in step]
    pairs = np.array(points, dtype=np.float64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def moving_mean(values: Floats, width: int) -> Floats:
    """Return the moving mean of values, (N,), over up to `width` // 2 values on either side."""
    half = width // 2
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    first, last = np.maximum(at - half, 0), np.minimum(at + half + 1, len(values))
    means: Floats = (sums[last] - sums[first]) / (last - first)
    return means


def moving_means(log: Log, name: str, *, since: bool = False) -> tuple[Floats, Floats]:
    """Return steps and moving means of a quantity of every step, with NaN between stretches.

    A stage such as imitation may lack the quantity, and a line across it would state values there.

    Parameters
    ----------
    since
        Whether a stretch begins at the step before it, so that the line of a single step is seen.
    """
    steps = np.array([step["step"] for step in log], dtype=np.float64)
    values = np.array([step.get(name, np.nan) for step in log], dtype=np.float64)
    known = np.flatnonzero(np.isfinite(values))
    width = max(1, len(known) // WINDOW)
    parts = list[Floats]()
    for part in np.split(known, np.flatnonzero(np.diff(known) > 1) + 1) if len(known) else ():
        found = np.stack([steps[part], moving_mean(values[part], width)])
        if since:
            before = steps[part[0] - 1] if part[0] else 0.0
            found = np.column_stack([[before, found[1, 0]], found])
        parts += [found, np.full((2, 1), np.nan)]
    joined = np.concatenate(parts[:-1] or [np.empty((2, 0))], axis=1)
    return joined[0], joined[1]


def draw_curves(path: str | Path, logs: Mapping[str, Log]) -> None:
    """Draw the logs of runs, by name: a panel per quantity, a line per run.

    Behind each smoothed line, the unsmoothed values are drawn faintly. Dashed lines are the best
    rewards known and those of placers, such as METIS and search on the held-out graphs. Lines of
    runs after the sixth are grey.

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    """
    curves = [name for name in CURVES if any(name in step for log in logs.values() for step in log)]
    curves = curves or ["reward"]
    rows, columns = ceil(len(curves) / 2), min(len(curves), 2)
    runs = labels(list(logs), NAME)
    size = (PANEL[0] * columns, PANEL[1] * rows + (0.3 if len(runs) > 1 else 0.0))
    with picture(path, size) as figure:
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes in grid[len(curves) :]:
            axes.remove()
        for axes, name in zip(grid, curves, strict=False):
            _panel(axes, name, logs)
        if len(runs) > 1:
            legend_of_few(figure, grid[0].lines[-len(runs) :], runs)
        else:
            figure.suptitle(runs[0])


def _panel(axes: Axes, name: str, logs: Mapping[str, Log]) -> None:
    curves = [curve(log, name) for log in logs.values()]
    every_step = name != "validation"
    ends = dict[str, float]()
    for number, (beside, label) in enumerate(BESIDE.get(name, {}).items()):
        for log in logs.values():
            if every_step:
                steps, heights = moving_means(log, beside, since=True)
            else:
                steps, values = curve(log, beside)
                steps = np.concatenate([[0.0][: len(steps)], steps])
                heights = np.concatenate([values[:1], values])
            if not len(steps):
                continue
            look: dict[str, Any] = {"color": GREY, "linestyle": DASHES[1 + number]}
            axes.plot(steps, heights, linewidth=1.0, **look)
            ends.setdefault(label, float(heights[-1]))  # one name for the lines of all runs
    _name_at_the_end(axes, ends)
    if every_step:
        for i, log in enumerate(logs.values()):
            look = {"color": line_of_few(i)["color"], "alpha": 0.25, "linewidth": 0.8}
            every = [step.get(name, np.nan) for step in log]
            axes.plot([step["step"] for step in log], every, **look)
    for i, (log, (steps, values)) in enumerate(zip(logs.values(), curves, strict=True)):
        look = line_of_few(i) | ({"marker": ""} if every_step and len(steps) > 1 else {})
        axes.plot(*(moving_means(log, name) if every_step else (steps, values)), **look)
    axes.set(title=CURVES[name], xlabel="step")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.6g}"))
    if not any(len(steps) for steps, _ in curves):
        axes.set_xlim(0, 1)
        axes.text(0.5, 0.5, "no steps yet", transform=axes.transAxes, ha="center")


def _name_at_the_end(axes: Axes, heights: Mapping[str, float]) -> None:
    """Write names of level lines beside the axes, apart even where the lines are close."""
    ordered = sorted(heights, key=heights.__getitem__)
    for name in ordered:
        side = "center"
        if len(ordered) > 1 and name in (ordered[0], ordered[-1]):
            side = "top" if name == ordered[0] else "bottom"
        beside = axes.get_yaxis_transform()
        look: dict[str, Any] = {"transform": beside, "color": GREY, "size": "small"}
        axes.text(1.01, heights[name], name, va=side, **look)
