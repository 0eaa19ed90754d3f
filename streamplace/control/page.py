"""The page of a controller: one HTML file with its timeline, written anew after every window."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from html import escape
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.ticker import FuncFormatter

from streamplace.control.decisions import Action, Decision
from streamplace.control.rules import Rules
from streamplace.control.timeline import Point, Timeline
from streamplace.files.atomic import write_text
from streamplace.plots.style import COLOURS, GREY, drawn, legend_right, line, save

SIZE = (10.4, 7.2)  # width and height in inches
DAY_S = 86_400.0
MARKED = 20  # windows up to which each has a marker
ACTED = {
    Action.ACT: ("acted", "-"),
    Action.ADVISE: ("advised", ":"),
    Action.REFUSED: ("refused", "--"),
}


def timeline_svg(points: Sequence[Point], rules: Rules) -> str:
    """Return a plot as SVG.

    Parameters
    ----------
    points
        At least one, in the order of time.
    rules
        Their band is shaded.
    """
    with drawn(SIZE) as figure:
        rates, waiting, busy = figure.subplots(3, 1, sharex=True, height_ratios=(3, 2, 3))
        _line(rates, points, lambda p: p.offered_s, "offered", 0)
        _line(rates, points, lambda p: p.read_s, "read", 1)
        rates.set(ylabel="tuples/s", title="rates of the sources")
        _line(waiting, points, lambda p: p.waiting, "waiting", 0)
        waiting.set(ylabel="tuples", title="tuples that wait at the sources")
        busy.axhspan(rules.low, rules.high, color=COLOURS[2], alpha=0.12, linewidth=0)
        _line(busy, points, lambda p: p.busiest, "busiest instance", 0)
        busy.axhline(rules.target, color=GREY, linewidth=0.9, label="target")
        busy.set(ylabel="busy", title="utilisation (shaded: nothing is done)", ylim=(0, 1.05))
        busy.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.0%}"))
        for axes in (rates, waiting):
            axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.6g}"))
        for axes in (rates, waiting, busy):
            _mark_actions(axes, points)
            legend_right(axes, axes.get_legend_handles_labels()[0])
        locator = AutoDateLocator(tz=UTC)  # type: ignore[no-untyped-call]
        busy.xaxis.set_major_locator(locator)
        busy.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=UTC))  # type: ignore[no-untyped-call]
        busy.set_xlabel("UTC")
        file = BytesIO()
        save(figure, file, "svg")
    text = file.getvalue().decode()
    return text[text.index("<svg") :]  # without the XML declaration


def _line(
    axes: Axes, points: Sequence[Point], of: Callable[[Point], float | None], name: str, i: int
) -> None:
    """Draw a quantity, with gaps where it is unknown."""
    values = [np.nan if (value := of(point)) is None else value for point in points]
    look = line(i) | {"marker": line(i)["marker"] if len(points) <= MARKED else ""}
    axes.plot(_times(points), values, **look, label=name)


def _times(points: Sequence[Point]) -> list[float]:
    """Return the ends of the windows in days since 1970, as matplotlib counts them."""
    return [point.decision.at_s / DAY_S for point in points]


def _mark_actions(axes: Axes, points: Sequence[Point]) -> None:
    """Draw a vertical line at each action, each refusal and each new advice."""
    marked = set[Action]()
    before = None
    for at, point in zip(_times(points), points, strict=True):
        decision = point.decision
        plan = None if decision.plan is None else decision.plan.deployment.key
        new, before = (decision.action, plan) != before, (decision.action, plan)
        if decision.action in ACTED and new:
            name, dashes = ACTED[decision.action]
            label = None if decision.action in marked else name
            axes.axvline(at, color="black", linewidth=0.9, linestyle=dashes, label=label)
            marked.add(decision.action)


ROWS = 500
STYLE = """
:root { color-scheme: light dark; --soft: #5b6675; --line: #dfe4ea; --act: #c4261d; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 1100px; padding: 18px; }
h1 { font-size: 21px; } p { color: var(--soft); }
figure { background: #fff; border-radius: 8px; margin: 0; overflow-x: auto; padding: 8px; }
figure svg { height: auto; max-width: 100%; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: 6px 10px 6px 0; text-align: left;
  vertical-align: top; }
td:nth-child(-n+3) { white-space: nowrap; }
tr.act td:nth-child(3) { color: var(--act); font-weight: 650; }
tr.advise td:nth-child(3), tr.refused td:nth-child(3) { font-weight: 650; }
@media (prefers-color-scheme: dark) { :root { --soft: #9aa6b5; --line: #2b323d; --act: #ff7a6e; } }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def write_page(path: str | Path, job: str, mode: str, timeline: Timeline, rules: Rules) -> None:
    """Write the page; browsers that show it load it again after every window.

    Parameters
    ----------
    job
        What the page calls the job.
    mode
        ``advise`` or ``apply``.
    timeline
        With at least one window.

    Raises
    ------
    FormatError
        If the file cannot be written; a former one is kept.
    """
    write_text(path, page_html(job, mode, timeline, rules))


def page_html(job: str, mode: str, timeline: Timeline, rules: Rules) -> str:
    """Return the page as text; see `write_page`. It loads nothing else."""
    latest = timeline.points[-1].decision
    doing = "It changes the job." if mode == "apply" else "It changes nothing: it advises only."
    shown = list(timeline.decisions())[:ROWS]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        f'<meta http-equiv="refresh" content="{max(1, round(rules.window_s))}">',
        f"<title>{escape(job)} · streamplace watch</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(job)}</h1>",
        f"<p>{escape(str(latest.state))}, {_time(latest)} UTC. {doing}</p>",
        f"<figure>{timeline_svg(timeline.points, rules)}</figure>",
        "<h2>Decisions</h2>",
        "<table><tr><th>UTC<th>state<th>decision<th>reason</tr>",
        *map(_row, shown),
        "</table></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _row(decision: Decision) -> str:
    kind = "" if decision.action == Action.NOTHING else f' class="{decision.action}"'
    cells = (_time(decision), str(decision.state), str(decision.action), decision.reason)
    return f"<tr{kind}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _time(decision: Decision) -> str:
    return datetime.fromtimestamp(decision.at_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
