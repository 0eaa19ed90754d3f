"""The report of placements, as figures and as a page."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from streamplace.errors import UsageError
from streamplace.files.writing import write_text
from streamplace.problem.placement import Placement
from streamplace.reports.data import Entry, entry
from streamplace.reports.html import report_html
from streamplace.reports.schedules import ScheduleEntry
from streamplace.util.plugins import load_ours
from streamplace.workflows.result import PlacementResult, Result, placement_in
from streamplace.workflows.value_result import ValueResult

OUTCOMES = "streamplace.jobs.files:outcomes_in"
ANSWER = "streamplace.latency.limit:stored_answer"
"""Read what a placement file says of several jobs, and of a limit on latency; few have either."""


@dataclass(frozen=True)
class Report:
    """Placements with their figures, and an interactive HTML page that shows them.

    Parameters
    ----------
    entries
        The placements, at least one.
    """

    entries: tuple[Entry | ScheduleEntry, ...]

    def html(self, written: str = "") -> str:
        """Return the page, a single file that works offline.

        Parameters
        ----------
        written
            The time at which the page is written, in words; empty: the page shows none.
        """
        return report_html(self.entries, written)

    def save(self, file: str | Path) -> None:
        """Write the page to a file, with the time of now."""
        write_text(file, self.html(datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")))

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of each placement, as `report --json` prints them."""
        rows = [{"placer": one.placer or None, **one.to_dict()} for one in self.entries]
        return {"placements": rows}


def report(
    placements: Placement | Result | ValueResult | Mapping[str, Placement | Result | ValueResult],
) -> Report:
    """Return the report of placements: their figures, and a page on which users can change them.

    Parameters
    ----------
    placements
        A placement or a result of `place`, or several by their titles on the page.

    Raises
    ------
    UsageError
        If there is no placement, if the page cannot compute an objective, such as a user's, or if
        the graph of a schedule is too large for it.
    StreamplaceError
        If a placement cannot be scored.
    """
    if not isinstance(placements, Mapping):
        placement = placement_in("report: placements", placements)
        placements = {placement.job or placement.problem.graph.name or "placement": placements}
    if not placements:
        raise UsageError("report: placements is empty; pass one or more")
    entries = []
    for title, found in placements.items():
        placement = placement_in(f"report: placements[{title!r}]", found)
        stored = found.stored() if isinstance(found, PlacementResult) else {}
        entries.append(stored_entry(title, placement, stored, title))
    return Report(tuple(entries))


def stored_entry(
    title: str, placement: Placement, stored: dict[str, Any], where: str
) -> Entry | ScheduleEntry:
    """Score a placement for a report, and add what its file says of it; see `entry`.

    Parameters
    ----------
    stored
        The entries of the placement file that hold for the placement as it is shown.
    where
        The name of the file in errors.
    """
    made = entry(title, placement, stored.get("placer", ""), stored.get("bound"))
    return replace(
        made,
        jobs=load_ours(OUTCOMES)(stored, where) if stored.get("jobs") else [],
        latency=load_ours(ANSWER)(stored["latency"]) if stored.get("latency") else "",
        inputs=tuple((stored.get("inputs") or {}).values()),
        fewer_devices=stored.get("fewer_devices"),
    )
