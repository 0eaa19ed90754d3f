"""A small good job as files: what the bad ones are bad against."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

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
class Job:
    """Files of one job: its graph, its cluster, and two placements.

    `placement` is ours and has a device an operator; `cepsim` is CEPSim's and uses two.
    """

    graph: Path
    cluster: Path
    placement: Path
    cepsim: Path


@pytest.fixture(scope="session")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """The good job; tests only read it."""
    folder = tmp_path_factory.mktemp("job")
    cepsim = {"placements": [{"idx": 0, "ops": [0, 1]}, {"idx": 1, "ops": [2]}]}
    names = ("graph.json", "cluster.json", "placement.json", "cepsim.json")
    made = Job(*(folder / name for name in names))
    made.graph.write_text(json.dumps(GRAPH))
    made.cluster.write_text(json.dumps(CLUSTER))
    made.cepsim.write_text(json.dumps(cepsim))
    spread = ["--placer", "round-robin", "-o", str(made.placement)]
    assert main(["place", str(made.graph), *spread]) == 0
    return made
