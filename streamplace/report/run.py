"""A run of the engine as a picture: rates, queues and utilisations over time."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sim.engine import Measures
from streamplace.arrays import Floats
from streamplace.files.atomic import atomic
from streamplace.placement import Placement
from streamplace.report.pictures import kind_of

SIZE = (8.0, 8.5)  # inches
SHOWN = 6  # lines an axis: those that reach highest
NAME = 28  # letters


def draw_run(path: str | Path, placement: Placement, found: Measures) -> None:
    """Draw a run; the kind of picture follows the file's name.

    Raises
    ------
    UsageError
        If the file's name stands for no kind of picture.
    FormatError
        If it cannot be written.
    """
    graph, cluster = placement.problem.graph, placement.problem.cluster
    series = found.series
    figure = Figure(figsize=SIZE, layout="constrained")
    rates, queues, busy = figure.subplots(3, 1, sharex=True)
    offered = series.offered.sum(axis=1)
    rates.plot(series.at_s, offered, color="black", linestyle=":", label="offered")
    emitted = series.processed[:, graph.sources].sum(axis=1)
    rates.plot(series.at_s, emitted, color="black", label="taken by the sources")
    ends = {graph.names[v]: series.processed[:, v] for v in graph.sinks}
    _lines(rates, series.at_s, ends)
    rates.set(ylabel="tuples/s", title="rates: sources and sinks (grey: not measured)")
    waiting = {
        f"{stream.source} → {stream.target}": series.waiting[:, e] + series.in_flight[:, e]
        for e, stream in enumerate(graph.streams)
    }
    _lines(queues, series.at_s, waiting)
    queues.set(ylabel="tuples", title="queues, with what is on the way: the longest")
    ends_of = [cluster.link_ends(int(i)) for i in found.raw.link[1:]]
    most = placement.problem.target_utilisation
    used = {name: series.device_utilisation[:, d] * most for d, name in enumerate(cluster.names)}
    used |= {
        f"{a or ''} → {b or ''}": series.link_utilisation[:, i + 1] * most
        for i, (a, b) in enumerate(ends_of)
    }
    _lines(busy, series.at_s, used)
    busy.set(ylabel="utilisation", xlabel="seconds")
    busy.set_title("devices and links: the busiest")
    for axes in (rates, queues, busy):
        axes.axvspan(0, found.raw.begin.tick * found.raw.tick_s, color="black", alpha=0.05)
        axes.grid(alpha=0.3)
        highest = max(float(np.max(line.get_ydata())) for line in axes.lines)
        axes.set_ylim(0.0, 1.08 * highest or 1.0)
        axes.legend(
            handles=list(axes.lines),  # told, since names may begin with _
            loc="center left",
            bbox_to_anchor=(1.01, 0.5),
            frameon=False,
            fontsize="small",
        )
    kind = kind_of(path)
    with atomic(path) as file:
        figure.savefig(file, format=kind, dpi=130)


def _lines(axes: Axes, at_s: Floats, lines: dict[str, Floats]) -> None:
    """Draw those lines that reach highest."""
    highest = sorted(lines, key=lambda name: -float(lines[name].max()))[:SHOWN]
    for name in highest:
        label = name if len(name) <= NAME else name[: NAME - 1] + "…"
        label = label.replace("$", r"\$")  # not a formula
        axes.plot(at_s, lines[name], label=label, linestyle="--" if len(lines) == 1 else "-")
