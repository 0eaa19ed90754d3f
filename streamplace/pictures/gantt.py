"""Gantt chart of a schedule: what each core runs when, and the messages between devices."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from streamplace.display.text import limit_beside, number, rounded_down
from streamplace.makespan.score import MakespanScore
from streamplace.pictures.style import COLOURS, GREY, legend_below, picture
from streamplace.problem.placement import Placement
from streamplace.util.text import shortened

WIDTH = 9.0  # inches
ROW, LEAST, MOST = 0.34, 2.2, 24.0  # height of a row, and of the whole picture, in inches
NAMED_ROWS = 60  # rows above which devices are not named
LETTERS = 105  # that fit side by side over the whole width
NORMAL, CRITICAL = COLOURS[0], COLOURS[1]
GAP = 0.12  # share of a row between bars


class Bar(NamedTuple):
    """An operator on one core of its device."""

    operator: int
    row: int
    start: float  # seconds
    end: float


def rows_of(score: MakespanScore) -> tuple[list[int], list[Bar]]:
    """Return the device of each row, one row per core in use, and the bars of all operators.

    An operator that holds several cores has a bar on each of them.
    """
    table = score.timetable
    tasks, on = table.tasks, table.devices
    free_from: dict[int, list[float]] = {}  # device -> the end of the last operator on each core
    placed: list[tuple[int, int, int]] = []  # operator, device, lane
    for v in np.lexsort((np.arange(len(on)), table.end, table.start)).tolist():
        d, start = int(on[v]), float(table.start[v])
        held = int(min(tasks.cores[v], tasks.device_cores[d]))
        lanes = free_from.setdefault(d, [])
        free = [i for i, end in enumerate(lanes) if end <= start][:held]
        while len(free) < held:
            lanes.append(0.0)
            free.append(len(lanes) - 1)
        for lane in free:
            lanes[lane] = float(table.end[v])
            placed.append((v, d, lane))
    devices = sorted(free_from)
    first, rows = {}, list[int]()
    for d in devices:
        first[d] = len(rows)
        rows += [d] * len(free_from[d])
    return rows, [
        Bar(v, first[d] + lane, float(table.start[v]), float(table.end[v])) for v, d, lane in placed
    ]


def draw_schedule(path: str | Path, placement: Placement, score: MakespanScore) -> None:
    """Draw the schedule of a placement; the file's suffix sets the picture format.

    Raises
    ------
    UsageError, FormatError
        As `style.picture`.
    """
    rows, bars = rows_of(score)
    height = min(max(ROW * len(rows) + 1.4, LEAST), MOST)
    with picture(path, (WIDTH, height)) as figure:
        axes = figure.subplots()
        _draw_messages(axes, score, bars)
        _draw_bars(axes, placement, score, bars)
        _label_rows(axes, placement, rows)
        longest = score.timetable.makespan
        axes.set_xlim(0.0, longest or 1.0)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set(xlabel="seconds")
        axes.grid(visible=False, axis="y")
        axes.set_title(_title(score), loc="left")
        handles = [
            Patch(facecolor=NORMAL, label="operator"),
            Patch(facecolor=CRITICAL, label="on the critical path"),
            Line2D([], [], color=GREY, linewidth=0.8, label="message between devices"),
            Line2D([], [], color=CRITICAL, linewidth=1.3, label="message on the critical path"),
        ]
        legend_below(figure, handles, [str(handle.get_label()) for handle in handles])


def _title(score: MakespanScore) -> str:
    text = f"makespan {number(score.makespan_s)} s, order {score.order}"
    if score.bound_s is not None:
        least = limit_beside(score.makespan_s, score.bound_s, rounded_down)
        text += f"; no placement is below {least} s"
    return text + ("" if score.deviation_s is None else "; the first of the passes with noise")


def _draw_bars(axes: Axes, placement: Placement, score: MakespanScore, bars: list[Bar]) -> None:
    names = placement.problem.graph.names
    critical = {step.number for step in score.timetable.critical_path if step.kind == "operator"}
    longest = score.timetable.makespan or 1.0
    for is_critical, colour in ((False, NORMAL), (True, CRITICAL)):
        boxes = [
            Rectangle((bar.start, bar.row - 0.5 + GAP), bar.end - bar.start, 1.0 - 2 * GAP)
            for bar in bars
            if (bar.operator in critical) == is_critical
        ]
        style: dict[str, Any] = {
            "facecolor": colour,
            "edgecolor": "white",
            "linewidth": 0.4,
            "zorder": 3,
        }
        axes.add_collection(PatchCollection(boxes, **style))
    for bar in bars:
        room = int((bar.end - bar.start) / longest * LETTERS)
        name = names[bar.operator]
        if room >= min(len(name), 3):
            middle = (bar.start + bar.end) / 2
            text = shortened(name, room)
            axes.text(
                middle, bar.row, text, ha="center", va="center", color="white", size=7, zorder=4
            )


def _draw_messages(axes: Axes, score: MakespanScore, bars: list[Bar]) -> None:
    """Draw a line for every message, from the row of its producer to that of its receiver."""
    run, tasks = score.timetable.run, score.timetable.tasks
    row = {bar.operator: bar.row for bar in reversed(bars)}
    critical = {step.number for step in score.timetable.critical_path if step.kind == "message"}
    for is_critical, colour, width in ((False, GREY, 0.5), (True, CRITICAL, 1.3)):
        lines = [
            [
                (float(run.begin[run.message[k]]), row[int(tasks.source[k])]),
                (float(run.arrival[k]), row[int(tasks.target[k])]),
            ]
            for k in score.deliveries
            if (k in critical) == is_critical
        ]
        axes.add_collection(
            LineCollection(lines, colors=colour, linewidths=width, alpha=0.7, zorder=2)
        )


def _label_rows(axes: Axes, placement: Placement, rows: list[int]) -> None:
    """Name each device at the middle of its rows."""
    names, found = placement.problem.cluster.names, np.array(rows)
    devices = list(dict.fromkeys(rows))
    if len(devices) > NAMED_ROWS:
        axes.set(ylabel=f"{len(devices):,} devices")
        axes.set_yticks([])
        return
    middles = [float(np.flatnonzero(found == d).mean()) for d in devices]
    axes.set_yticks(middles, [shortened(names[d], 24) for d in devices])
    axes.tick_params(axis="y", length=0)
    for i in range(1, len(rows)):
        if rows[i] != rows[i - 1]:
            axes.axhline(i - 0.5, color="black", alpha=0.15, linewidth=0.6)
