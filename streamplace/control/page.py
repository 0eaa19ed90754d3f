"""The page of a controller: one HTML file, written anew after every window."""

from datetime import UTC, datetime
from html import escape
from pathlib import Path

from streamplace.control.decisions import Action, Decision
from streamplace.control.rules import Rules
from streamplace.control.timeline import Timeline
from streamplace.control.timeline_plot import timeline_svg
from streamplace.files.atomic import write_text

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
