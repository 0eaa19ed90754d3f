"""Simulation and measurement of any graph and placement."""

import argparse

from benchmarks.testbed.comparing import compare
from benchmarks.testbed.emulator import Emulator
from benchmarks.testbed.scaling import Machine, scale
from benchmarks.testbed.tables import calibrated_machine
from streamplace import read_cluster, read_graph, read_placement


def run(arguments: argparse.Namespace) -> int:
    """Print the simulated and the measured throughput, and utilisations."""
    cluster = None if arguments.cluster is None else read_cluster(arguments.cluster)
    placed = read_placement(
        arguments.placement,
        graph=read_graph(arguments.graph),
        cluster=cluster,
        source_rate=arguments.source_rate,
    )
    problem = placed.problem
    scaled = scale(problem, calibrated_machine(Machine()))
    print(f"{problem!r}\nruns as {scaled.problem!r}")
    with Emulator(problem.cluster.network.kind, scaled.shares, scaled.mbps) as emulator:
        result = compare(emulator, scaled, placed.devices, arguments.warm_up, arguments.seconds)
    print(f"limited by      {result.limit}")
    print(f"closed form     {result.closed:.3f} of the source rate")
    print(f"engine          {result.engine:.3f}")
    first, second = result.halves
    print(f"measured        {result.measured:.3f} (halves: {first:.3f} {second:.3f})")
    cells = zip(problem.cluster.names, result.devices, strict=True)
    print("CPU used        " + ", ".join(f"{name} {used:.0%}" for name, used in cells))
    busy = {
        "->".join(end or "" for end in problem.cluster.link_ends(link)): used
        for link, used in enumerate(result.links)
        if used > 0
    }
    print("links used      " + ", ".join(f"{name} {used:.0%}" for name, used in busy.items()))
    return 0
