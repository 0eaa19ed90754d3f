"""The results as a page of Markdown."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.control.rules import NOTHING
from streamplace.util.arrays import Floats
from streamplace.util.effect import mean_intervals

TABLE = "control.md"  # file of the page
LEAST = 0.01  # percentage points of the served share that count as a difference
COLUMNS = (
    "rule",
    "served share, % [95%]",
    "served on the worst trace, %",
    "traces on which doing nothing serves more; by at most, percentage points",
    "mean waiting, tuples",
    "delayed, %",
    "rescales",
    "machine-hours",
    "rescales that paid, %",
)


def page(rows: Sequence[dict[str, Any]], command: str, settings: dict[str, Any]) -> str:
    """Return the page of results, one row of which is the figures of all rules on a trace."""
    rows = sorted(rows, key=lambda row: int(row["seed"]))
    names = list(rows[0]["rules"])
    low_s, high_s = settings["downtime_s"]
    lines = [
        "# The controller compared with other rules on simulated traces",
        "",
        f"Means over {len(rows)} traces of six hours, from seed {rows[0]['seed']} on.",
        f"Restarts take {low_s:g} to {high_s:g} s without output. Commit {settings['commit']}.",
        "",
        f"    {command}",
        "",
        _row(COLUMNS),
        _row(["---", *["---:"] * (len(COLUMNS) - 1)]),
        *(_row(_cells(name, rows)) for name in names),
        "",
        "A tuple is delayed if it is offered in a step of 10 s after which some wait.",
        "A rescale pays if, an hour later, it has freed machines for more than the price of the",
        "tuples that it delayed, or has delayed fewer tuples than doing nothing from the same",
        f"state. Shares that differ by {LEAST:g} percentage points or less count as equal.",
        "",
        "## Served share by kind of trace, %",
        "",
        *_by_kind(names, rows),
        "",
    ]
    return "\n".join(lines)


def _cells(name: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    column = {key: np.array([row["rules"][name][key] for row in rows]) for key in _KEYS}
    share = _shares(name, rows)
    less = _shares(NOTHING, rows) - share
    low, high = mean_intervals(share[None])[0]
    actions, paid = int(column["actions"].sum()), int(column["paid"].sum())
    return [
        name,
        f"{share.mean():.3f} [{low:.3f}, {high:.3f}]",
        f"{share.min():.1f}",
        f"{(less > LEAST).sum()}; {less.max():.2f}" if (less > LEAST).any() else "0",
        f"{column['mean_waiting'].mean():,.0f}",
        f"{100.0 * (column['delayed'] / column['offered']).mean():.2f}",
        f"{actions / len(rows):.2f}",
        f"{column['machine_s'].mean() / 3600.0:.2f}",
        f"{100.0 * paid / actions:.0f}" if actions else "-",
    ]


def _by_kind(names: Sequence[str], rows: Sequence[dict[str, Any]]) -> list[str]:
    kinds = sorted({row["kind"] for row in rows})
    lines = [_row(["rule", *kinds]), _row(["---", *["---:"] * len(kinds)])]
    for name in names:
        of = [[row for row in rows if row["kind"] == kind] for kind in kinds]
        shares = [_shares(name, part).mean() for part in of]
        lines.append(_row([name, *(f"{share:.3f}" for share in shares)]))
    return lines


def _shares(name: str, rows: Sequence[dict[str, Any]]) -> Floats:
    """Return the shares of the tuples that a rule serves on each trace, in percent."""
    figures = [row["rules"][name] for row in rows]
    return np.array([100.0 * one["served"] / one["offered"] for one in figures])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


_KEYS = ("offered", "mean_waiting", "actions", "paid", "machine_s", "delayed")
