"""The input files that tests of the command line start from."""

import json
from dataclasses import dataclass
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
