"""Simulation and measurement of the makespan of any graph and placement."""

from pathlib import Path

import numpy as np

from benchmarks.testbed.passes.executors import Executors
from benchmarks.testbed.passes.measuring import makespans
from benchmarks.testbed.passes.overheads import calibrate
from benchmarks.testbed.passes.problems import predicted
from benchmarks.testbed.passes.scaling import scale_pass
from streamplace import read_cluster, read_graph, read_placement


def run(graph: Path, placement: Path, cluster: Path | None, repeats: int) -> None:
    """Print the simulated and the measured makespan of a placement."""
    placed = read_placement(
        placement,
        graph=read_graph(graph),
        cluster=None if cluster is None else read_cluster(cluster),
    )
    scaled = scale_pass(placed.problem)
    print(f"{placed.problem!r}\none second runs as {scaled.factor:.4g} s")
    with Executors(placed.problem.cluster.network.kind, scaled.shares, scaled.mbps) as executors:
        overheads = calibrate(executors)
        print(overheads)
        passes = makespans(executors, scaled, [placed.devices], repeats)[0]
    expected = float(predicted(scaled.problem(overheads), placed.devices[None])[0])
    print(f"simulated       {expected:.4f} s")
    shown = ", ".join(f"{seconds:.4f}" for seconds in passes)
    print(f"measured        {np.median(passes):.4f} s (passes: {shown})")
