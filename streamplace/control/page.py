"""The page of a controller: one HTML file with its timeline, written anew after every window."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC
from html import escape
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.ticker import FuncFormatter

from streamplace.control.decisions import (
    Action,
    Decision,
    Point,
    State,
    Timeline,
    clock,
    rate,
    tuples,
)
from streamplace.control.settings import ControllerSettings
from streamplace.files.writing import write_text
from streamplace.pictures.style import COLOURS, GREY, legend_below, line, save, styled_figure

SIZE = (4.6, 2.9)  # width and height of a plot in inches, narrow enough for a telephone
DAY_S = 86_400.0
SHOWN = 6  # operators whose instances are drawn; more lines are hard to tell apart
MARKED = 20  # windows up to which each has a marker; more would run into each other
ACTED = {
    Action.ACT: ("acted", "-"),
    Action.ADVISE: ("advised", ":"),
    Action.REFUSED: ("refused", "--"),
}
ROWS = 500  # decisions in the tables, so that the page stays quick to load
WORDS = 15  # of the reason of a rescale, which fit a row; the table of all decisions has the rest
STYLE = """
:root { color-scheme: light dark; --soft: #5b6675; --line: #dfe4ea; --act: #c4261d; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 1100px; padding: 18px; }
h1 { font-size: 21px; overflow-wrap: anywhere; } h2 { font-size: 15px; } p { color: var(--soft); }
dl { display: flex; flex-wrap: wrap; gap: 8px 32px; } dt { color: var(--soft); font-size: 12px; }
dd { font-size: 18px; font-weight: 650; margin: 0; font-variant-numeric: tabular-nums; }
figure { background: #fff; border-radius: 8px; display: grid; gap: 8px; margin: 0; padding: 8px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 330px), 1fr)); }
figure svg { display: block; height: auto; width: 100%; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: 6px 10px 6px 0; text-align: left;
  vertical-align: top; overflow-wrap: break-word; }
td:first-child { font-variant-numeric: tabular-nums; }
tr.act td:nth-child(2) { color: var(--act); font-weight: 650; }
tr.advise td:nth-child(2), tr.refused td:nth-child(2) { font-weight: 650; }
@media (prefers-color-scheme: dark) { :root { --soft: #9aa6b5; --line: #2b323d; --act: #ff7a6e; } }
@media (max-width: 600px) { .log tr { border-bottom: 1px solid var(--line); display: block; }
  .log tr:first-child { display: none; } .log td { border: 0; display: inline-block;
  padding: 3px 9px 3px 0; }
  .log td:last-child { display: block; } }
@media print { @page { size: A4; margin: 11mm; } body { font-size: 8.5pt; padding: 0; }
  :root { color-scheme: light; --soft: #5b6675; --line: #dfe4ea; --act: #c4261d; }
  figure { break-inside: avoid; grid-template-columns: 1fr 1fr; padding: 0; }
  tr { break-inside: avoid; } h2 { break-after: avoid; }
  td, th { padding: 2px 6px 2px 0; } }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
NONE = "<tr><td>none</tr>"


def panels(points: Sequence[Point], settings: ControllerSettings) -> list[str]:
    """Return plots as SVG, each narrow enough for a telephone: rates, waiting, busy, instances.

    Parameters
    ----------
    points
        At least one, in the order of time.
    settings
        Their band is shaded.
    """

    def rates(axes: Axes) -> None:
        _line(axes, points, lambda p: p.offered_s, "offered", 0)
        _line(axes, points, lambda p: p.carried_s, "carried", 1)
        axes.set(title="tuples/s")

    def waiting(axes: Axes) -> None:
        _line(axes, points, lambda p: p.waiting, "waiting", 0)
        axes.set(title="tuples that wait at the sources")

    def busy(axes: Axes) -> None:
        axes.axhspan(settings.low, settings.high, color=COLOURS[2], alpha=0.12, linewidth=0)
        _line(axes, points, lambda p: p.busiest, "busiest instance", 0)
        axes.axhline(settings.target, color=GREY, linewidth=0.9, label="target")
        axes.set(title="utilisation (shaded: nothing is done)")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.0%}"))

    def instances(axes: Axes) -> None:
        for i, name in enumerate(_drawn_operators(points)):
            _line(axes, points, lambda p, name=name: p.instances.get(name), name, i)  # type: ignore[misc]
        axes.set(title="instances (the operators that change most)")

    return [_panel(points, draw) for draw in (rates, waiting, busy, instances)]


def _panel(points: Sequence[Point], draw: Callable[[Axes], None]) -> str:
    with styled_figure(SIZE) as figure:
        axes = figure.subplots()
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.10g}"))
        draw(axes)
        axes.set_ylim(0, max(1.05, axes.get_ylim()[1]))
        _mark_actions(axes, points)
        handles, names = axes.get_legend_handles_labels()
        legend_below(figure, handles, names)
        locator = AutoDateLocator(tz=UTC, minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=UTC))  # type: ignore[no-untyped-call]
        file = BytesIO()
        save(figure, file, "svg")
    text = file.getvalue().decode()
    return text[text.index("<svg") :]  # without the XML declaration


def _drawn_operators(points: Sequence[Point]) -> list[str]:
    """Return the operators whose instances are drawn: those with the most different numbers."""
    numbers = dict[str, set[int]]()
    for point in points:
        for name, count in point.instances.items():
            numbers.setdefault(name, set()).add(count)
    return sorted(numbers, key=lambda name: (-len(numbers[name]), name))[:SHOWN]


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


def write_page(
    path: str | Path,
    job: str,
    mode: str,
    timeline: Timeline,
    settings: ControllerSettings,
    *,
    ended: bool = False,
) -> None:
    """Write the page; browsers that show it load it again after every window until it has ended.

    Parameters
    ----------
    job
        What the page calls the job.
    mode
        ``advise`` or ``apply``.
    timeline
        With at least one window.
    ended
        Whether the job is no longer watched.

    Raises
    ------
    FormatError
        If the file cannot be written; a former one is kept.
    """
    write_text(path, page_html(job, mode, timeline, settings, ended=ended))


def page_html(
    job: str, mode: str, timeline: Timeline, settings: ControllerSettings, *, ended: bool = False
) -> str:
    """Return the page as text; see `write_page`. It loads nothing else."""
    latest = timeline.points[-1]
    doing = "It changes the job." if mode == "apply" else "It changes nothing: it advises only."
    live = f'<meta http-equiv="refresh" content="{max(1, round(settings.window_s))}">'
    until = "The job is no longer watched." if ended else doing
    decided = list(timeline.decided())[:ROWS]
    rescales = [_row(point, brief(point)) for point in decided if point.decision.plan is not None]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        *([] if ended else [live]),
        f"<title>{escape(job)} · streamplace watch</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(job)}</h1>",
        f"<p>{clock(latest.decision.at_s)} UTC. {until}</p>",
        _figures(latest),
        f"<figure>{''.join(panels(timeline.points, settings))}</figure>",
        *_table("Instances per operator", ("operator", "now", "planned"), _instances(latest)),
        *_table("Rescales", ("UTC", "decision", "what", "reason"), rescales or [NONE]),
        *_table("All decisions", ("UTC", "decision", "state", "reason"), map(_full, decided)),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def brief(point: Point) -> str:
    """Return why a job is rescaled, in at most `WORDS` words."""
    decision = point.decision
    if decision.action is Action.REFUSED or decision.state is State.ROLLING_BACK:
        text = decision.why
    else:
        text = str(decision.state)
        if point.busiest is not None:
            text += f", busiest instance {point.busiest:.0%}"
        if point.offered_s is not None and point.carried_s is not None:
            text += f", {rate(point.carried_s)} of {rate(point.offered_s)} carried"
            if decision.plan is not None and decision.plan.carries_s < point.offered_s:
                text += f", then {rate(decision.plan.carries_s)}"
    words = text.split()
    return " ".join(words) if len(words) <= WORDS else f"{' '.join(words[:WORDS])}…"


def _figures(point: Point) -> str:
    """Return the figures of the latest window."""

    rates = {"offered": point.offered_s, "carried": point.carried_s}
    figures = {
        "state": str(point.decision.state),
        **{name: "unknown" if value is None else rate(value) for name, value in rates.items()},
        "waiting": "unknown" if point.waiting is None else tuples(point.waiting),
        "busiest instance": "unknown" if point.busiest is None else f"{point.busiest:.0%}",
        "instances": str(sum(point.instances.values())),
    }
    cells = (f"<div><dt>{term}<dd>{escape(value)}</div>" for term, value in figures.items())
    return f"<dl>{''.join(cells)}</dl>"


def _table(title: str, heads: Sequence[str], rows: Iterable[str]) -> list[str]:
    head = "".join(f"<th>{each}" for each in heads)
    kind = ' class="log"' if heads[0] == "UTC" else ""
    return [f"<h2>{title}</h2>", f"<table{kind}><tr>{head}</tr>", *rows, "</table>"]


def _instances(point: Point) -> list[str]:
    plan = point.decision.plan
    planned = {} if plan is None else plan.deployment.parallelism
    rows = ((name, count, planned.get(name, count)) for name, count in point.instances.items())
    return [f"<tr><td>{escape(name)}<td>{now}<td>{then}</tr>" for name, now, then in rows]


def _row(point: Point, reason: str) -> str:
    """Return the row of a rescale: which operators get other numbers of instances, and why."""
    decision, now = point.decision, point.instances
    planned = {} if decision.plan is None else decision.plan.deployment.parallelism
    changes = [
        f"{name} {now.get(name, 0)} → {count}"
        for name, count in sorted(planned.items())
        if count != now.get(name, 0)
    ]
    return _cells(decision, ", ".join(changes) or "other devices", reason)


def _full(point: Point) -> str:
    return _cells(point.decision, str(point.decision.state), point.decision.reason)


def _cells(decision: Decision, *texts: str) -> str:
    kind = "" if decision.action == Action.NOTHING else f' class="{decision.action}"'
    cells = (clock(decision.at_s), str(decision.action), *texts)
    return f"<tr{kind}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
