"""A run of the engine over time: rates, queues, devices and links."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from streamplace.display.view import labels
from streamplace.pictures.style import NAME, legend_right, line, picture
from streamplace.problem.placement import Placement
from streamplace.sim.engine import RunMetrics
from streamplace.util.arrays import Floats

SIZE_OF_RUN = (8.6, 8.4)  # width and height in inches
SHOWN = 6  # lines per panel: those with the highest maximum
MARKS = 8  # markers on a line


def draw_run(path: str | Path, placement: Placement, run: RunMetrics) -> None:
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
        _lines(queues, series.at_s, _queues_of_streams(placement, run))
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


def _rates(axes: Axes, placement: Placement, run: RunMetrics) -> None:
    graph, series = placement.problem.graph, run.series
    ends = {graph.names[v]: series.processed[:, v] for v in graph.sinks}
    _lines(axes, series.at_s, ends)
    emitted = series.processed[:, graph.sources].sum(axis=1)
    axes.plot(series.at_s, emitted, color="black", linewidth=1.0, label="emitted by the sources")
    offered = series.offered.sum(axis=1)
    axes.plot(series.at_s, offered, color="black", linestyle=":", label="offered to the sources")
    axes.set(ylabel="tuples/s", title="rates at the sinks and sources (shaded: not measured)")


def _queues_of_streams(placement: Placement, run: RunMetrics) -> dict[str, Floats]:
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


def _utilisations(placement: Placement, run: RunMetrics) -> dict[str, Floats]:
    cluster, series = placement.problem.cluster, run.series
    share = placement.problem.target_utilisation
    used = {name: series.device_utilisation[:, d] * share for d, name in enumerate(cluster.names)}
    for i, link in enumerate(run.trace.link[1:]):
        used[_name(placement, int(link))] = series.link_utilisation[:, i + 1] * share
    return used


def _name(placement: Placement, link: int) -> str:
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
