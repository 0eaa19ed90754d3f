"""Placements as JSON, CSV or CEPSim text."""

from collections.abc import Callable
from typing import Any

from streamplace.files import cepsim
from streamplace.files.assignments import csv_of
from streamplace.files.json_text import to_json
from streamplace.files.placements import placement_to
from streamplace.problem.placement import Placement


def as_json(placement: Placement, **results: Any) -> str:
    """Return a placement in streamplace's JSON format; `results` as for `placement_to`."""
    return to_json(placement_to(placement, **results))


def as_csv(placement: Placement) -> str:
    """Return a CSV table with the header ``operator,device`` and one line per operator."""
    return csv_of(placement.assignment)


def as_cepsim(placement: Placement) -> str:
    """Return a placement as JSON text for CEPSim's runner."""
    return to_json(cepsim.placement_to(placement))


EXPORTERS: dict[str, Callable[..., str]] = {
    "json": as_json,
    "csv": as_csv,
    "cepsim": as_cepsim,
}
