"""The input files that tests of the command line start from."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from streamplace.cli.main import main

GRAPH: dict[str, Any] = {
    "format": "streamplace-graph",
    "version": 1,
    "name": "line",
    "source_rate": 1000.0,
    "operators": [
        {"name": "a", "instructions": 1000.0, "payload_bytes": 100.0},
        {"name": "b", "instructions": 2000.0, "payload_bytes": 100.0},
        {"name": "c", "instructions": 3000.0, "payload_bytes": 0.0},
    ],
    "streams": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}],
}
CLUSTER: dict[str, Any] = {
    "format": "streamplace-cluster",
    "version": 1,
    "devices": [{"name": "d0", "mips": 2500.0}, {"name": "d1", "mips": 2500.0}],
}


def chain(
    names: Sequence[str], instructions: float, source_rate: float = 1000, payload_bytes: float = 10
) -> dict[str, Any]:
    """Return the JSON of a graph of equal operators, each of which feeds the next."""
    same = {"instructions": instructions, "payload_bytes": payload_bytes}
    return {
        "format": "streamplace-graph",
        "version": 1,
        "source_rate": source_rate,
        "operators": [{"name": name, **same} for name in names],
        "streams": [{"source": one, "target": other} for one, other in pairwise(names)],
    }


@dataclass(frozen=True)
class InputFiles:
    """A graph, a cluster, and two placements of the graph.

    `placement` is in streamplace's format and puts every operator on its own device; `cepsim` is
    in CEPSim's format and uses two devices.
    """

    graph: Path
    cluster: Path
    placement: Path
    cepsim: Path


def write_input_files(folder: Path) -> InputFiles:
    """Write the four files into a folder."""
    cepsim = {"placements": [{"idx": 0, "ops": [0, 1]}, {"idx": 1, "ops": [2]}]}
    names = ("graph.json", "cluster.json", "placement.json", "cepsim.json")
    files = InputFiles(*(folder / name for name in names))
    files.graph.write_text(json.dumps(GRAPH))
    files.cluster.write_text(json.dumps(CLUSTER))
    files.cepsim.write_text(json.dumps(cepsim))
    spread = ["--placer", "round-robin", "-o", str(files.placement)]
    assert main(["place", str(files.graph), *spread]) == 0
    return files
