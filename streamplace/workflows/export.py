"""Placements in the formats of other programs, with what these lose and assume."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamplace.errors import UsageError
from streamplace.files.placements import EXPORTERS
from streamplace.files.reading import name_of, read_text
from streamplace.files.writing import write_text
from streamplace.integrations.export_notes import assumptions, losses
from streamplace.integrations.flink import deployment
from streamplace.integrations.flink.plan import read_running
from streamplace.integrations.flink.slot_groups import helper_source
from streamplace.integrations.gnuradio import grc
from streamplace.integrations.kubernetes_pods import dns_label
from streamplace.integrations.registry import WRITERS, export_text
from streamplace.integrations.yaml import to_yaml
from streamplace.problem.placement import Placement
from streamplace.util.suggest import valid_choices
from streamplace.workflows.result import MakespanResult, PlacementResult, Result, placement_in

DEPLOYMENT, GNURADIO = "flink-deployment", "gnuradio"
KINDS = ("json", "csv", "cepsim", DEPLOYMENT, GNURADIO, *WRITERS)
"""The names of all formats."""
PROGRAMS = {"flink-helper": helper_source, "gnuradio-counters": grc.helper_source}
"""Format that needs no placement -> what returns its text."""
ARGUMENTS = {
    "plan": (DEPLOYMENT,),
    "patch": (DEPLOYMENT, GNURADIO),
    "node_label": (DEPLOYMENT,),
}
"""Argument of `export` -> the formats that it is for."""
NEEDED = {
    GNURADIO: ("patch", "the flowgraph (.grc)"),
    DEPLOYMENT: (
        "plan",
        "the ids of the running job's vertices: curl URL/jobs/ID/plan > plan.json",
    ),
}
"""Format -> an argument that it needs, and what that is."""


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
    placement: Placement | Result | MakespanResult | None,
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
        A placement, or a result of `place`; None for the programs ``flink-helper`` and
        ``gnuradio-counters``, which are the same for all placements.
    kind
        Name of the format, such as ``csv``, ``flink`` or ``kubernetes``; `export --help` lists all.
    plan
        With ``flink-deployment``, which needs it: the file with the plan of the running job, as
        ``/jobs/ID/plan`` of Flink's REST API returns it.
    patch
        The document to change: with ``gnuradio`` the file of the flowgraph; with
        ``flink-deployment`` that of a Kubernetes document, by default none.
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
    _check(kind, {"plan": plan, "patch": patch, "node_label": node_label})
    if placement is None:
        if kind not in PROGRAMS:
            raise UsageError(f"export: {kind} needs a placement")
        return Export(kind, PROGRAMS[kind]())
    if results is None:
        results = placement.stored() if isinstance(placement, PlacementResult) else {}
    placement = placement_in("export: placement", placement)
    if plan is not None:
        return _deployment(placement, plan, patch, node_label)
    if kind == GNURADIO:
        text = grc.write(placement, *_document(str(patch)))
    elif kind in WRITERS:
        text = export_text(placement, kind)
    else:
        text = EXPORTERS[kind](placement, **(results if kind == "json" else {}))
    return Export(kind, text, tuple(losses(placement, kind)), tuple(assumptions(placement, kind)))


def _check(kind: str, values: Mapping[str, object]) -> None:
    """Refuse an unknown format, arguments of another format, and arguments that are missing."""
    if kind not in KINDS:
        raise UsageError(f"export: unknown format {kind!r}{valid_choices(kind, KINDS)}")
    for name, value in values.items():
        if value is not None and kind not in ARGUMENTS[name]:
            raise UsageError(f"export: {name} is for {' or '.join(ARGUMENTS[name])}, not {kind}")
    name, what = NEEDED.get(kind, ("", ""))
    if name and values[name] is None:
        raise UsageError(f"export: missing {name}: {kind} needs {what}")


def _deployment(
    placement: Placement, plan: str | Path, patch: str | Path | None, label: str | None
) -> Export:
    """Return what the Flink Kubernetes operator needs to run a placement's numbers of instances."""
    running, base = read_running(read_text(plan), name_of(plan)), None
    if patch is not None:
        base = deployment.base_document(*_document(patch))
        metadata = base["metadata"]
        owner = deployment.Owner(base["kind"], metadata["name"], metadata.get("namespace", ""))
    else:
        name = placement.job or placement.problem.graph.name or "job"
        owner = deployment.Owner(deployment.DEPLOYMENT, dns_label(name))
    document = deployment.write(placement, owner, running, label)
    lost, assumed = deployment.losses(placement, label), deployment.assumptions(label)
    notes = [f"# Lost: {each}\n" for each in lost] + [f"# Assumed: {each}\n" for each in assumed]
    head = "".join(notes) + deployment.HEAD
    if base is None or patch is None:
        head += f"# {owner.command}\n"
    else:
        document = deployment.patched(base, document)
        lost.append(f"comments of {name_of(patch)}")
    return Export(DEPLOYMENT, head + to_yaml([document]), tuple(lost), tuple(assumed))


def _document(file: str | Path) -> tuple[str, str]:
    """Return the text of a file, and its name in messages."""
    return read_text(file), name_of(file)
