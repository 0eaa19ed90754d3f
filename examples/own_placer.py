"""A custom placer; also usable as `streamplace place … --placer own_placer:InOrder:share=0.9`."""

from dataclasses import dataclass

import numpy as np

import streamplace as sp
from streamplace.placers.repair import feasible
from streamplace.scoring.flow import flow


@dataclass
class InOrder:
    """Fill devices one by one in the order of the streams, each up to its share of the work."""

    share: float = 1.0

    def __call__(self, problem: sp.Problem, rng: object, start: object = None) -> sp.Placement:
        order, work = problem.graph.order, flow(problem).work
        ends = np.cumsum(problem.cluster.capacity) / problem.cluster.capacity.sum() * self.share
        devices = np.empty(len(order), dtype=np.int32)
        devices[order] = np.searchsorted(ends[:-1], np.cumsum(work[order]) / work.sum())
        return feasible(problem, devices)  # repairs violated constraints


if __name__ == "__main__":
    graphs = [sp.Recipe("series-parallel", 50).graph(number) for number in range(50)]
    placers = {"in order": InOrder(), "at 0.9": InOrder(0.9), "round-robin": "round-robin"}
    for row in sp.compare(graphs, placers, jobs=1).rows:
        print(f"{row.placer:12} {row.mean:.3f}")
