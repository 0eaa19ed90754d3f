"""Line charts: an engine run over time, a plan by number of devices, and a training run."""

from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from streamplace.display.view import labels
from streamplace.files.training_logs import Log
from streamplace.plots.style import COLOURS, GREY, NAME, legend_below, legend_right, line, picture
from streamplace.util.arrays import Floats

if TYPE_CHECKING:  # since training logs are drawn without them, in less time
    from streamplace.problem.placement import Placement
    from streamplace.sim.engine import RunMetrics
    from streamplace.workflows.capacity_plan import Plan

PANEL = (4.4, 2.6)  # width and height in inches
CURVES = {
    "reward": "reward, mean of the samples",
    "validation": "reward of greedy placements on held-out graphs",
    "gap": "reward, gap to the best known",
    "loss": "loss",
    "entropy": "entropy per decision or step, in nats",
}
"""The quantities of a log that are drawn, with their titles."""
WINDOW = 50  # a smoothed value is the mean over at most about 1/WINDOW of a run


def curve(log: Log, name: str) -> tuple[Floats, Floats]:
    """Return the steps that contain a quantity, (N,), and its values, (N,)."""
    points = [(step["step"], step[name]) for step in log if name in step]
    pairs = np.array(points, dtype=np.float64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def smoothed(values: Floats, width: int) -> Floats:
    """Return the moving mean of values, (N,), over up to `width` // 2 values on either side."""
    half = width // 2
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    first, last = np.maximum(at - half, 0), np.minimum(at + half + 1, len(values))
    means: Floats = (sums[last] - sums[first]) / (last - first)
    return means


def draw_curves(path: str | Path, logs: Mapping[str, Log]) -> None:
    """Draw the logs of runs, by name: a panel per quantity, a line per run.

    Behind each smoothed line, the unsmoothed values are drawn faintly.

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
            legend_below(figure, grid[0].lines[-len(runs) :], runs)
        else:
            figure.suptitle(runs[0])


def _panel(axes: Axes, name: str, logs: Mapping[str, Log]) -> None:
    curves = [curve(log, name) for log in logs.values()]
    every_step = name != "validation"
    if every_step:
        for i, (steps, values) in enumerate(curves):
            axes.plot(steps, values, color=COLOURS[i % len(COLOURS)], alpha=0.25, linewidth=0.8)
    for i, (steps, values) in enumerate(curves):
        look = line(i) | ({"marker": ""} if every_step and len(steps) > 1 else {})
        width = max(1, len(values) // WINDOW)
        axes.plot(steps, smoothed(values, width) if every_step else values, **look)
    axes.set(title=CURVES[name], xlabel="step")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.6g}"))
    if not any(len(steps) for steps, _ in curves):
        axes.set_xlim(0, 1)
        axes.text(0.5, 0.5, "no steps yet", transform=axes.transAxes, ha="center")


SIZE_OF_RUN = (8.6, 8.4)  # width and height in inches
SHOWN = 6  # lines per panel: those with the highest maximum
MARKS = 8  # markers on a line


def draw_run(path: str | Path, placement: "Placement", run: "RunMetrics") -> None:
    """Draw a run; the file's suffix sets the picture format.

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    """
    series = run.series
    begin_s = run.trace.begin.tick * run.trace.tick_s
    with picture(path, SIZE_OF_RUN) as figure:
        rates, queues, busy = figure.subplots(3, 1, sharex=True)
        _rates(rates, placement, run)
        _lines(queues, series.at_s, _waiting(placement, run))
        queues.set(ylabel="tuples", title="queues, including tuples in flight")
        _lines(busy, series.at_s, _utilisations(placement, run))
        busy.set(ylabel="utilisation", xlabel="seconds", title="devices and links")
        busy.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.0%}"))
        for axes in (rates, queues, busy):
            axes.axvspan(0, begin_s, color="black", alpha=0.06, linewidth=0)
            highest = max(float(np.max(one.get_ydata(), initial=0.0)) for one in axes.lines)
            axes.set_ylim(0.0, 1.08 * highest or 1.0)
            axes.set_xlim(0.0, float(series.at_s[-1]))
            legend_right(axes)
        for axes in (rates, queues):
            axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.6g}"))


def _rates(axes: Axes, placement: "Placement", run: "RunMetrics") -> None:
    graph, series = placement.problem.graph, run.series
    ends = {graph.names[v]: series.processed[:, v] for v in graph.sinks}
    _lines(axes, series.at_s, ends)
    emitted = series.processed[:, graph.sources].sum(axis=1)
    axes.plot(series.at_s, emitted, color="black", linewidth=1.0, label="emitted by the sources")
    offered = series.offered.sum(axis=1)
    axes.plot(series.at_s, offered, color="black", linestyle=":", label="offered to the sources")
    axes.set(ylabel="tuples/s", title="rates at the sinks and sources (shaded: not measured)")


def _waiting(placement: "Placement", run: "RunMetrics") -> dict[str, Floats]:
    """Return stream -> tuples over time; parallel streams are numbered from the second on."""
    series, lines = run.series, dict[str, Floats]()
    for e, stream in enumerate(placement.problem.graph.streams):
        name = f"{stream.source} → {stream.target}"
        number = 1
        while name in lines:
            number += 1
            name = f"{stream.source} → {stream.target} ({number})"
        lines[name] = series.waiting[:, e] + series.in_flight[:, e]
    return lines


def _utilisations(placement: "Placement", run: "RunMetrics") -> dict[str, Floats]:
    cluster, series = placement.problem.cluster, run.series
    share = placement.problem.target_utilisation
    used = {name: series.device_utilisation[:, d] * share for d, name in enumerate(cluster.names)}
    for i, link in enumerate(run.trace.link[1:]):
        used[_name(placement, int(link))] = series.link_utilisation[:, i + 1] * share
    return used


def _name(placement: "Placement", link: int) -> str:
    cluster = placement.problem.cluster
    if link < cluster.own_links:
        a, b = cluster.resource_ends(link)
        return f"{a or ''} → {b or ''}"
    group, direction, _ = cluster.limited_uplinks[link - cluster.own_links]
    return f"group {group} →" if direction == "up" else f"→ group {group}"


def _lines(axes: Axes, at_s: Floats, lines: dict[str, Floats]) -> None:
    """Draw the lines with the highest maximum, and note in the legend how many are left out."""
    highest = sorted(lines, key=lambda name: -float(lines[name].max()))[:SHOWN]
    for i, (name, label) in enumerate(zip(highest, labels(highest, NAME), strict=True)):
        every = (i % 4 / MARKS / 4, 1 / MARKS)
        axes.plot(at_s, lines[name], label=label, markevery=every, **line(i))
    if more := len(lines) - len(highest):
        axes.plot([], [], linestyle="", label=f"and {more} more, lower")


SIZE_OF_PLAN = (6.4, 4.2)  # width and height in inches


def draw_plan(path: str | Path, plan: "Plan") -> None:
    """Draw a plan; the file's suffix sets the picture format.

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    """
    devices = [row.devices for row in plan.rows]
    with picture(path, SIZE_OF_PLAN) as figure:
        axes = figure.subplots()
        bounds = [row.bound for row in plan.rows]
        axes.plot(devices, bounds, ":", color=GREY, marker="_", label="upper bound")
        rates = [row.max_source_rate for row in plan.rows]
        axes.plot(devices, rates, color=COLOURS[0], marker="o", label="sustained")
        dashed: dict[str, Any] = {"color": COLOURS[1], "linestyle": "--", "linewidth": 1.2}
        axes.axhline(plan.source_rate, **dashed, label=f"planned: {plan.source_rate:,.6g}")
        if plan.fewest_devices is not None:
            i = devices.index(plan.fewest_devices)
            label = f"fewest devices that keep up: {plan.fewest_devices}"
            ring: dict[str, Any] = {"markersize": 11, "fillstyle": "none", "markeredgewidth": 1.6}
            at = (devices[i : i + 1], rates[i : i + 1])
            axes.plot(*at, linestyle="", marker="o", color=COLOURS[2], label=label, **ring)
        axes.set(xlabel="devices", ylabel="source rate, tuples/s")
        axes.set_ylim(0.0, 1.08 * max([*bounds, *rates, plan.source_rate]))
        axes.margins(x=0.04)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.6g}"))
        lines: list[Line2D] = list(axes.lines)
        legend_below(figure, lines, [str(one.get_label()) for one in lines])
