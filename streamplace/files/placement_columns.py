"""Placements as .npz: the columns of their graph, the device of each operator, and the rest."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from streamplace.errors import FormatError, ProblemError, located
from streamplace.files.clusters import cluster_from
from streamplace.files.npz import (
    DEVICES,
    PLACEMENT,
    load_columns,
    names_of,
    text_of,
    write_columns,
)
from streamplace.files.own import KINDS
from streamplace.files.reading import name_of, parse
from streamplace.files.writing import atomic
from streamplace.problem.placement import Placement

NPZ = ".npz"
"""How the name of such a file ends."""


def write_placement_columns(path: str | Path, placement: Placement, about: Any) -> None:
    """Write a placement as uncompressed .npz.

    Parameters
    ----------
    about
        The placement file as a JSON value, without ``assignment`` and the graph.
    """
    placed: dict[str, np.ndarray] = {
        PLACEMENT: np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        DEVICES: placement.devices,
    }
    with atomic(path) as file:
        write_columns(placement.problem.graph, file, placed)


def holds_placement(path: str | Path) -> bool:
    """Return whether an .npz file holds a placement, rather than a graph."""
    return PLACEMENT in load_columns(path)


def read_placement_columns(path: str | Path) -> dict[str, Any]:
    """Return an .npz placement as the JSON value of a placement whose graph is in the same file.

    Raises
    ------
    FormatError
        If the file does not hold a placement; the message names the file and the fault.
    """
    where = name_of(path)
    columns = load_columns(path)
    if PLACEMENT not in columns:
        raise FormatError(f"{where}: is {KINDS['streamplace-graph']}; a placement is expected")
    place = f"{where}: {PLACEMENT}"
    with located(where, FormatError):
        names = names_of(columns)
        value = parse(text_of(columns[PLACEMENT], PLACEMENT), place, is_line=True)
    problem = value.get("problem") if isinstance(value, Mapping) else None
    if not isinstance(problem, dict) or "graph_sha256" not in problem:
        raise FormatError(f"{place}: has no problem with graph_sha256")
    devices = cluster_from(problem.get("cluster"), f"{place}: problem.cluster").names
    at = columns[DEVICES]
    with located(where, FormatError):
        if len(at) != len(names) or not 0 <= at.min(initial=0) <= at.max(initial=0) < len(devices):
            raise ProblemError(f"{DEVICES}: expected the index of a device for each operator")
    assignment = {name: devices[d] for name, d in zip(names, at.tolist(), strict=True)}
    graph = {"path": str(path), "sha256": problem.pop("graph_sha256")}
    return {**value, "assignment": assignment, "problem": {**problem, "graph": graph}}
