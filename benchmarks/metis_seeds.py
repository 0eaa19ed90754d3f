"""METIS's k-way partitioning with many seeds, and recursive bisection, on DREAM's graphs.

    python -m benchmarks.metis_seeds [DATASET] [--graphs 200] [--seeds 100]

Graphs of the preset ``dream``, or of a dataset, on five equal devices, with the weights of the
placer `metis`.
METIS 5 coarsens for a k-way partition only while a graph has more than max(N / (40 log2 k), 30 k)
vertices; smaller graphs are partitioned as they are.
"""

import argparse
import sys
from typing import NamedTuple

import numpy as np
import pymetis

import streamplace as sp
from benchmarks.exit_codes import exit_code
from streamplace.placers.partition.metis import units_by_instructions
from streamplace.placers.partition.partitioner import devices_of_parts, parts_for
from streamplace.scoring.flow import flow
from streamplace.scoring.throughput import throughput
from streamplace.util.effect import mean_intervals

RATE = 1e4


class Cuts(NamedTuple):
    """What METIS does with one graph: numbers of different partitions, cuts and throughputs."""

    operators: int
    different: tuple[int, int]  # partitions that all seeds give, k-way and recursive
    kbit: tuple[float, float]  # mean cut per source tuple
    reached: tuple[float, float]  # mean relative throughput


def measured(graph: sp.StreamGraph, seeds: int) -> Cuts:
    """Return the partitions of a graph with all seeds."""
    problem = sp.Problem(graph, source_rate=RATE, model="bottleneck")
    units, edges = units_by_instructions(problem)
    different, kbit, reached = [], [], []
    for recursive in (False, True):
        rows, cuts = [], []
        for seed in range(seeds):
            cut, part_of = pymetis.part_graph(
                parts_for(problem, None),
                pymetis.CSRAdjacency(edges.starts, edges.neighbours),
                vweights=edges.vertex_weights,
                eweights=edges.edge_weights,
                recursive=recursive,
                options=pymetis.Options(seed=seed),
            )
            part = units.expand(np.asarray(part_of)).astype(np.int32)
            rows.append(devices_of_parts(problem, part, flow(problem).work))
            cuts.append(cut)
        unique = np.unique(np.stack(rows), axis=0)
        different.append(len(unique))
        kbit.append(float(np.mean(cuts)))
        shares = throughput(problem, np.stack(rows).astype(np.int32)) / problem.source_rate
        reached.append(float(shares.mean()))
    return Cuts(
        len(graph.names),
        (different[0], different[1]),
        (kbit[0], kbit[1]),
        (reached[0], reached[1]),
    )


def main() -> None:
    """Print how often all seeds agree, and cuts and throughputs with paired intervals."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dataset", nargs="?", help="graphs, instead of the preset's")
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=100)
    options = parser.parse_args()
    recipe = sp.Recipe("dream", options.graphs, seed=5)
    graphs = [recipe.graph(i) for i in range(options.graphs)]
    if options.dataset:
        graphs = sp.read_dataset(options.dataset)
    found = [measured(graph, options.seeds) for graph in graphs]
    smallest, largest = min(each.operators for each in found), max(each.operators for each in found)
    print(
        f"{len(found)} graphs of {smallest} to {largest} operators, seeds 0 to {options.seeds - 1}"
    )
    for i, name in enumerate(("k-way", "recursive")):
        same = np.mean([each.different[i] == 1 for each in found])
        most = max(each.different[i] for each in found)
        print(f"{name}: all seeds give one partition on {same:.1%} (at most {most} partitions)")
    cuts = np.array([each.kbit for each in found])
    reached = np.array([each.reached for each in found])
    rows = {
        "cut, recursive / k-way": cuts[:, 1] / np.maximum(cuts[:, 0], 1.0),
        "relative throughput, k-way": reached[:, 0],
        "relative throughput, recursive": reached[:, 1],
        "difference": reached[:, 1] - reached[:, 0],
    }
    for (name, values), (low, high) in zip(
        rows.items(), mean_intervals(np.stack(list(rows.values()))), strict=True
    ):
        print(
            f"{name}: mean {values.mean():.3f} ({low:.3f} to {high:.3f}), lowest {values.min():.3f}"
        )


if __name__ == "__main__":
    sys.exit(exit_code(main, name="metis_seeds"))
