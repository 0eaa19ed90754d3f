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
        found = compare(emulator, scaled, placed.devices, arguments.warm_up, arguments.seconds)
    print(f"limited by      {found.limit}")
    print(f"closed form     {found.closed:.3f} of the source rate")
    print(f"engine          {found.engine:.3f}")
    first, second = found.halves
    print(f"measured        {found.measured:.3f} (halves: {first:.3f} {second:.3f})")
    cells = zip(problem.cluster.names, found.devices, strict=True)
    print("CPU used        " + ", ".join(f"{name} {used:.0%}" for name, used in cells))
    busy = {
        "->".join(end or "" for end in problem.cluster.link_ends(link)): used
        for link, used in enumerate(found.links)
        if used > 0
    }
    print("links used      " + ", ".join(f"{name} {used:.0%}" for name, used in busy.items()))
    return 0
