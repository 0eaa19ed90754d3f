"""Placements as text for others."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

from streamplace.files import cepsim
from streamplace.files.placements import placement_to
from streamplace.placement import Placement


def to_json(placement: Placement, **results: Any) -> str:
    """Return our own format; `results` as for `placement_to`."""
    return _json(placement_to(placement, **results))


def to_csv(placement: Placement) -> str:
    """Return a header ``operator,device`` and a line an operator."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("operator", "device"))
    writer.writerows(placement.assignment.items())
    return text.getvalue()


def to_cepsim(placement: Placement) -> str:
    """Return what CEPSim's runner takes."""
    return _json(cepsim.placement_to(placement))


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


EXPORTERS: dict[str, Callable[..., str]] = {
    "json": to_json,
    "csv": to_csv,
    "cepsim": to_cepsim,
}
