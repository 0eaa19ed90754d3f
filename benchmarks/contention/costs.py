"""How far measured costs of operators are from the true ones, which the jobs state."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import streamplace as sp
from benchmarks.contention.jobs import SpinningJob
from streamplace.util.arrays import Floats

CPU, BUSY = "graph.json", "busy.json"
"""Graphs with costs by CPU times and by busy times, in the folder of a job."""
MEASURED = {"CPU times": CPU, "busy times": BUSY}


def shares(job: SpinningJob, file: Path) -> Floats:
    """Return measured over true costs of the operators, (V,), relative to those of the whole job.

    Placements depend on the costs' relations alone, so a common factor does not matter.
    """
    graph = sp.read_graph(file)
    found = {
        name.partition("[")[0]: cost
        for name, cost in zip(graph.names, graph.instructions.tolist(), strict=True)
    }
    true = np.array([each.instructions for each in job.operators])
    measured = np.array([found[each.name] for each in job.operators])
    arriving = np.array([job.arriving[each.name] for each in job.operators])
    whole = (measured @ arriving) / (true @ arriving)
    ratios: Floats = measured / true / whole
    return ratios


def table(jobs: Sequence[SpinningJob], folder: Path) -> list[str]:
    """Return the lines of a table of jobs, whose graphs `placing` has written into a folder."""
    lines = [f"| job | {' | '.join(MEASURED)} |", "| --- | ---: | ---: |"]
    for job in jobs:
        cells = []
        for file in MEASURED.values():
            ratios = shares(job, job.folder(folder) / file)
            cells.append(f"{ratios.min():.2f} to {ratios.max():.2f}")
        lines.append(f"| {job.name} | {' | '.join(cells)} |")
    return lines
