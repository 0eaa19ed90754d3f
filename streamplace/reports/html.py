"""The report as one HTML file that loads nothing else, and in which names cannot become markup."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from streamplace.reports.data import Entry, data_of
from streamplace.reports.schedules import PASS_SCRIPTS, ScheduleEntry

PARTS = files("streamplace.reports") / "page"
VENDORED = ("cytoscape", "dagre")
SCHEDULE = ("tasks", "queues", "run", "messages", "dispatch", "engine", "critical", "division")
SCRIPTS = (  # in order: each script uses those before it
    "text",
    "labels",
    "times",
    "flow",
    "links",
    "model",
    "limits",
    *SCHEDULE,
    "rules",
    "without",
    "state",
    "throughput",
    *PASS_SCRIPTS.values(),
    "view",
    "colours",
    "layout",
    "style",
    "elements",
    "sight",
    "graph",
    "tiles",
    "pictures",
    "bars",
    "cards",
    "moments",
    "details",
    "controls",
    "facts",
    "folds",
    "paper",
    "operators",
    "jobs",
    "timeline",
    "chart",
    "pointer",
    "gantt",
    "frame",
    "download",
    "keys",
    "main",
)


def report_html(entries: Sequence[Entry | ScheduleEntry], written: str = "") -> str:
    """Return a page that shows placements and the effect of edits to them.

    The page is self-contained: its Content-Security-Policy allows the scripts in it and nothing
    else.

    Parameters
    ----------
    entries
        At least one.
    written
        The time at which the page is written, in words; empty: the page shows none.
    """
    scripts = [_library(name) for name in VENDORED]
    scripts += [_read(PARTS / f"{name}.js") for name in SCRIPTS]
    filled = {
        "policy": _policy(scripts),
        "title": html.escape(_title(entries)),
        "style": _read(PARTS / "style.css"),
        "data": _json(data_of(entries, written)),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    return re.sub(r"{{(\w+)}}", lambda match: filled[match[1]], _read(PARTS / "template.html"))


def _title(entries: Sequence[Entry | ScheduleEntry]) -> str:
    graph = entries[0].placement.problem.graph
    return f"{graph.name[:80] or entries[0].title[:80]} · streamplace"


def _policy(scripts: Sequence[str]) -> str:
    """Return a policy that allows only these scripts, and inline styles, which Cytoscape sets."""
    hashes = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _json(value: dict[str, Any]) -> str:
    """Return plain ASCII JSON, with the characters of HTML markup escaped."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _library(name: str) -> str:
    """Return a library with its licence and without references to source maps."""
    folder = PARTS / "vendor"
    script = re.sub(r"//# sourceMappingURL=\S*", "", _read(folder / f"{name}.min.js"))
    return f"/*!\n{_read(folder / f'{name}.LICENSE')}*/\n{script}"


def _read(part: Traversable) -> str:
    return part.read_text(encoding="utf-8")
