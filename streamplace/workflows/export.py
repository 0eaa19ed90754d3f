"""Placements in the formats of other programs, with what these lose and assume."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamplace.errors import UsageError
from streamplace.files.placements import as_csv, as_json
from streamplace.files.writing import write_text
from streamplace.formats.registry import format_named
from streamplace.problem.placement import Placement
from streamplace.util.plugins import load_ours
from streamplace.workflows.result import PlacementResult, Result, placement_in
from streamplace.workflows.value_result import ValueResult

OWN = JSON, CSV = "json", "csv"
"""Formats of streamplace itself."""
DEPLOYMENT = "flink-deployment"
DEPLOYMENT_WRITER = "streamplace.engines.flink.deployment:document_of"
PLAN_NEEDED = "the ids of the running job's vertices: curl URL/jobs/ID/plan > plan.json"


@dataclass(frozen=True)
class Export:
    """A placement in the format of another program.

    Parameters
    ----------
    kind
        Name of the format.
    text
        The document. Its comments have the notes below, if the format has comments.
    lost
        Facts about the placement that the format cannot express, a sentence each.
    assumed
        What the format assumes, a sentence each.
    """

    kind: str
    text: str
    lost: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    def save(self, file: str | Path) -> None:
        """Write the document to a file."""
        write_text(file, self.text)


def export(
    placement: Placement | Result | ValueResult | None,
    kind: str,
    *,
    plan: str | Path | None = None,
    patch: str | Path | None = None,
    node_label: str | None = None,
    results: Mapping[str, Any] | None = None,
) -> Export:
    """Return a placement in the format of another program.

    Parameters
    ----------
    placement
        A placement, or a result of `place`; None for a format that is the same for all placements,
        such as ``flink-helper``.
    kind
        Name of the format, such as ``csv``, ``flink`` or ``kubernetes``; `export --help` lists all.
    plan
        With ``flink-deployment``, which needs it: the file with the plan of the running job, as
        ``/jobs/ID/plan`` of Flink's REST API returns it.
    patch
        With ``flink-deployment``: the file of the Kubernetes document to change; by default none.
    node_label
        With ``flink-deployment``: label of the Kubernetes nodes whose values are names of devices.
    results
        With ``json``: entries of the file such as the score; None: those of a result.

    Raises
    ------
    UsageError
        On an unknown format, an argument of another format, or one that is missing.
    FormatError
        If a file is not valid.
    ProblemError
        If the format cannot express the placement.
    """
    if kind != DEPLOYMENT:
        for name, value in (("plan", plan), ("patch", patch), ("node_label", node_label)):
            if value is not None:
                raise UsageError(f"export: {name} is for {DEPLOYMENT}, not {kind}")
    elif plan is None:
        raise UsageError(f"export: missing plan: {kind} needs {PLAN_NEEDED}")
    if placement is None:
        if needs_placement(kind):
            raise UsageError(f"export: {kind} needs a placement")
        return Export(kind, format_named(kind).text_of(None))
    if results is None:
        results = placement.stored() if isinstance(placement, PlacementResult) else {}
    placement = placement_in("export: placement", placement)
    if kind == DEPLOYMENT:
        return Export(kind, *load_ours(DEPLOYMENT_WRITER)(placement, plan, patch, node_label))
    if kind in OWN:
        return Export(kind, as_json(placement, **results) if kind == JSON else as_csv(placement))
    written = format_named(kind)
    text = written.text_of(placement)
    return Export(kind, text, tuple(written.lost(placement)), tuple(written.assumed(placement)))


def needs_placement(kind: str) -> bool:
    """Return whether a format depends on the placement."""
    return kind in (*OWN, DEPLOYMENT) or format_named(kind).needs_placement
